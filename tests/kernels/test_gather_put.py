"""The gather, put and nonzero families against NumPy."""

import index_harness as h
import numpy as np
import pytest

RNG = np.random.default_rng(1)


@pytest.fixture
def bench(device, need):
    need(compiler=True)
    return h.Bench(device.runtime)


def steps(array, *axes):
    return [array.strides[a] // array.itemsize for a in axes]


@pytest.mark.parametrize("code", ["b8", "f16", "f32", "i64", "c64"])
def test_embedding(bench, code):
    """Rows by index: the index does not change along the last coordinate."""
    table = (RNG.standard_normal((7, 12)) if code == "f32" else RNG.integers(0, 2, (7, 12))).astype(h.CODES[code])
    rows = RNG.integers(-7, 7, (5, 3))
    for access in ("k", "s") if code == "f32" else ("k",):
        y = np.zeros((5, 3, 12), table.dtype)
        index = np.broadcast_to(rows[:, :, None], y.shape)
        cell = h.gather(bench, y, table[0], [index], [7], steps(table, 0), access)
        np.testing.assert_array_equal(y, table[rows])
        assert not cell.any()


def test_take_along_and_two_indices(bench):
    x = RNG.standard_normal((6, 9)).astype(np.float32)
    at = RNG.integers(0, 9, (6, 4)).astype(np.int32)
    y = np.zeros((6, 4), np.float32)
    h.gather(bench, y, x[:, :1], [at], [9], steps(x, 1))
    np.testing.assert_array_equal(y, np.take_along_axis(x, at, 1))
    i, j = RNG.integers(-6, 6, (4, 1)), RNG.integers(-9, 9, 5)
    wide = np.zeros((5, 4), np.float32).T
    h.gather(bench, wide, x[:1, :1], [np.broadcast_to(i, (4, 5)), np.broadcast_to(j, (4, 5))], [6, 9], steps(x, 0, 1))
    np.testing.assert_array_equal(wide, x[i, j])


def test_gather_with_a_body_and_one_coordinate(bench):
    x, at = RNG.standard_normal(9).astype(np.float32), np.array([3, -1, 0])
    y = np.zeros(3, np.float32)
    h.gather(bench, y, x[:1], [at], [9], [1], body="y0 = x0 * 2.0f;")
    np.testing.assert_array_equal(y, 2 * x[at])
    h.gather(bench, y, x[:1], [np.broadcast_to(at[:1], (3,))], [9], [1], "b")
    np.testing.assert_array_equal(y, x[[3, 3, 3]])


@pytest.mark.parametrize("access", ["s", "k"])
def test_bad_index_is_reported(bench, access):
    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.zeros((2, 5, 3), np.float32)
    rows = np.zeros((2, 5), np.int64)
    rows[1, 2] = 4
    index = np.broadcast_to(rows[..., None], y.shape)
    cell = h.gather(bench, y, x[0], [index], [4], [3], access)
    assert cell[0] == 7 and cell[1] // 3 == 7 and cell[2] == 4
    rows[1, 2] = -5
    target = np.zeros((4, 3), np.float32)
    spread = np.broadcast_to(target[0], y.shape)
    for deterministic in (False, True):
        cell = h.put(bench, spread, np.ones_like(y), [index], [4], [3], "add", deterministic, access)
        assert cell[0] == 7 and cell[1] // 3 == 7 and cell[2] == -5
    np.testing.assert_array_equal(target, [[18.0] * 3, *[[0.0] * 3] * 3])


@pytest.mark.parametrize(
    "code, deterministic",
    [(code, False) for code in ("u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64")]
    + [(code, True) for code in ("i16", "f16", "f32", "c128")],
)
def test_duplicates_add_up(bench, need, code, deterministic):
    need(*[c for c in (code,) if c in ("f64", "c128")])
    target = np.zeros((6, 5), h.CODES[code])
    rows = RNG.integers(-6, 6, 90)
    values = RNG.integers(0, 2, (90, 5)).astype(target.dtype)
    wanted = np.zeros((6, 5), np.complex128 if code[0] == "c" else np.float64)
    np.add.at(wanted, rows, values.astype(wanted.dtype))
    for access in ("s", "k") if code == "f32" else ("k",):
        target[...] = 0
        index = np.broadcast_to(rows[:, None], values.shape)
        spread, owners = np.broadcast_to(target[0], values.shape), 3 * deterministic
        h.put(bench, spread, values, [index], [6], [5], "add", deterministic, access, owners)
        np.testing.assert_array_equal(target.astype(wanted.dtype), wanted)


@pytest.mark.parametrize("code", ["i64", "f32", "f64"])
def test_duplicates_without_wide_or_float_atomics(bench, need, code):
    need(code)
    bench.caps = bench.caps.masked("no_int64_atomics,no_float_atomics,local_mem=4K,max_workgroup=64")
    target, at = np.zeros(7, h.CODES[code]), RNG.integers(0, 7, 200)
    h.put(bench, np.broadcast_to(target[:1], at.shape), np.ones(200, h.CODES[code]), [at], [7], [1], "add")
    np.testing.assert_array_equal(target, np.bincount(at, minlength=7))


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("accumulate, code", [("mul", "i8"), ("mul", "f32"), ("max", "f16"), ("min", "i64")])
def test_other_accumulations(bench, accumulate, code, deterministic):
    target = np.array([2, 1, 2, 1], h.CODES[code])
    at, values = np.array([0, 1, 0, 3, 0]), np.array([1, 2, 3, 0, 2], h.CODES[code])
    wanted = target.copy()
    {"mul": np.multiply, "max": np.maximum, "min": np.minimum}[accumulate].at(wanted, at, values)
    h.put(bench, np.broadcast_to(target[:1], at.shape), values, [at], [4], [1], accumulate, deterministic)
    np.testing.assert_array_equal(target, wanted)


def test_last_value_stays_when_deterministic(bench):
    target, at = np.zeros(50, np.float32), RNG.integers(0, 50, 400)
    values = np.arange(400, dtype=np.float32)
    wanted = target.copy()
    for place, value in zip(at, values, strict=True):
        wanted[place] = value
    for owners in (1, 2, 7):
        target[:] = 0
        h.put(bench, np.broadcast_to(target[:1], at.shape), values, [at], [50], [1], "none", True, owners=owners)
        np.testing.assert_array_equal(target, wanted)


def test_sums_do_not_depend_on_the_owners(bench):
    at, values = RNG.integers(0, 3, (500, 1)), RNG.standard_normal((500, 40)).astype(np.float32)
    wanted = np.zeros((3, 40), np.float32)
    np.add.at(wanted, at[:, 0], values)
    for owners in (1, 2, 5):
        target = np.zeros((3, 40), np.float32)
        index = np.broadcast_to(at, values.shape)
        h.put(bench, np.broadcast_to(target[0], values.shape), values, [index], [3], [40], "add", True, "k", owners)
        np.testing.assert_array_equal(target, wanted)


@pytest.mark.parametrize("deterministic", [False, True])
def test_put_without_duplicates_into_a_view(bench, deterministic):
    base = np.full((8, 10), -1, np.float32)
    target, at = base[1::2, 2:], np.stack([RNG.permutation(8)[:5] for _ in range(4)])
    values = RNG.standard_normal((4, 5)).astype(np.float32)
    wanted = base.copy()
    np.put_along_axis(wanted[1::2, 2:], at, values, 1)
    h.put(bench, np.broadcast_to(target[:, :1], at.shape), values, [at], [8], steps(target, 1), "none", deterministic)
    np.testing.assert_array_equal(base, wanted)


def test_put_converts_and_runs_a_body(bench):
    target, at = np.zeros(4, np.float16), np.array([1, 3])
    spread, values = np.broadcast_to(target[:1], (2,)), np.array([3, 5], np.int32)
    h.put(bench, spread, values, [at], [4], [1])
    np.testing.assert_array_equal(target, [0, 3, 0, 5])
    h.put(bench, spread, values, [at], [4], [1], "add", body="v0 = (f32)(x0 * 2);")
    np.testing.assert_array_equal(target, [0, 9, 0, 15])


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_nonzero(bench, shape):
    for mask in (RNG.integers(0, 2, shape) > 0, np.zeros(shape, bool), np.ones(shape, bool)):
        np.testing.assert_array_equal(h.nonzero(bench, mask), np.argwhere(mask))
