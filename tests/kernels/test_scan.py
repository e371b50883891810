"""The scan family against NumPy: operations, directions, layouts, stages, special values."""

import index_harness as h
import numpy as np
import pytest

RNG = np.random.default_rng(0)


@pytest.fixture
def bench(device, need):
    need(compiler=True)
    return h.Bench(device.runtime)


def expected(op, x, reverse=False):
    """Value and index of the running extremum: NaN sticks, the last of equals is named."""
    x = x[..., ::-1] if reverse else x
    best, where = x.copy(), np.zeros(x.shape, np.int64)
    for j in range(1, x.shape[-1]):
        old, new = best[..., j - 1], x[..., j]
        with np.errstate(invalid="ignore"):
            better = new >= old if op == "max" else new <= old
        take = np.isnan(new) | (~np.isnan(old) & better)
        best[..., j], where[..., j] = np.where(take, new, old), np.where(take, j, where[..., j - 1])
    if reverse:
        return best[..., ::-1], x.shape[-1] - 1 - where[..., ::-1]
    return best, where


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "stepped", "expanded"])
def test_sum_of_every_layout(bench, layout, reverse):
    x = RNG.standard_normal((3, 18, 600)).astype(np.float32)
    expanded = np.broadcast_to(x[:, :, :1], x.shape)
    x = {"contiguous": x[:, 1:], "transposed": x.T, "stepped": x[:, ::2, ::3], "expanded": expanded}[layout]
    turned = x[..., ::-1] if reverse else x
    wanted = np.cumsum(turned, axis=-1, dtype=np.float64)
    wanted = wanted[..., ::-1] if reverse else wanted
    # Stages change nothing in how an access class is addressed: one layout (for each direction) shows them.
    for chunk in (0, 100) if layout == "transposed" else (0,):
        y, _ = h.scan(bench, "sum", x, "f32", reverse=reverse, chunk=chunk, kept_dense=layout == "transposed")
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "dtype, acc", [("b8", "i64"), ("i8", "i64"), ("u8", "i64"), ("f16", "f32"), ("bf16", "f32"), ("f64", "f64")]
)
def test_product_and_sum_of_dtypes(bench, need, dtype, acc):
    need(acc)
    x = (RNG.integers(0, 3, (4, 37)) if dtype[0] in "bui" else RNG.uniform(0.8, 1.2, (4, 37))).astype(h.CODES[dtype])
    wide = h.CODES[acc]
    for op, function in (("sum", np.cumsum), ("prod", np.cumprod)):
        y, _ = h.scan(bench, op, x, acc)
        np.testing.assert_allclose(y, function(x.astype(wide), axis=-1), rtol=1e-5)


@pytest.mark.parametrize("op", ["sum", "prod"])
def test_complex(bench, op):
    x = (RNG.standard_normal((2, 50)) + 1j * RNG.standard_normal((2, 50))).astype(np.complex64)
    x /= np.abs(x)
    for chunk in (0, 16) if op == "prod" else (0,):
        y, _ = h.scan(bench, op, x, "c64", chunk=chunk)
        np.testing.assert_allclose(y, {"sum": np.cumsum, "prod": np.cumprod}[op](x, axis=-1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op, reverse, chunk", [("max", False, 0), ("max", True, 16), ("min", True, 0)])
def test_extrema_with_ties_nan_and_infinities(bench, op, reverse, chunk):
    x = RNG.integers(-4, 5, (5, 3, 70)).astype(np.float32)
    x[0, 0, 40], x[1, :, 0], x[2] = np.nan, np.nan, (-np.inf if op == "max" else np.inf)
    x[3, 1, 17], x[3, 1, 30] = np.inf, -np.inf
    for dense in (False, True) if op == "max" else (False,):
        view = x if not dense else np.moveaxis(x.transpose(0, 2, 1).copy(), 1, 2)
        y, k = h.scan(bench, op, view, "f32", reverse=reverse, chunk=chunk, kept_dense=dense)
        value, where = expected(op, x, reverse)
        np.testing.assert_array_equal(y, value)
        np.testing.assert_array_equal(k, where)


@pytest.mark.parametrize("code", ["b8", "u8", "i32", "i64"])
def test_integer_extremes(bench, code):
    kind = h.CODES[code]
    low, high = (0, 1) if code == "b8" else (np.iinfo(kind).min, np.iinfo(kind).max)
    x = np.array([[low, low, high, low], [high, low, low, high]]).astype(kind)
    for op in ("max", "min"):
        y, k = h.scan(bench, op, x, code)
        value, where = expected(op, x)
        np.testing.assert_array_equal(y, value)
        np.testing.assert_array_equal(k, where)


def test_body_and_empty(bench):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y, _ = h.scan(bench, "sum", x, "f32", body="v0 = x0 * x0;")
    np.testing.assert_array_equal(y, np.cumsum(x * x, axis=1))
    assert h.scan(bench, "sum", np.zeros((2, 0), np.float32), "f32")[0].shape == (2, 0)
    assert h.scan(bench, "sum", np.zeros((0, 3), np.float32), "f32")[0].shape == (0, 3)


def test_on_a_weak_device(bench):
    bench.caps = bench.caps.masked("local_mem=4K,max_workgroup=4")
    x = RNG.integers(0, 9, (11, 100)).astype(np.float32)
    for chunk in (0, 30):
        np.testing.assert_array_equal(h.scan(bench, "sum", x, "f32", chunk=chunk)[0], np.cumsum(x, axis=1))


def test_integer_sum_wraps(bench):
    x = np.array([2**63 - 1, 1, 5], np.int64)
    y, _ = h.scan(bench, "sum", x, "i64")
    np.testing.assert_array_equal(y, np.array([2**63 - 1, -(2**63), -(2**63) + 5], np.int64))


def test_long_sum_of_ones_is_exact(bench, need):
    """A plain f32 running sum stops at 2**24."""
    need(long_loops=True)  # a row of 16 million elements is one work-item's here
    n = 2**24 + 4096
    x = np.broadcast_to(np.ones(1, np.float32), (n,))
    for chunk in (0, n // 3):
        y, _ = h.scan(bench, "sum", x, "f32", chunk=chunk)
        assert y[-1] == n and y[-4096] == n - 4095 - (n - 4095) % 2
