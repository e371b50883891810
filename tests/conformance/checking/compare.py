"""Comparison of results with float64 oracles, in units of the result's dtype."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np

from tensorx import dtypes
from tensorx.dtypes import BOOL, COMPLEX, FLOAT, INT
from tensorx.tensor import Tensor


def wide(array: Any, lift: bool) -> Any:
    """Operand values as an oracle wants them: float64, complex128, int64, bool; ``lift`` makes integers floats too."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype.kind in "iub":
        return (
            array.astype(np.float64)
            if lift
            else array
            if array.dtype.kind == "b" or array.dtype == np.uint64
            else array.astype(np.int64)
        )
    return array.astype(np.float64)


def oracle(op: Any, placed: Any) -> list[Any]:
    """What the row's oracle says for these operands."""
    lift = op.promote.lift >= INT and not op.promote.to
    args, kwargs = placed.map(lambda t: wide(placed.oracle[id(t)], lift))
    hidden = {p.name for p in op.schema.params if p.type in ("Device", "ScalarType", "Any") and p.keyword}
    kwargs = {k: v for k, v in kwargs.items() if k not in hidden}
    if op.kind.name == "TRANSFER":
        args = args[:1]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = op.ref(*args, **kwargs)
    return list(result) if isinstance(result, tuple | list) else [result]


def eps_of(d: dtypes.dtype) -> float:
    """The distance from 1 to the next number."""
    return float(ml_dtypes.finfo(d.real.np).eps)


def as_stored(want: Any, d: dtypes.dtype) -> Any:
    """The oracle's values in the result's dtype class: integers wrap, complex ones may lose a part."""
    want = np.asarray(want)
    if d.kind != COMPLEX and want.dtype.kind == "c":
        want = want.real
    if d.kind == COMPLEX:
        return want.astype(np.complex128)
    if d.kind == FLOAT:
        return want.astype(np.float64)
    if d.kind == BOOL:
        return want.astype(bool)
    with np.errstate(invalid="ignore"):
        return (want.astype(np.int64) if want.dtype.kind == "f" else want).astype(d.np)


def parts(x: Any) -> list[Any]:
    """Real and imaginary part of a complex array, else the array."""
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def allowed(want: Any, d: dtypes.dtype, ulp: float, kind: str, operands: float) -> Any:
    """How far a result may be from ``want``: elementwise rows in each element, others in the norm of the whole result.

    f16 and bf16 results are computed in f32 and rounded once (half a unit and what is left of the computation), but for
    sums of duplicates, which add up in memory, for composites, and for states that are stored each step. Devices may
    flush subnormal results to zero. What cancels leaves a trace of the ``operands``' magnitude.
    """
    eps = eps_of(d)
    once = d.code in ("f16", "bf16") and kind not in ("INDEX", "COMPOSITE", "LOOP")
    units = 0.51 + ulp * eps_of(dtypes.float32) / eps if once else ulp
    size = np.abs(want)
    if kind != "ELEMENTWISE":
        finite = size[np.isfinite(size)]
        size = np.maximum(size, max(finite.max(initial=0), operands / 8))
    smallest = float(ml_dtypes.finfo(d.real.np).smallest_normal)
    return np.where(size < smallest, smallest, units * eps * size)


def check_value(op: Any, got: Tensor, want: Any, label: str, operands: float = 0.0) -> None:
    """AssertionError unless ``got`` is what the oracle says for operands of this magnitude."""
    d = got.dtype
    assert tuple(got.shape) == np.shape(want), f"{label}: shape {tuple(got.shape)}, the oracle says {np.shape(want)}"
    want = as_stored(want, d)
    have = np.asarray(got._host())
    if d.kind <= INT:
        assert np.array_equal(have, want), f"{label}: got\n{have}\nbut the oracle says\n{want}"
        return
    have = have.astype(want.dtype)
    if not want.size:
        return
    with np.errstate(all="ignore"):
        limit = allowed(want, d, op.ulp, op.kind.name, operands)
        largest = float(ml_dtypes.finfo(d.real.np).max)
        for h, w, _ in zip(parts(have), parts(want), "ri", strict=False):
            off = ~(
                (h == w)
                | (np.isnan(h) & np.isnan(w))
                | (np.abs(h - w) <= limit)
                | ((np.abs(w) > largest) & (h == np.copysign(np.inf, w)))
            )
            assert not off.any(), (
                f"{label}: {int(off.sum())} of {off.size} elements are off by more than {op.ulp} ulp of {d.name}; "
                f"got {h[off][:4]}, the oracle says {w[off][:4]}"
            )


def magnitude(placed: Any) -> float:
    """The largest finite floating-point number among the operands."""
    found = [np.abs(a.astype(np.complex128)) for a in placed.oracle.values() if a.dtype.kind not in "iub"]
    return max((float(a[np.isfinite(a)].max(initial=0)) for a in found), default=0.0)


def outputs(result: Any) -> list[Tensor]:
    """Results as a list."""
    return list(result) if isinstance(result, tuple | list) else [result]


def bits(t: Tensor) -> Any:
    """The elements as bytes, for exact comparison."""
    return np.ascontiguousarray(t._host()).view(np.uint8)


def same(a: Any, b: Any) -> bool:
    """Equal elements, NaN equal to NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "V" or a.dtype == ml_dtypes.bfloat16:
        a, b = a.astype(np.float32), b.astype(np.float32)
    return a.shape == b.shape and bool(np.all((a == b) | (~(a == a) & ~(b == b))))
