"""Arithmetic rows: + - * /, integer division, powers, comparisons, logic, bits, selection."""

from __future__ import annotations

import numpy as np

from tensorx.dtypes import BOOL, COMPLEX
from tensorx.errors import DTypeError
from tensorx.ops import expr as E
from tensorx.ops.families import elementwise
from tensorx.ops.table import COND, KEEP, TO_BOOL, TO_FLOAT, TO_INT

DIVIDENDS = ((-9.0, 9.0), (1.0, 4.0))
POINTS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def zero(g):
    """A zero cotangent (a step function's), which does not read ``g``: 0 * inf would be NaN."""
    return E.const(0, g.dtype)


def given(x):
    """The dtype that an operand had before promotion."""
    return x.args[0].dtype if x.op == "cast" else x.dtype


def _add_alpha(a, b, alpha):
    return a + b * alpha


def _sub(a, b, alpha=None):
    if BOOL in (given(a).kind, given(b).kind):
        raise DTypeError("sub: Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
                         "`logical_not()` operator instead.")
    return a - b if alpha is None else a - b * alpha


add = elementwise("add(Tensor self, Tensor other) -> Tensor", lambda a, b: a + b, lambda g, out, a, b: (g, g), ref=np.add, special=POINTS, symbol="+",
                  doc="self + other.")
add_alpha = elementwise("add.alpha(Tensor self, Tensor other, *, Scalar alpha) -> Tensor", _add_alpha,
                        lambda g, out, a, b, alpha: (g, g * alpha.conj()), ref=lambda a, b, alpha: a + b * alpha, doc="self + alpha * other.")
sub = elementwise("sub(Tensor self, Tensor other) -> Tensor", _sub, lambda g, out, a, b: (g, -g), ref=np.subtract, special=POINTS,
                  dtypes="ifc", symbol="-", doc="self - other.")
sub_alpha = elementwise("sub.alpha(Tensor self, Tensor other, *, Scalar alpha) -> Tensor", _sub,
                        lambda g, out, a, b, alpha: (g, -(g * alpha.conj())), ref=lambda a, b, alpha: a - b * alpha, dtypes="ifc",
                        doc="self - alpha * other.")
mul = elementwise("mul(Tensor self, Tensor other) -> Tensor", lambda a, b: a * b, lambda g, out, a, b: (g * b.conj(), g * a.conj()), ref=np.multiply,
                  special=POINTS, symbol="*", doc="self * other.")
div = elementwise("div(Tensor self, Tensor other) -> Tensor", lambda a, b: a / b, lambda g, out, a, b: (g / b.conj(), -(g * (a / b / b).conj())),
                  promote=TO_FLOAT, ref=np.true_divide, special=POINTS, symbol="/", doc="True division; integers give floats.")
floor_divide = elementwise("floor_divide(Tensor self, Tensor other) -> Tensor", lambda a, b: E.floordiv(a, b), lambda g, out, a, b: (zero(g), zero(g)),
                           ref=np.floor_divide, domain=DIVIDENDS, dtypes="if",
                           symbol="//", doc="Division rounded towards minus infinity.")


def _rounded(a, b, rounding_mode):
    modes = {"floor": E.floordiv, "trunc": E.truncdiv}
    if rounding_mode not in modes:
        raise RuntimeError(f"div: argument 'rounding_mode' must be None, 'trunc' or 'floor'; got {rounding_mode!r}")
    return modes[rounding_mode](a, b)


div_mode = elementwise("div.Tensor_mode(Tensor self, Tensor other, *, str rounding_mode) -> Tensor", _rounded,
                       lambda g, out, a, b, mode: (zero(g), zero(g)), dtypes="if",
                       ref=lambda a, b, rounding_mode: np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(a / b),
                       samples=lambda t: [(t((3, 4), 1, 9), t((3, 4), 1, 5), {"rounding_mode": m}) for m in ("floor", "trunc")],
                       doc="Division rounded towards zero or minus infinity.")
remainder = elementwise("remainder(Tensor self, Tensor other) -> Tensor", lambda a, b: E.remainder(a, b),
                        lambda g, out, a, b: (g, -(g * E.floordiv(a, b))), ref=np.remainder, domain=DIVIDENDS, dtypes="if", symbol="%",
                        doc="Remainder with the divisor's sign.")
fmod = elementwise("fmod(Tensor self, Tensor other) -> Tensor", lambda a, b: E.fmod(a, b), lambda g, out, a, b: (g, -(g * E.trunc(a / b))),
                   ref=np.fmod, domain=DIVIDENDS, dtypes="if", doc="Remainder with the dividend's sign.")


