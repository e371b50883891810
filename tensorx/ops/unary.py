"""Unary rows."""

from __future__ import annotations

import math

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops.arithmetic import POINTS, zero
from tensorx.ops.families import elementwise
from tensorx.ops.table import TO_BOOL, TO_FLOAT


def _erf(x):
    from scipy import special
    return special.erf(x)


def _erfc(x):
    from scipy import special
    return special.erfc(x)


neg = elementwise("neg(Tensor self) -> Tensor", lambda x: -x, lambda g, out, x: -g, ref=np.negative, special=POINTS, dtypes="ifc", symbol="neg",
                  doc="-self.")
abs = elementwise("abs(Tensor self) -> Tensor", E.abs, lambda g, out, x: _abs_vjp(g, out, x), ref=np.abs, special=POINTS, dtypes="ifc", symbol="abs",
                  doc="Absolute value; of a complex number its real magnitude.")
sign = elementwise("sign(Tensor self) -> Tensor", lambda x: x if x.dtype.code == "b8" else E.sign(x), lambda g, out, x: zero(g), ref=lambda x: np.where(np.isnan(x), 0, np.sign(x * 1)), dtypes="bif",
                   special=POINTS, doc="-1, 0 or 1; 0 for NaN.")


def _abs_vjp(g, out, x):
    if x.dtype.is_complex:
        unit = E.where(E.eq(out, 0), 0.0, g / E.where(E.eq(out, 0), 1.0, out))  # the divisor is not 0 where the rule is differentiated either
        return E.complex(unit * E.real(x), unit * E.imag(x))
    return g * E.sign(x)


reciprocal = elementwise("reciprocal(Tensor self) -> Tensor", lambda x: 1 / x, lambda g, out, x: -(g * (out * out).conj()), promote=TO_FLOAT,
                         ref=lambda x: 1 / x, special=POINTS, doc="1 / self.")
sqrt = elementwise("sqrt(Tensor self) -> Tensor", E.sqrt, lambda g, out, x: g / (out * 2).conj(), promote=TO_FLOAT, ref=np.sqrt, domain=(0.1, 4.0),
                   special=POINTS, doc="Square root.")
rsqrt = elementwise("rsqrt(Tensor self) -> Tensor", E.rsqrt, lambda g, out, x: g * (out * out * out).conj() * -0.5, promote=TO_FLOAT,
                    ref=lambda x: 1 / np.sqrt(x), domain=(0.1, 4.0), doc="1 / sqrt(self).")
exp = elementwise("exp(Tensor self) -> Tensor", E.exp, lambda g, out, x: g * out.conj(), promote=TO_FLOAT, ref=np.exp, special=POINTS,
                  doc="e to the power self.")
exp2 = elementwise("exp2(Tensor self) -> Tensor", E.exp2, lambda g, out, x: g * out * math.log(2), promote=TO_FLOAT, ref=np.exp2, dtypes="bif",
                   special=POINTS, doc="2 to the power self.")
expm1 = elementwise("expm1(Tensor self) -> Tensor", E.expm1, lambda g, out, x: g * (out + 1), promote=TO_FLOAT, ref=np.expm1, dtypes="bif",
                    special=(*POINTS, 1e-10), doc="exp(self) - 1, exact for small self.")
log = elementwise("log(Tensor self) -> Tensor", E.log, lambda g, out, x: g / x.conj(), promote=TO_FLOAT, ref=np.log, domain=(0.1, 4.0), special=POINTS,
                  doc="Natural logarithm.")
log2 = elementwise("log2(Tensor self) -> Tensor", E.log2, lambda g, out, x: g / (x * math.log(2)).conj(), promote=TO_FLOAT, ref=np.log2, domain=(0.1, 4.0),
                   special=POINTS, doc="Logarithm to base 2.")
log10 = elementwise("log10(Tensor self) -> Tensor", E.log10, lambda g, out, x: g / (x * math.log(10)).conj(), promote=TO_FLOAT, ref=np.log10,
                    domain=(0.1, 4.0), special=POINTS, doc="Logarithm to base 10.")
log1p = elementwise("log1p(Tensor self) -> Tensor", E.log1p, lambda g, out, x: g / (x + 1), promote=TO_FLOAT, ref=np.log1p, domain=(-0.9, 4.0),
                    dtypes="bif", special=(*POINTS, 1e-10), doc="log(1 + self), exact for small self.")
sin = elementwise("sin(Tensor self) -> Tensor", E.sin, lambda g, out, x: g * E.cos(x).conj(), promote=TO_FLOAT, ref=np.sin, special=(0.0, 1e5),
                  doc="Sine.")
