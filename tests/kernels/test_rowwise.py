"""The rowwise family on every lane: softmax, a norm with weights and row outputs, an index stage."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from runner import LANES, Program, available

from tensorx.kernels.spec import KernelSpec, Operand

SOFTMAX = (("max", "a0", "v0 = x0;", "f32"), ("sum", "a1", "v0 = tx_exp_f32(x0 - a0);", "f32"))
MOMENTS = (("sum", "a0", "v0 = x0;", "f32"), ("sum", "a1", "f32 d = x0 - a0 / (f32)count; v0 = d * d;", "f32"))


def softmax(name, access, dtype="f32", index="i32"):
    y, x = Operand("y0", dtype, "f32", access), Operand("x0", dtype, "f32", access)
    params = (("kept", 1), ("stages", SOFTMAX), ("row_body", ""))
    return KernelSpec("rowwise", name, (y,), (x,), body="y0 = tx_exp_f32(x0 - a0) / a1;", index=index, params=params)


def norm():
    """Layer norm: weight along the row, bias one for all, eps a scalar; mean and largest value's place per row."""
    outs = (Operand("y0", "f32", "f32", "c"), Operand("y1", "f32", "f32", "row"), Operand("y2", "i64", "i64", "row"))
    ins = (
        Operand("x0", "f32", "f32", "c"),
        Operand("x1", "f32", "f32", "s"),
        Operand("x2", "f32", "f32", "b"),
        Operand("x3", "f32", "f32", "row"),
    )
    body = "f32 n = (f32)count; y0 = (x0 - a0 / n) / tx_sqrt_f32(a1 / n + s0) * x1 + x2 + x3;"
    stages = (*MOMENTS, ("argmax", "a2", "v0 = x0;", "f32"))
    params = (("kept", 2), ("stages", stages), ("row_body", "y1 = a0 / (f32)count; y2 = a2;"))
    return KernelSpec("rowwise", "tx_norm", outs, ins, (("s0", "f32"),), body, "i64", params=params)


def moments():
    """Rows side by side, two kept axes."""
    outs = (Operand("y0", "f32", "f32", "k"), Operand("y1", "f32", "f32", "row"), Operand("y2", "i64", "i64", "row"))
    ins = (Operand("x0", "f32", "f32", "k"), Operand("x1", "f32", "f32", "row"))
    stages = (("sum", "a0", "v0 = x0;", "f32"), ("argmin", "a1", "v0 = x0 - a0;", "f32"))
    params = (("kept", 2), ("stages", stages), ("row_body", "y1 = a0 / (f32)count; y2 = a1;"))
    body = "y0 = x0 - a0 / (f32)count + x1;"
    return KernelSpec("rowwise", "tx_moments", outs, ins, (), body, "i32", params=params)


def pick(name, access):
    """The element at the place that each row names, and each place times two where it is another."""
    outs = (Operand("y0", "f32", "f32", access), Operand("y1", "f32", "f32", "row"))
    ins = (Operand("x0", "f32", "f32", access), Operand("x1", "i64", "i64", "row"))
    stages = (("sum", "a0", "v0 = place == x1 ? x0 : 0.0f;", "f32"),)
    params = (("kept", 1), ("stages", stages), ("row_body", "y1 = a0;"))
    return KernelSpec("rowwise", name, outs, ins, body="y0 = place == x1 ? 0.0f : (f32)place * 2.0f;", params=params)


@functools.cache
def program(lane):
    specs = [
        softmax("tx_softmax_c", "c"),
        softmax("tx_softmax_s", "s", index="i64"),
        softmax("tx_softmax_h", "c", "f16"),
        softmax("tx_softmax_k", "k"),
        norm(),
        moments(),
        pick("tx_pick_c", "c"),
        pick("tx_pick_s", "s"),
        pick("tx_pick_k", "k"),
    ]
    return Program(lane, specs)


@pytest.fixture(params=list(LANES))
def lane(request):
    if not available(request.param):
        pytest.skip(f"capability: {request.param} is not here")
    return request.param


