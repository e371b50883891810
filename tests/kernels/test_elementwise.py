"""The elementwise family on every lane, and every spec of specs.py against dialect C."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest
from cases import run_all
from runner import LANES, Program, available
from specs import ELEMENTWISE, flat, op

MORE = [
    flat("tx_add_c", [op("y0")], [op("x0"), op("x1")], "y0 = x0 + x1;", rank=3),
    flat("tx_half_up", [op("y0")], [op("x0", "f16")], "y0 = x0;"),
    flat("tx_half_down", [op("y0", "f16"), op("y1", "bf16")], [op("x0")], "y0 = x0; y1 = x0;"),
    flat("tx_to_int", [op("y0", "i32", compute="f32"), op("y1", "b8", compute="f32")], [op("x0")], "y0 = x0; y1 = x0;"),
]


@functools.cache
def program(lane):
    return Program(lane, ELEMENTWISE + MORE)


@pytest.fixture(params=list(LANES))
def lane(request):
    if not available(request.param):
        pytest.skip(f"capability: {request.param} is not here")
    return request.param


@pytest.mark.parametrize("n", [1, 3, 1023, 40000])
def test_flat(lane, n):
    run, rng = program(lane), np.random.default_rng(n)
    a, b = rng.standard_normal((2, n)).astype(np.float32)
    a, b, y = a.copy(), b.copy(), np.zeros(n + 8, np.float32)
    run("tx_add", y, 4, a, 0, b, 0, n, sizes=(n,))
    assert (y[4:-4] == a + b).all() and not y[:4].any() and not y[-4:].any()
    run("tx_add", a, 0, a, 0, b, 0, n, sizes=(n,))  # in place
    assert (a == y[4:-4]).all()
    fill = np.zeros(3 * n, np.float64)
    run("tx_fill_s", fill, 1, 0.1, n, 3, sizes=(n,))
    assert (fill[1::3] == 0.1).all() and not fill[::3].any()


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 7, 300), (70, 1, 9), (3, 65, 130)])
def test_ranks(lane, shape):
    """Padded, transposed and indexed operands."""
    run, rng = program(lane), np.random.default_rng(1)
    n0, n1, n2 = shape
    a, b, y = (
        rng.standard_normal((n0, n1, n2 + 3)).astype(np.float32),
        rng.standard_normal(shape).astype(np.float32),
        np.zeros(shape, np.float32),
    )
    run(
        "tx_add_c",
        y.ravel(),
        0,
        a.ravel(),
        2,
        b.ravel(),
        0,
        *shape,
        n1 * n2,
        n2,
        n1 * (n2 + 3),
        n2 + 3,
        n1 * n2,
        n2,
        sizes=shape,
    )
    assert (y == a[..., 2:-1] + b).all()
    x, t, y = (
        rng.standard_normal((n1, n2)).astype(np.float32),
        rng.standard_normal((n2, n1)).astype(np.float32),
        np.zeros((n1, n2), np.float32),
    )
    run("tx_add_2s", y.ravel(), 0, x.ravel(), 0, t.ravel(), 0, n1, n2, n2, n2, 1, n1, sizes=(n1, n2))
    assert (y == x + t.T).all()
    k, out = rng.integers(-9, 9, shape).astype(np.int32), np.zeros(shape, np.int64)
    run("tx_index_3c", out.ravel(), 0, k.ravel(), 0, *shape, n1 * n2, n2, n1 * n2, n2, sizes=shape)
    assert (out == np.arange(k.size).reshape(shape) + k).all()


def test_half_conversions(lane):
    """Every binary16 value up; ties, subnormals, overflow and NaN down, in binary16 and bfloat16."""
    run, h = program(lane), np.arange(65536, dtype=np.uint16)
    up, want = np.zeros(65536, np.float32), h.view(np.float16).astype(np.float32)
    run("tx_half_up", up, 0, h, 0, 65536, sizes=(65536,))
    nan = np.isnan(want)
    assert (np.isnan(up) == nan).all() and (up[~nan].view(np.uint32) == want[~nan].view(np.uint32)).all()
    v = want[np.isfinite(want)]
    ties = (v[:-1] + v[1:]) / 2
    rng = np.random.default_rng(0)
    anything = rng.integers(0, 2**32, 30000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    corners = np.float32([65504, 65519.99, 65520, 1e9, -np.inf, np.nan])
    x = np.concatenate([v, ties, np.nextafter(ties, np.float32(9e9)), corners, anything])
    with np.errstate(all="ignore"):
        half, brain = x.astype(np.float16), x.astype(ml_dtypes.bfloat16)
    got16, gotb, nan = np.zeros(x.size, np.uint16), np.zeros(x.size, np.uint16), np.isnan(x)
    run("tx_half_down", got16, 0, gotb, 0, x, 0, x.size, sizes=(x.size,))
    assert (got16[~nan] == half.view(np.uint16)[~nan]).all() and np.isnan(got16[nan].view(np.float16)).all()
    normal = ~nan & ((np.abs(x) >= 1.2e-38) | (x == 0))  # devices may flush f32 subnormals
    assert (gotb[normal] == brain.view(np.uint16)[normal]).all()
    assert np.isnan(gotb[nan].view(ml_dtypes.bfloat16).astype(np.float32)).all()


def test_stores_cast(lane):
    x = np.float32([0.5, -1.9, 0, 3e9, np.nan, -7])
    whole, truth = np.zeros(6, np.int32), np.zeros(6, np.uint8)
    program(lane)("tx_to_int", whole, 0, truth, 0, x, 0, 6, sizes=(6,))
    assert whole.tolist() == [0, -1, 0, -(2**31), -(2**31), -7] and truth.tolist() == [1, 1, 0, 1, 1, 1]


@functools.cache
def reference():
    return run_all("c", None)


def test_every_spec_agrees_with_dialect_c(lane):
    if not available("c"):
        pytest.skip("capability: no gcc to compare with")
    for entry, outputs in run_all(lane, None).items():
        for got, want in zip(outputs, reference()[entry], strict=True):
            tolerance = 2e-3 if got.dtype == np.float16 else 2e-5
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=f"{lane}: {entry}")
