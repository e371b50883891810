"""The sort and radix families against NumPy: stable, NaN last, any length, any layout."""

import index_harness as h
import numpy as np
import pytest

RNG = np.random.default_rng(2)
REAL = ["b8", "u8", "i8", "i16", "i32", "u64", "i64", "f16", "bf16", "f32", "f64"]  # the others differ in width alone


@pytest.fixture
def bench(device, need):
    need(compiler=True)
    return h.Bench(device.runtime)


def order(x, descending):
    """The stable order; the descending one puts NaN first and keeps equal keys in place."""
    keys = x.astype(np.float64) if x.dtype.kind not in "iub" else x.astype(object)
    if not descending:
        return np.argsort(keys, axis=-1, kind="stable")
    return x.shape[-1] - 1 - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def check(bench, x, descending=False, **more):
    """Both ways: by merging, and by counting bytes."""
    wanted = order(x, descending)
    wide = np.float64 if x.dtype.kind not in "iub" else x.dtype  # NumPy's comparison does not know bfloat16's NaN
    for keys, places in (h.sort(bench, x, descending, **more), h.radix(bench, x, descending)):
        np.testing.assert_array_equal(places, wanted)
        np.testing.assert_array_equal(keys.astype(wide), np.take_along_axis(x, wanted, -1).astype(wide))


@pytest.mark.parametrize("code", REAL)
def test_every_real_dtype(bench, need, code):
    need(*[c for c in (code,) if c == "f64"])
    kind = h.CODES[code]
    if code == "b8":
        x = RNG.integers(0, 2, (2, 70)).astype(bool)
    elif code[0] in "ui":
        info = np.iinfo(kind)
        x = RNG.integers(0, 9, (2, 70)).astype(kind)
        x[:, 60:62], x[:, 3] = info.min, info.max
    else:
        x = RNG.integers(-9, 9, (2, 70)).astype(kind)
        x[0, 5:40:7], x[1, 3], x[1, 50], x[1, 60] = np.nan, np.inf, -np.inf, -0.0
        x[0, 5] = np.copysign(x[0, 5], -1)
    check(bench, x)
    if code in ("b8", "i64", "f16", "f32"):
        check(bench, x, descending=True)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 48, 100, 257])
def test_every_length(bench, n):
    for chunk in (0, 4):
        check(bench, RNG.integers(0, 20, (3, n)).astype(np.float32), chunk=chunk)


@pytest.mark.parametrize("layout", ["transposed", "stepped", "expanded"])
def test_layouts(bench, layout):
    x = RNG.integers(0, 50, (4, 6, 90)).astype(np.float32)
    x = {"transposed": x.T, "stepped": x[1:, ::2, ::-2], "expanded": np.broadcast_to(x[:, :1], x.shape)}[layout]
    check(bench, x, index=np.int32)


def test_empty_rows_and_no_rows(bench):
    for shape in ((3, 0), (0, 20)):
        for keys, places in (h.sort(bench, np.zeros(shape, np.float32)), h.radix(bench, np.zeros(shape, np.float32))):
            assert keys.shape == places.shape == shape


def test_sorted_and_reversed_long_rows(bench):
    x = np.arange(5000, dtype=np.int32)
    for row in (x, x[::-1].copy(), RNG.permutation(x), np.zeros_like(x)):
        check(bench, row[None])


def test_on_a_weak_device(bench):
    bench.caps = bench.caps.masked("local_mem=4K,max_workgroup=4")
    check(bench, RNG.integers(0, 9, (2, 100)).astype(np.float32))