cos = elementwise("cos(Tensor self) -> Tensor", E.cos, lambda g, out, x: -(g * E.sin(x).conj()), promote=TO_FLOAT, ref=np.cos, special=(0.0, 1e5),
                  doc="Cosine.")
tan = elementwise("tan(Tensor self) -> Tensor", E.tan, lambda g, out, x: g * (out * out + 1).conj(), promote=TO_FLOAT, ref=np.tan, domain=(-1.2, 1.2),
                  doc="Tangent.")
asin = elementwise("asin(Tensor self) -> Tensor", E.asin, lambda g, out, x: g * E.rsqrt(1 - x * x), promote=TO_FLOAT, ref=np.arcsin, domain=(-0.9, 0.9),
                   dtypes="bif", doc="Inverse sine.")
acos = elementwise("acos(Tensor self) -> Tensor", E.acos, lambda g, out, x: -(g * E.rsqrt(1 - x * x)), promote=TO_FLOAT, ref=np.arccos,
                   domain=(-0.9, 0.9), dtypes="bif", doc="Inverse cosine.")
atan = elementwise("atan(Tensor self) -> Tensor", E.atan, lambda g, out, x: g / (x * x + 1), promote=TO_FLOAT, ref=np.arctan, dtypes="bif",
                   special=POINTS, doc="Inverse tangent.")
sinh = elementwise("sinh(Tensor self) -> Tensor", E.sinh, lambda g, out, x: g * E.cosh(x).conj(), promote=TO_FLOAT, ref=np.sinh,
                   doc="Hyperbolic sine.")
cosh = elementwise("cosh(Tensor self) -> Tensor", E.cosh, lambda g, out, x: g * E.sinh(x).conj(), promote=TO_FLOAT, ref=np.cosh,
                   doc="Hyperbolic cosine.")
tanh = elementwise("tanh(Tensor self) -> Tensor", E.tanh, lambda g, out, x: g * (1 - out * out).conj(), promote=TO_FLOAT, ref=np.tanh,
                   special=(*POINTS, 1e3), doc="Hyperbolic tangent.")
asinh = elementwise("asinh(Tensor self) -> Tensor", E.asinh, lambda g, out, x: g * E.rsqrt(x * x + 1), promote=TO_FLOAT, ref=np.arcsinh, dtypes="bif",
                    doc="Inverse hyperbolic sine.")
acosh = elementwise("acosh(Tensor self) -> Tensor", E.acosh, lambda g, out, x: g * E.rsqrt(x * x - 1), promote=TO_FLOAT, ref=np.arccosh,
                    domain=(1.1, 4.0), dtypes="bif", doc="Inverse hyperbolic cosine.")
atanh = elementwise("atanh(Tensor self) -> Tensor", E.atanh, lambda g, out, x: g / (1 - x * x), promote=TO_FLOAT, ref=np.arctanh, domain=(-0.9, 0.9),
                    dtypes="bif", doc="Inverse hyperbolic tangent.")
erf = elementwise("erf(Tensor self) -> Tensor", E.erf, lambda g, out, x: g * E.exp(-(x * x)) * (2 / math.sqrt(math.pi)), promote=TO_FLOAT, ref=_erf,
                  dtypes="bif", special=POINTS, doc="Error function.")
erfc = elementwise("erfc(Tensor self) -> Tensor", E.erfc, lambda g, out, x: g * E.exp(-(x * x)) * (-2 / math.sqrt(math.pi)), promote=TO_FLOAT,
                   ref=lambda x: _erfc(x), domain=(-2.0, 2.0), dtypes="bif", doc="Complementary error function.")
floor = elementwise("floor(Tensor self) -> Tensor", lambda x: E.floor(x) if x.dtype.is_floating_point else x, lambda g, out, x: zero(g), ref=np.floor,
                    dtypes="if", special=POINTS, doc="Rounded down.")
ceil = elementwise("ceil(Tensor self) -> Tensor", lambda x: E.ceil(x) if x.dtype.is_floating_point else x, lambda g, out, x: zero(g), ref=np.ceil,
                   dtypes="if", special=POINTS, doc="Rounded up.")
trunc = elementwise("trunc(Tensor self) -> Tensor", lambda x: E.trunc(x) if x.dtype.is_floating_point else x, lambda g, out, x: zero(g), ref=np.trunc,
                    dtypes="if", special=POINTS, doc="Rounded towards zero.")


