"""Intrinsics whose corners C, OpenCL and CUDA leave open: one definition everywhere, PyTorch's where it has one.

``tests/data/torch_corners.json`` holds results that PyTorch gave: over all pairs of ``operands`` (row-major; null where
C leaves the result undefined), over ``rounding`` (float32) and for casts of ``cast_operands`` (float32).
"""

import functools
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from intrinsic_harness import BOOLEAN, TYPES, Intrinsics

SIGNED, UNSIGNED = ("i8", "i16", "i32", "i64"), ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("f32", "f64")
SOURCES = ("b8", "i8", "u16", "i64", "u64")
BINARY = ("floordiv", "truncdiv", "remainder", "fmod", "shl", "shr", "pow", "max", "min")
ROUNDING = ("sign", "round", "trunc", "floor", "ceil", *BOOLEAN)
TORCH = json.loads((Path(__file__).parents[1] / "data" / "torch_corners.json").read_text())


_built: dict[int, Intrinsics] = {}


def integer_calls(code: str, first: int) -> list:
    calls = [(f"tx_{name}_{code}", (first, first + 1), code) for name in BINARY]
    calls += [(f"tx_{name}_{code}", (first,), code) for name in ("abs", "sign")]
    return calls + [("tx_mulhi_u32", (first, first + 1), code)] * (code == "u32")


def kernels(fp64: bool) -> dict:
    """Every kernel of this file: pairs of integer types, floats, casts by source, bit casts, selections."""
    floats = FLOATS if fp64 else ("f32",)
    found: dict = {}
    for s, u in zip(SIGNED, UNSIGNED, strict=True):
        found[f"{s}_{u}"] = ((s, s, u, u), integer_calls(s, 0) + integer_calls(u, 2))
    names = [name for name in BINARY if name not in ("shl", "shr")]
    found["pairs"] = ([c for c in floats for _ in "ab"], [
        (f"tx_{name}_{code}", (2 * i, 2 * i + 1), code) for i, code in enumerate(floats) for name in names])
    found["rounding"] = (("f32",), [(f"tx_{name}_f32", (0,), "b8" if name in BOOLEAN else "f32") for name in ROUNDING])
    for entry, sources, targets in (("truncate", floats, INTEGERS), ("widen", SOURCES, (*INTEGERS, *floats))):
        casts = [(f"tx_cast_{s}_{t}", (i,), t) for i, s in enumerate(sources) for t in ("b8", *targets)]
        found[entry] = (sources, casts)
    found["bits"] = (("f32", "u32", "f64", "u64")[: 2 * len(floats)], [
        ("tx_bits_f32_u32", (0,), "u32"), ("tx_bits_u32_f32", (1,), "f32"),
        ("tx_bits_f64_u64", (2,), "u64"), ("tx_bits_u64_f64", (3,), "f64")][: 2 * len(floats)])  # fmt: skip
    chosen = ("b8", "u8", "i64", *floats)
    found["where"] = (("b8", *(c for c in chosen for _ in "ab")), [
        (f"tx_where_{c}", (0, 2 * i + 1, 2 * i + 2), c) for i, c in enumerate(chosen)])
    return found


@pytest.fixture
def run(device, need):
    need(compiler=True)
    runtime = device.runtime
    if id(runtime) not in _built:
        _built[id(runtime)] = Intrinsics(runtime, kernels(runtime.capabilities.fp64))
    return _built[id(runtime)]