def _pow_vjp(g, out, a, b):
    """d/da = b a^(b-1), 0 where b is 0; d/db = out log a, 0 where a is 0 and b >= 0."""
    da = E.where(E.eq(b, 0), E.const(0, g.dtype), g * (b * E.pow(a, b - 1)).conj())
    flat = E.eq(a, 0) & (E.real(b) >= 0)
    return da, E.where(flat, E.const(0, g.dtype), g * (out * E.log(a)).conj())


def _np_pow(a, b):
    """np.power refuses negative integer exponents; there the result is 0 except for bases 1 and -1."""
    if np.result_type(a, b).kind != "i":
        return np.power(a, b)
    return np.trunc(np.power(np.asarray(a, np.float64), b)).astype(np.int64)


pow = elementwise("pow(Tensor self, Tensor exponent) -> Tensor", lambda a, b: E.pow(a, b), _pow_vjp, ref=_np_pow, domain=((0.2, 3.0), (-2.0, 2.0)),
                  dtypes="ifc", baked=E.EXPONENTS, symbol="**", doc="self to the power exponent.")
square = elementwise("square(Tensor self) -> Tensor", lambda x: x * x, lambda g, out, x: g * (x * 2).conj(), ref=np.square, promote=TO_INT,
                     doc="self * self.")
maximum = elementwise("maximum(Tensor self, Tensor other) -> Tensor", lambda a, b: E.max(a, b),
                      lambda g, out, a, b: (E.where(a < b, 0.0, E.where(E.eq(a, b), g * 0.5, g)), E.where(b < a, 0.0, E.where(E.eq(a, b), g * 0.5, g))),
                      ref=np.maximum, dtypes="bif", special=POINTS, doc="The larger value; NaN if either is NaN.")
minimum = elementwise("minimum(Tensor self, Tensor other) -> Tensor", lambda a, b: E.min(a, b),
                      lambda g, out, a, b: (E.where(a > b, 0.0, E.where(E.eq(a, b), g * 0.5, g)), E.where(b > a, 0.0, E.where(E.eq(a, b), g * 0.5, g))),
                      ref=np.minimum, dtypes="bif", special=POINTS, doc="The smaller value; NaN if either is NaN.")


def _clamp(x, low, high):
    if low is None and high is None:
        raise RuntimeError("clamp: at least one of 'min' or 'max' must not be None")
    if low is not None:
        x = E.max(x, low)
    return x if high is None else E.min(x, high)


def _clamp_vjp(g, out, x, low, high):
    """The gradient passes inside the closed interval."""
    for inside in (low is not None and x >= low, high is not None and x <= high):
        if inside is not False:
            g = E.where(inside, g, 0.0)
    return g


clamp = elementwise("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", _clamp, _clamp_vjp,
                    ref=lambda x, min=None, max=None: np.clip(x, min, max), dtypes="if",
                    samples=lambda t: [(t((3, 4)), {"min": 1}), (t((3, 4)), {"max": 1}), (t((3, 4)), 0, 2)],
                    doc="Values limited to [min, max]; NaN stays.")
where = elementwise("where(Tensor condition, Tensor self, Tensor other) -> Tensor", lambda c, a, b: E.where(c, a, b),
                    lambda g, out, c, a, b: (None, E.where(c, g, 0.0), E.where(c, 0.0, g)), promote=COND, ref=np.where,
                    samples=lambda t: [(t.mask((3, 4)), t((3, 4)), t((4,)))], doc="self where condition is true, else other.")
masked_fill = elementwise("masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor", lambda x, m, v: _masked_fill(x, m, v),
                          lambda g, out, x, m, v: (E.where(m, 0.0, g), None, E.where(m, g, 0.0)), promote=KEEP, ref=lambda x, m, v: np.where(m, v, x),
                          samples=lambda t: [(t((3, 4)), t.mask((3, 4)), 0.5), (t((3, 4)), t.mask((4,)), 2), (t((3, 4)), t.mask((3, 4)), t(()))],
                          doc="value where mask is true, else self.")


def _masked_fill(x, m, v):
    if given(m).kind != BOOL:
        raise DTypeError(f"masked_fill: only supports boolean masks, but got mask with dtype {given(m).name}. Hint: use mask != 0")
    if given(v).kind == COMPLEX and given(x).kind != COMPLEX:
        raise DTypeError(f"masked_fill: value cannot be converted to type {given(x).name} without overflow; got {given(v).name}")
    return E.where(m, E.cast(v, x.dtype), x)


