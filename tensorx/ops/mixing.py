"""Elementwise rows of several operands and limits: lerp, addcmul, logaddexp, nan_to_num, isclose, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.dtypes import FLOAT
from tensorx.errors import DTypeError
from tensorx.limits import finfo
from tensorx.ops import expr as E
from tensorx.ops.arithmetic import POINTS, clamp, given, maximum, minimum
from tensorx.ops.complexes import view_as_complex, view_as_real
from tensorx.ops.families import WRITING, composite, elementwise
from tensorx.ops.table import OF_TENSORS
from tensorx.tensor import Tensor


def _lerp(a, b, w):
    """Counted from the nearer end, so that both ends are exact."""
    near = E.real(w) < 0.5
    return E.where(near, a + w * (b - a), b - (b - a) * (1 - w))


lerp = elementwise("lerp(Tensor self, Tensor end, Tensor weight) -> Tensor", _lerp,
                   lambda g, out, a, b, w: (g * (1 - w).conj(), g * w.conj(), g * (b - a).conj()), ref=lambda a, b, w: a + w * (b - a), dtypes="fc",
                   promote=OF_TENSORS,
                   samples=lambda t: [(t((3, 4)), t((4,)), 0.25), (t((3, 4)), t((3, 4)), t((3, 4), 0, 1))], ulp=8.0,
                   doc="self + weight * (end - self).")
addcmul = elementwise("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", lambda x, a, b, v: x + v * a * b,
                      lambda g, out, x, a, b, v: (g, g * (v * b).conj(), g * (v * a).conj()), ref=lambda x, a, b, value=1: x + value * a * b, dtypes="ifc",
                      samples=lambda t: [(t((3, 4)), t((4,)), t((3, 1))), (t((3, 4)), t((3, 4)), t((3, 4)), {"value": 2})], ulp=32.0,
                      doc="self + value * tensor1 * tensor2.")


def _addcdiv(x, a, b, v):
    if given(a).kind < FLOAT and given(b).kind < FLOAT:
        raise DTypeError("addcdiv: Integer division with addcdiv is no longer supported. Hint: use self + value * (tensor1 / tensor2)")
    return x + v * (a / b)


addcdiv = elementwise("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", _addcdiv,
                      lambda g, out, x, a, b, v: (g, g * (v / b).conj(), -(g * (v * (a / b) / b).conj())), dtypes="fc", ulp=32.0,
                      ref=lambda x, a, b, value=1: x + value * (a / b),
                      samples=lambda t: [(t((3, 4)), t((4,)), t((3, 1), 1, 3)), (t((3, 4)), t((3, 4)), t((3, 4), 1, 3), {"value": 2})],
                      doc="self + value * tensor1 / tensor2.")


def _logaddexp(a, b):
    return E.where(E.eq(a, b) & E.isinf(a), a, E.max(a, b) + E.log1p(E.exp(-E.abs(a - b))))


logaddexp = elementwise("logaddexp(Tensor self, Tensor other) -> Tensor", _logaddexp, lambda g, out, a, b: (_share(g, E.max(a, b), b - a), _share(g, E.max(a, b), a - b)),
                        ref=np.logaddexp, dtypes="f", special=POINTS, doc="log(exp(self) + exp(other)) without overflow.")


def _share(g, top, lead):  # type: ignore[no-untyped-def]  # Exprs
    """One operand's share of the gradient; none where both are -inf, as in logsumexp."""
    return E.where(E.eq(top, -math.inf), 0.0, g / (1 + E.exp(lead)))


fmax = elementwise("fmax(Tensor self, Tensor other) -> Tensor", lambda a, b: E.where(_nan(b), a, E.where(_nan(a), b, E.max(a, b))),
                   lambda g, out, a, b: (E.where((a >= b) | _nan(b), g, 0.0), E.where((a >= b) | _nan(b), 0.0, g)), ref=np.fmax, dtypes="bif", special=POINTS,
                   doc="The larger value; of a NaN and a number the number.")
fmin = elementwise("fmin(Tensor self, Tensor other) -> Tensor", lambda a, b: E.where(_nan(b), a, E.where(_nan(a), b, E.min(a, b))),
                   lambda g, out, a, b: (E.where((a <= b) | _nan(b), g, 0.0), E.where((a <= b) | _nan(b), 0.0, g)), ref=np.fmin, dtypes="bif", special=POINTS,
                   doc="The smaller value; of a NaN and a number the number.")
frac = elementwise("frac(Tensor self) -> Tensor", lambda x: x - E.trunc(x), lambda g, out, x: g, ref=lambda x: x - np.trunc(x), dtypes="f",
                   doc="The part after the point, with self's sign.")


def _nan(x):
    return E.isnan(x) if x.dtype.is_floating_point else E.ne(x, x)


@composite("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", WRITING,
           ref=lambda x, nan=None, posinf=None, neginf=None: np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 1.0, 2.0)], doc="NaN replaced by 0, infinities by the dtype's largest numbers, or by the given ones.")