def wrap(value: int, code: str) -> int:
    bits = int(code[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if code[0] == "i" and value >> (bits - 1) else value


def exact(name: str, a: int, b: int, code: str) -> int:
    """The definition, in Python's unbounded integers."""
    bits = int(code[1:])
    if name in ("max", "min"):
        return {"max": max, "min": min}[name](a, b)
    if name in ("shl", "shr"):
        outside = not 0 <= b < bits
        return (0 if outside else a << b) if name == "shl" else (-1 if a < 0 else 0) if outside else a >> b
    if name == "pow":
        return pow(a, b, 1 << bits) if b >= 0 else a ** (b & 1) if a in (1, -1) else 0
    if b == 0:
        return 0
    floor = a // b
    trunc = -(-a // b) if floor < 0 else floor
    return {"floordiv": floor, "truncdiv": trunc, "remainder": a - b * floor, "fmod": a - b * trunc}[name]


def operands(code: str) -> list[int]:
    """All values of 8 bits; the edges of wider types."""
    bits = int(code[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if code[0] == "i" else (0, (1 << bits) - 1)
    if bits == 8:
        return list(range(low, high + 1))
    near = (low, low + 1, low // 2, -100, -7, -2, -1, 0, 1, 2, 3, 7, 100, high // 2, high - 1, high)
    near += (bits - 1, bits, bits + 1)
    return sorted({value for value in near if low <= value <= high})


@functools.cache
def expected(name: str, code: str) -> list[int]:
    return [wrap(exact(name, x, y, code), code) for x, y in itertools.product(operands(code), repeat=2)]


def columns(pairs: list, code: str) -> tuple[np.ndarray, np.ndarray]:
    a, b = zip(*pairs, strict=True)
    return np.array(a, TYPES[code]), np.array(b, TYPES[code])


@pytest.mark.parametrize("signed, unsigned", list(zip(SIGNED, UNSIGNED, strict=True)))
def test_integers(run, signed, unsigned):
    """Division by zero gives 0, the most negative value over -1 wraps, shifts by the width give 0 or -1."""
    pairs = {code: list(itertools.product(operands(code), repeat=2)) for code in (signed, unsigned)}
    size = max(map(len, pairs.values()))
    pairs = {code: [*found, *found[:1] * (size - len(found))] for code, found in pairs.items()}
    results = run(f"{signed}_{unsigned}", *columns(pairs[signed], signed), *columns(pairs[unsigned], unsigned))
    for code in (signed, unsigned):
        for name in BINARY:
            wanted = expected(name, code)
            got = results[f"tx_{name}_{code}"].tolist()[: len(wanted)]
            wrong = [i for i, (g, w) in enumerate(zip(got, wanted, strict=True)) if g != w]
            assert not wrong, [f"{name}_{code}{pairs[code][i]} = {got[i]}, not {wanted[i]}" for i in wrong[:5]]
        assert results[f"tx_abs_{code}"].tolist() == [wrap(abs(x), code) for x, _ in pairs[code]]
        assert results[f"tx_sign_{code}"].tolist() == [(x > 0) - (x < 0) for x, _ in pairs[code]]
    if unsigned == "u32":
        assert results["tx_mulhi_u32"].tolist() == [x * y >> 32 for x, y in pairs["u32"]]


def test_definition_of_integers_is_pytorchs():
    """Beside the definition's own results, which the device lanes are compared with."""
    for code, values in TORCH["operands"].items():
        for name in BINARY if code not in FLOATS else ():
            for (x, y), wanted in zip(itertools.product(values, repeat=2), TORCH["binary"][name][code], strict=True):
                found = wanted if wanted is None else wrap(exact(name, x, y, code), code)
                assert found == wanted, f"{name}_{code}({x}, {y}) = {found}, PyTorch: {wanted}"


def test_pairs_of_floats_as_pytorch_has_them(run):
    floats = [code for code in FLOATS if f"tx_fmod_{code}" in {name for name, _, _ in run.calls["pairs"]}]
    pairs = {code: list(itertools.product(map(float, TORCH["operands"][code]), repeat=2)) for code in floats}
    results = run("pairs", *(column for code in floats for column in columns(pairs[code], code)))
    for name in results:
        _, op, code = name.split("_")
        torch = map(TYPES[code], TORCH["binary"][op][code])
        for pair, got, wanted in zip(pairs[code], results[name], torch, strict=True):
            assert same(op, got, wanted), f"{name}{pair} = {got}, PyTorch: {wanted}"


def same(name: str, got, wanted) -> bool:
    """Equal, NaN with NaN; powers may be rounded otherwise."""
    if np.isnan(got) or np.isnan(wanted):
        return bool(np.isnan(got) and np.isnan(wanted))
    if name == "pow" and np.isfinite(got) and np.isfinite(wanted):
        return bool(abs(got - wanted) <= 4 * np.spacing(abs(wanted)))
    return bool(got == wanted)


def test_rounding_as_pytorch_has_it(run):
    """Ties to even, NaN has sign 0, -0.0 has its sign bit."""
    x = np.array([float(v) for v in TORCH["rounding"]], np.float32)
    tiny = (x != 0) & (np.abs(x) < np.finfo(np.float32).tiny)  # a device may take a denormal number for 0
    results = run("rounding", x)
    for name in ROUNDING:
        got = results[f"tx_{name}_f32"].astype(np.float32)
        wanted = np.array([float(v) for v in TORCH["unary"][name]], np.float32)
        fine = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | tiny
        assert fine.all(), f"{name}({x[~fine]}) = {got[~fine]}, PyTorch: {wanted[~fine]}"


def cast(value: float, code: str) -> int:
    """The definition: truncated; out of int32 (int64) and NaN give the least one; narrower ones keep its low bits."""
    if code == "u64" and 2.0**63 <= value < 2.0**64:
        return int(value)
    bits = 32 if code in ("i8", "i16", "i32", "u8", "u16") else 64
    low = -(1 << (bits - 1))
    return wrap(int(value) if low <= value < -low else low, code)


def test_casts_of_floats(run):
    edges = [0.0, 0.5, 1.9, 127.9, 255.5, 300.0, 32768.0, 65536.0, 2.0**31, 2.0**31 - 128, 2.0**32, 2.0**53, 2.0**62]
    edges += [2.0**63, 1.5 * 2.0**63, 2.0**64, 1e30, np.inf]
    values = [sign * v for v in edges for sign in (1, -1)] + [np.nan]
    floats = run.specs["truncate"].inputs
    results = run("truncate", *(np.array(values, TYPES[x.dtype]) for x in floats))
    for source in (x.dtype for x in floats):
        assert results[f"tx_cast_{source}_b8"].tolist() == [v != 0 for v in values]
        for code in INTEGERS:
            wanted = [cast(float(TYPES[source](v)), code) for v in values]
            assert results[f"tx_cast_{source}_{code}"].tolist() == wanted, f"{source} to {code}"


def test_definition_of_casts_is_pytorchs():
    for code, wanted in TORCH["casts"].items():
        assert [cast(float(v), code) for v in TORCH["cast_operands"]] == wanted


def test_casts_of_integers_and_bools(run):
    columns = [np.resize(np.array([False, True] if s == "b8" else operands(s), TYPES[s]), 256) for s in SOURCES]
    results = run("widen", *columns)
    for name, got in results.items():
        _, _, source, target = name.split("_")
        x = columns[SOURCES.index(source)]
        np.testing.assert_array_equal(got, x != 0 if target == "b8" else x.astype(TYPES[target]), name)


def test_bit_casts_and_selections(run):
    floats = [c for c in FLOATS if c in {x.dtype for x in run.specs["bits"].inputs}]
    columns = []
    for real, whole in (("f32", "u32"), ("f64", "u64"))[: len(floats)]:
        x = np.array([0.0, -0.0, 1.5, -np.inf, np.pi], TYPES[real])
        columns += [x, x.view(TYPES[whole])]
    others = [columns[i ^ 1] for i in range(len(columns))]
    for (name, got), wanted in zip(run("bits", *columns).items(), others, strict=True):
        assert got.tobytes() == wanted.tobytes(), name
    chosen = ("b8", "u8", "i64", *floats)
    condition, a, b = np.array([[True, False, True], [True, False, True], [False, True, True]])
    results = run("where", condition, *(column.astype(TYPES[c]) for c in chosen for column in (a, b)))
    for code in chosen:
        np.testing.assert_array_equal(results[f"tx_where_{code}"], np.where(condition, a, b).astype(TYPES[code]))