eq = elementwise("eq(Tensor self, Tensor other) -> Tensor", E.eq, ref=np.equal, promote=TO_BOOL, symbol="==", special=POINTS, doc="self == other.")
ne = elementwise("ne(Tensor self, Tensor other) -> Tensor", E.ne, ref=np.not_equal, promote=TO_BOOL, symbol="!=", special=POINTS, doc="self != other.")
lt = elementwise("lt(Tensor self, Tensor other) -> Tensor", E.lt, ref=np.less, promote=TO_BOOL, dtypes="bif", symbol="<", special=POINTS, doc="self < other.")
le = elementwise("le(Tensor self, Tensor other) -> Tensor", E.le, ref=np.less_equal, promote=TO_BOOL, dtypes="bif", symbol="<=", doc="self <= other.")
gt = elementwise("gt(Tensor self, Tensor other) -> Tensor", E.gt, ref=np.greater, promote=TO_BOOL, dtypes="bif", symbol=">", special=POINTS, doc="self > other.")
ge = elementwise("ge(Tensor self, Tensor other) -> Tensor", E.ge, ref=np.greater_equal, promote=TO_BOOL, dtypes="bif", symbol=">=", doc="self >= other.")
logical_and = elementwise("logical_and(Tensor self, Tensor other) -> Tensor", lambda a, b: E.ne(a, 0) & E.ne(b, 0), ref=np.logical_and,
                          promote=TO_BOOL, doc="True where both are nonzero.")
logical_or = elementwise("logical_or(Tensor self, Tensor other) -> Tensor", lambda a, b: E.ne(a, 0) | E.ne(b, 0), ref=np.logical_or,
                         promote=TO_BOOL, doc="True where either is nonzero.")
logical_xor = elementwise("logical_xor(Tensor self, Tensor other) -> Tensor", lambda a, b: E.ne(a, 0) ^ E.ne(b, 0), ref=np.logical_xor,
                          promote=TO_BOOL, doc="True where exactly one is nonzero.")
bitwise_and = elementwise("bitwise_and(Tensor self, Tensor other) -> Tensor", E.bitwise_and, ref=np.bitwise_and, dtypes="bi", symbol="&",
                          doc="Bitwise and; logical for bool.")
bitwise_or = elementwise("bitwise_or(Tensor self, Tensor other) -> Tensor", E.bitwise_or, ref=np.bitwise_or, dtypes="bi", symbol="|",
                         doc="Bitwise or; logical for bool.")
bitwise_xor = elementwise("bitwise_xor(Tensor self, Tensor other) -> Tensor", E.bitwise_xor, ref=np.bitwise_xor, dtypes="bi", symbol="^",
                          doc="Bitwise exclusive or; logical for bool.")
bitwise_left_shift = elementwise("bitwise_left_shift(Tensor self, Tensor other) -> Tensor", E.shl, ref=np.left_shift, dtypes="i", domain=(0, 6),
                                 symbol="<<", doc="self * 2 ** other; 0 where the shift reaches the width.")
bitwise_right_shift = elementwise("bitwise_right_shift(Tensor self, Tensor other) -> Tensor", E.shr, ref=np.right_shift, dtypes="i", domain=(0, 6),
                                  symbol=">>", doc="Arithmetic shift to the right; the sign where the shift reaches the width.")
real = elementwise("_real(Tensor self) -> Tensor", E.real, lambda g, out, x: E.complex(g, 0), ref=np.real, dtypes="c", doc="The real part, as a copy.")
imag = elementwise("_imag(Tensor self) -> Tensor", E.imag, lambda g, out, x: E.complex(0, g), ref=np.imag, dtypes="c", doc="The imaginary part, as a copy.")
complex = elementwise("complex(Tensor real, Tensor imag) -> Tensor", lambda a, b: _complex(a, b), lambda g, out, a, b: (E.real(g), E.imag(g)),
                      ref=lambda a, b: a + 1j * b, dtypes="f", doc="The complex numbers with these real and imaginary parts.")


def _complex(a, b):
    if given(a) is not given(b):
        raise DTypeError(f"complex: Expected object of scalar type {given(a).name} but got scalar type {given(b).name} for second argument")
    return E.complex(a, b)


atan2 = elementwise("atan2(Tensor self, Tensor other) -> Tensor", E.atan2, lambda g, out, a, b: _atan2_vjp(g, a, b),
                    promote=TO_FLOAT, ref=np.arctan2, dtypes="bif", doc="Angle of the point (other, self).")


def _atan2_vjp(g, a, b):
    """0 at the origin, where the angle has no derivative."""
    r = a * a + b * b
    g = E.where(E.eq(r, 0), 0.0, g / r)
    return g * b, -(g * a)


hypot = elementwise("hypot(Tensor self, Tensor other) -> Tensor", E.hypot, lambda g, out, a, b: (g * a / out, g * b / out), ref=np.hypot, dtypes="f",
                    doc="sqrt(self**2 + other**2) without overflow.")
copysign = elementwise("copysign(Tensor self, Tensor other) -> Tensor", E.copysign,
                       lambda g, out, a, b: (E.where(E.eq(a, 0), 0.0, E.where(E.signbit(a) ^ E.signbit(out), -g, g)), zero(g)),
                       promote=TO_FLOAT, ref=np.copysign, dtypes="bif", doc="self with the sign of other.")