def nan_to_num(x: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> Tensor:
    if x.dtype.is_complex:
        return view_as_complex(nan_to_num(view_as_real(x), nan, posinf, neginf))  # type: ignore[no-any-return]
    if not x.dtype.is_floating_point:
        return x.clone()
    top = float(finfo(x.dtype).max)
    y = x.masked_fill(x.isnan(), nan or 0.0)
    y = y.masked_fill(x == math.inf, top if posinf is None else posinf)
    return y.masked_fill(x == -math.inf, -top if neginf is None else neginf)


@composite("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
           ref=lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(a, b, rtol, atol, equal_nan),
           samples=lambda t: [(t((3, 4)), t((3, 4))), (t((3, 4)), t((4,)), 0.5, 1.0)], doc="Where |self - other| <= atol + rtol * |other|, or both are equal.")
def isclose(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    if a.dtype is not b.dtype:
        raise RuntimeError(f"isclose: arguments must have one dtype; got {a.dtype.name} and {b.dtype.name}. Hint: cast one with .to()")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"isclose: arguments 'rtol' and 'atol' must not be negative; got {rtol} and {atol}")
    close = a == b
    if not (a.dtype.is_floating_point or a.dtype.is_complex):
        a, b = a.long(), b.long()  # differences of uint8 would wrap around
    elif equal_nan:
        close = close | (a.isnan() & b.isnan())
    off = (a - b).abs()
    return close | (off.isfinite() & (off <= atol + (rtol * b).abs()))


def _bounds(t: Any) -> list[Any]:
    return [(t((3, 4)), t((4,), -1, 0), t((3, 1), 1, 2)), (t((3, 4)), t((3, 4)))]


@composite("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", WRITING, dtypes="if",
           ref=lambda x, min=None, max=None: np.clip(x, min, max), samples=_bounds, doc="Values limited by tensors, elementwise.")
def clamp_tensor(x: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    if min is not None:
        x = _no_less(x, min)
    return x if max is None else _no_more(x, max)


_no_less = elementwise("_no_less(Tensor self, Tensor other) -> Tensor", lambda a, b: E.max(a, b),
                       lambda g, out, a, b: (E.where(a < b, 0.0, g), E.where(a < b, g, 0.0)), ref=np.maximum, dtypes="if",
                       public="clamp", doc="The larger value; a tie's gradient goes to self.")
_no_more = elementwise("_no_more(Tensor self, Tensor other) -> Tensor", lambda a, b: E.min(a, b),
                       lambda g, out, a, b: (E.where(a > b, 0.0, g), E.where(a > b, g, 0.0)), ref=np.minimum, dtypes="if",
                       public="clamp", doc="The smaller value; a tie's gradient goes to self.")
clamp_min = elementwise("clamp_min(Tensor self, Tensor min) -> Tensor", lambda x, low: E.max(x, low),
                        lambda g, out, x, low: (E.where(x >= low, g, 0.0), E.where(x < low, g, 0.0)), ref=np.maximum, dtypes="bif", special=POINTS,
                        doc="Values not below min; NaN stays.")
clamp_max = elementwise("clamp_max(Tensor self, Tensor max) -> Tensor", lambda x, high: E.min(x, high),
                        lambda g, out, x, high: (E.where(x <= high, g, 0.0), E.where(x > high, g, 0.0)), ref=np.minimum, dtypes="bif", special=POINTS,
                        doc="Values not above max; NaN stays.")
clip = composite("clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", WRITING, ref=lambda x, min=None, max=None: np.clip(x, min, max), dtypes="if",
                 samples=lambda t: [(t((3, 4)), 0, 2)], doc="Another name of clamp.")(lambda x, min, max: clamp(x, min, max))
clip_tensor = composite("clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", WRITING, dtypes="if", samples=_bounds,
                        ref=lambda x, min=None, max=None: np.clip(x, min, max), doc="Values limited by tensors, elementwise.")(
                            lambda x, min, max: clamp_tensor(x, min, max))
max_other = composite("max.other(Tensor self, Tensor other) -> Tensor", ref=np.maximum, dtypes="bif", samples=lambda t: [(t((3, 4)), t((4,)))],
                      doc="The larger value; NaN if either is NaN.")(lambda a, b: maximum(a, b))
min_other = composite("min.other(Tensor self, Tensor other) -> Tensor", ref=np.minimum, dtypes="bif", samples=lambda t: [(t((3, 4)), t((4,)))],
                      doc="The smaller value; NaN if either is NaN.")(lambda a, b: minimum(a, b))


positive = composite("positive(Tensor self) -> Tensor", ref=np.positive, dtypes="ifc", samples=lambda t: [(t((3, 4)),)], doc="self.")(lambda x: _positive(x))


def _positive(x: Tensor) -> Tensor:
    if x.dtype.kind == 0:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return x


Tensor.__pos__ = _positive  # type: ignore[operator]  # mypy takes it for the operator on the class
__all__ = ["addcdiv", "addcmul", "clamp_tensor", "fmax", "fmin", "frac", "isclose", "lerp", "logaddexp", "nan_to_num"]