def oracle(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("rows, length", [(1, 1), (3, 10), (5, 67), (300, 16), (2, 5003)])
def test_softmax(lane, rows, length):
    run, rng = program(lane), np.random.default_rng(length)
    x = (3 * rng.standard_normal((rows, length))).astype(np.float32)
    want = oracle(x)
    y = np.zeros_like(x)
    run("tx_softmax_c", y.ravel(), 0, x.ravel(), 0, rows, length, length, length, sizes=(rows, length))
    np.testing.assert_allclose(y, want, rtol=3e-6)
    turned, out = np.ascontiguousarray(x.T), np.zeros((length, rows), np.float32)
    run("tx_softmax_s", out.ravel(), 0, turned.ravel(), 0, rows, length, 1, rows, 1, rows, sizes=(rows, length))
    np.testing.assert_allclose(out.T, want, rtol=3e-6)
    if rows > 1:
        out = np.zeros((length, rows), np.float32)
        run("tx_softmax_k", out.ravel(), 0, turned.ravel(), 0, rows, length, 1, rows, 1, rows, sizes=(rows, length))
        np.testing.assert_allclose(out.T, want, rtol=3e-6)
    half, out = x.astype(np.float16), np.zeros(x.shape, np.float16)
    bits = [v.view(np.uint16).ravel() for v in (out, half)]
    bits = [np.array(b) for b in bits]
    run("tx_softmax_h", bits[0], 0, bits[1], 0, rows, length, length, length, sizes=(rows, length))
    np.testing.assert_allclose(bits[0].view(np.float16).reshape(x.shape), oracle(half), rtol=1e-3, atol=1e-6)


def test_special_rows(lane):
    """Rows of -inf, with NaN and with inf are NaN, as in PyTorch; an empty row writes nothing."""
    run = program(lane)
    x = np.zeros((3, 70), np.float32)
    x[0], x[1, 5], x[2, 3] = -np.inf, np.nan, np.inf
    y = np.zeros_like(x)
    run("tx_softmax_c", y.ravel(), 0, x.ravel(), 0, 3, 70, 70, 70, sizes=(3, 70))
    assert np.isnan(y).all()  # inf - inf in the row with inf, and so in its sum
    run("tx_softmax_c", y.ravel(), 0, x.ravel(), 0, 3, 0, 70, 70, sizes=(3, 0))


def test_moments_across_rows(lane):
    """Channels first: means and places of (2, 70, 5) over axis 1, with a per-row operand."""
    run, rng = program(lane), np.random.default_rng(6)
    x, r = rng.standard_normal((2, 70, 5)).astype(np.float32), rng.standard_normal((2, 5)).astype(np.float32)
    y, mean, place = np.zeros_like(x), np.zeros((2, 5), np.float32), np.zeros((2, 5), np.int64)
    arrays = [a for v in (y, mean, place, x, r) for a in (v.ravel(), 0)]
    run("tx_moments", *arrays, 2, 5, 70, 350, 1, 5, 5, 1, 5, 1, 350, 1, 5, 5, 1, sizes=(2, 5, 70))
    np.testing.assert_allclose(mean, x.mean(1), atol=1e-6)
    np.testing.assert_allclose(y, x - x.mean(1, keepdims=True) + r[:, None], atol=1e-6)
    assert (place == x.argmin(1)).all()


def test_norm(lane):
    run, rng = program(lane), np.random.default_rng(3)
    x = (5 + rng.standard_normal((2, 3, 130))).astype(np.float32)
    w, b, r = (
        rng.standard_normal(130).astype(np.float32),
        np.float32([0.25]),
        rng.standard_normal((2, 3)).astype(np.float32),
    )
    y, mean, place = np.zeros_like(x), np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int64)
    arrays = [a for v in (y, mean, place, x, w, b, r) for a in (v.ravel(), 0)]
    steps = [390, 130, 3, 1, 3, 1, 390, 130, 0, 0, 1, 3, 1]
    run("tx_norm", *arrays, 1e-5, 2, 3, 130, *steps, sizes=(2, 3, 130))
    wide = x.astype(np.float64)
    m, v = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    np.testing.assert_allclose(y, (wide - m) / np.sqrt(v + 1e-5) * w + b + r[..., None], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, m[..., 0], rtol=1e-6)
    assert (place == x.argmax(-1)).all()


@pytest.mark.parametrize("access", ["c", "s", "k"])
@pytest.mark.parametrize("rows, length", [(1, 1), (3, 70), (200, 7), (2, 5003)])
def test_place_in_the_row(lane, access, rows, length):
    run, rng = program(lane), np.random.default_rng(length)
    x = rng.standard_normal((rows, length)).astype(np.float32)
    at = rng.integers(0, length, rows)
    picked = np.zeros(rows, np.float32)
    held = np.asfortranarray(x) if access == "k" else x
    result = np.zeros_like(held)
    steps = {"c": (length,), "s": (length, 1), "k": (1, rows)}[access]
    flat = [a.ravel("K") for a in (result, picked, held)]
    buffers = [x for a in (*flat, at) for x in (a, 0)]
    run(f"tx_pick_{access}", *buffers, rows, length, *steps, 1, *steps, 1, sizes=(rows, length))
    got = flat[0].reshape((rows, length), order="F" if access == "k" else "C")
    want = np.where(np.arange(length) == at[:, None], 0, np.arange(length) * 2.0)
    np.testing.assert_array_equal(got, want.astype(np.float32))
    np.testing.assert_array_equal(flat[1], x[np.arange(rows), at])