def _round(x, decimals):
    if not x.dtype.is_floating_point:
        return x
    if decimals == 0:
        return E.round(x)
    scale = float(10 ** builtin_abs(decimals))
    return E.round(x * scale) / scale if decimals > 0 else E.round(x / scale) * scale


builtin_abs = __builtins__["abs"] if isinstance(__builtins__, dict) else __builtins__.abs
round = elementwise("round(Tensor self, *, int decimals=0) -> Tensor", _round, lambda g, out, x, decimals: zero(g),
                    ref=lambda x, decimals=0: np.round(x, decimals), dtypes="if", special=(0.5, 1.5, 2.5, -0.5, -0.4),
                    doc="Rounded to the nearest, halves to even.")
isnan = elementwise("isnan(Tensor self) -> Tensor", E.isnan, ref=np.isnan, promote=TO_BOOL, special=POINTS, doc="True for NaN.")
isinf = elementwise("isinf(Tensor self) -> Tensor", E.isinf, ref=np.isinf, promote=TO_BOOL, special=POINTS, doc="True for an infinity.")
isfinite = elementwise("isfinite(Tensor self) -> Tensor", E.isfinite, ref=np.isfinite, promote=TO_BOOL, special=POINTS, doc="True for a finite number.")
signbit = elementwise("signbit(Tensor self) -> Tensor", E.signbit, ref=np.signbit, promote=TO_BOOL, special=POINTS, dtypes="bif",
                      doc="True where the sign bit is set, -0.0 included.")
logical_not = elementwise("logical_not(Tensor self) -> Tensor", E.logical_not, ref=np.logical_not, promote=TO_BOOL, doc="True where self is zero.")
bitwise_not = elementwise("bitwise_not(Tensor self) -> Tensor", E.bitwise_not, ref=np.invert, dtypes="bi", symbol="~",
                          doc="Bitwise not; logical for bool.")
conj_physical = elementwise("conj_physical(Tensor self) -> Tensor", E.conj, lambda g, out, x: g.conj(), ref=np.conj, doc="Complex conjugate.")
sigmoid = elementwise("sigmoid(Tensor self) -> Tensor", E.sigmoid, lambda g, out, x: g * ((1 - out) * out).conj(), promote=TO_FLOAT,
                      ref=lambda x: 1 / (1 + np.exp(-x)), special=(*POINTS, 100.0, -100.0), doc="1 / (1 + exp(-self)).")
relu = elementwise("relu(Tensor self) -> Tensor", lambda x: E.where(x <= 0, 0, x), lambda g, out, x: E.where(out <= 0, 0.0, g),
                   ref=lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), dtypes="if", special=POINTS, doc="self where positive, else 0.")


def _gelu(x, approximate):
    if approximate == "tanh":
        return x * 0.5 * (1 + E.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)))
    if approximate != "none":
        raise RuntimeError(f"gelu: argument 'approximate' must be either none or tanh; got {approximate!r}")
    return x * 0.5 * (1 + E.erf(x * math.sqrt(0.5)))


def _gelu_vjp(g, out, x, approximate):
    if approximate == "tanh":
        c = math.sqrt(2 / math.pi)
        t = E.tanh((x + x * x * x * 0.044715) * c)
        return g * ((1 + t) * 0.5 + x * 0.5 * (1 - t * t) * (1 + x * x * (3 * 0.044715)) * c)
    return g * ((1 + E.erf(x * math.sqrt(0.5))) * 0.5 + x * E.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))


gelu = elementwise("gelu(Tensor self, *, str approximate='none') -> Tensor", _gelu, _gelu_vjp, dtypes="f",
                   ref=lambda x, approximate="none": x * 0.5 * (1 + (_erf(x / math.sqrt(2)) if approximate == "none" else
                                                                   np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
                   samples=lambda t: [(t((3, 4)),), (t((3, 4)), {"approximate": "tanh"})], ulp=256.0, doc="x times the normal distribution function of x.")
silu = elementwise("silu(Tensor self) -> Tensor", lambda x: x * E.sigmoid(x), lambda g, out, x: g * _silu_slope(x).conj(), dtypes="fc",
                   ref=lambda x: x / (1 + np.exp(-x)), doc="x * sigmoid(x).")


def _silu_slope(x):
    if x.dtype.is_complex:
        s = E.sigmoid(x)
        return s * (1 + x * (1 - s))
    e = E.exp(E.where(x >= 0, -x, x))  # at most 1, so that no side meets inf * 0 when differentiated again
    near, far = 1 / (1 + e), e / (1 + e)
    return E.where(x >= 0, near * (1 + x * far), far * (1 + x * near))
