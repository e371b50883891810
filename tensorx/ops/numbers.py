"""Elementwise functions of numbers: divisors, exponents and mantissas, neighbours, signs, steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import BOOL, COMPLEX, FLOAT
from tensorx.errors import DTypeError
from tensorx.ops import expr as E
from tensorx.ops.arithmetic import POINTS, div, given, zero
from tensorx.ops.families import composite, elementwise
from tensorx.ops.table import TO_BOOL, TO_FLOAT, Promote
from tensorx.ops.unary import sign
from tensorx.tensor import Tensor

TO_DOUBLE = Promote("double", lift=FLOAT, to="f64")

# whole numbers

gcd = elementwise("gcd(Tensor self, Tensor other) -> Tensor", lambda a, b: E.gcd(a, b), dtypes="i", domain=(-40, 40), ref=np.gcd,
                  doc="The greatest common divisor; 0 of two zeros.")


def _lcm(a: Any, b: Any) -> Any:
    """Divided first, so that what overflows is the result alone; a divisor of 1 stands for none."""
    g = E.gcd(a, b)
    return E.abs(E.truncdiv(a, E.where(E.eq(g, 0), 1, g)) * b)


lcm = elementwise("lcm(Tensor self, Tensor other) -> Tensor", _lcm, dtypes="i", domain=(-11, 11), ref=np.lcm, doc="The least common multiple; 0 of zero.")

# exponents


def _frexp(x: Any) -> Any:
    return E.apply("frexpm", x), E.cast(E.apply("frexpe", x), dtypes.int32)


frexp = elementwise("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", _frexp,
                    lambda g, out, x: g[0] * E.exp2(-E.cast(out[1], g[0].dtype)), dtypes="f", ref=lambda x: _np_frexp(x), special=POINTS,
                    doc="Mantissas in [1/2, 1) and exponents of 2 (int32).")


def _np_frexp(x: Any) -> Any:
    m, e = np.frexp(x)
    return m, np.where(np.isfinite(x), e, 0)


def _two_to(b: Any) -> Any:
    return E.exp(b * math.log(2)) if b.dtype.kind == COMPLEX else E.exp2(b)


def _ldexp(a: Any, b: Any) -> Any:
    """In two steps: 2 ** b alone overflows earlier than the result."""
    if a.dtype.kind == COMPLEX:
        return a * _two_to(b)
    h = E.floor(b * 0.5)
    return a * _two_to(h) * _two_to(b - h)


ldexp = elementwise("ldexp(Tensor self, Tensor other) -> Tensor", _ldexp, lambda g, out, a, b: (g * _two_to(b).conj(), g * (out * math.log(2)).conj()),
                    promote=TO_FLOAT, ref=lambda a, b: a * np.power(2.0, b), ulp=16.0, doc="self * 2 ** other.")
logaddexp2 = elementwise("logaddexp2(Tensor self, Tensor other) -> Tensor",
                         lambda a, b: E.where(E.eq(a, b) & E.isinf(a), a, E.max(a, b) + E.log1p(E.exp2(-E.abs(a - b))) * (1 / math.log(2))),
                         lambda g, out, a, b: (_share(g, E.max(a, b), b - a), _share(g, E.max(a, b), a - b)), dtypes="f", ref=np.logaddexp2, special=POINTS,
                         doc="log2(2 ** self + 2 ** other) without overflow.")


def _share(g: Any, top: Any, lead: Any) -> Any:
    """One operand's share of the gradient; none where both are -inf."""
    return E.where(E.eq(top, -math.inf), 0.0, g / (1 + E.exp2(lead)))


def _doubled(x: Any) -> Any:
    return E.cast(x, dtypes.complex128) if x.dtype.kind == COMPLEX else x


def _float_power_vjp(g: Any, out: Any, a: Any, b: Any) -> Any:
    from tensorx.ops.arithmetic import _pow_vjp
    return _pow_vjp(g, out, _doubled(a), _doubled(b))


float_power = elementwise("float_power(Tensor self, Tensor exponent) -> Tensor", lambda a, b: E.pow(_doubled(a), _doubled(b)), _float_power_vjp,
                          promote=TO_DOUBLE, dtypes="bifc", baked=E.EXPONENTS, domain=((0.5, 3.0), (0.0, 2.0)), ref=lambda a, b: np.power(a * 1.0, b), ulp=16.0,
                          doc="self to the power exponent in double precision.")

# neighbours


#: By dtype code: the step between neighbours as bits of the dtype that computes, and the smallest number.
_STEPS = {"f16": (1 << 13, 2.0**-24), "bf16": (1 << 16, 2.0**-133), "f32": (1, 2.0**-149), "f64": (1, 5e-324)}


def _outward(x: Any, code: str, outward: Any) -> Any:
    """The next number away from zero, or towards it, by its bits."""
    unit = _STEPS[code][0]
    i = E.bits(x, dtypes.int64 if code == "f64" else dtypes.int32)
    y = E.bits(E.where(outward, i + unit, i - unit), x.dtype)
    if code != "f16":
        return y
    small = E.where((x > 0) ^ outward, x - 2.0**-24, x + 2.0**-24)  # f16's denormal numbers are normal ones in f32
    y = E.where(E.abs(x) <= 2.0**-14, small, y)
    return E.where(E.isinf(x), E.where(x > 0, 65504.0, E.const(-65504.0, x.dtype)), y)


def _np_neighbour(half: str) -> Any:
    """Of the halves exactly; of float32 and float64, which an oracle in float64 cannot tell apart, within the row's ulp."""
    def ref(a: Any, b: Any) -> Any:
        d = dtypes.FROM_CODE[half].np
        return np.nextafter(a.astype(d), b.astype(d)).astype(np.float64)
    return ref if half else lambda a, b: a


def _neighbour(name: str, half: str) -> Any:
    def body(a: Any, b: Any) -> Any:
        code = half or a.dtype.code
        first = E.copysign(E.const(_STEPS[code][1], a.dtype), b)
        y = E.where(E.eq(a, 0), first, _outward(a, code, (a < b) ^ (a < 0)))
        return E.where(E.isnan(a) | E.isnan(b), a + b, E.where(E.eq(a, b), b, y))

    def samples(t: Any) -> list[Any]:
        mine = t.dtype.code == half or (not half and t.dtype.code in ("f32", "f64"))
        return [(t((3, 4), 0.5, 1), t((3, 4), -1, 0.4)), (t((3, 4), 0.5, 1), t((4,), 3, 4))] if mine else []
    return elementwise(f"{name}(Tensor self, Tensor other) -> Tensor", body, lambda g, out, a, b: (g, zero(g)), dtypes="f", ref=_np_neighbour(half), ulp=2.0,
                       samples=samples, doc=f"nextafter of {half or 'float32 and float64'}.")


_NEIGHBOURS = {half: _neighbour(f"_nextafter{half}", half) for half in ("", "f16", "bf16")}


@composite("nextafter(Tensor self, Tensor other) -> Tensor", dtypes="f", ref=lambda a, b: a, ulp=2.0,
           samples=lambda t: [(t((3, 4), 0.5, 1), t((3, 4), -1, 0.4)), (t((3, 4), 0.5, 1), t((4,), 3, 4))],
           doc="The next number that the dtype holds from self towards other.")
def nextafter(a: Tensor, b: Tensor) -> Any:
    code = dtypes.promote_types(a.dtype, b.dtype).code
    return _NEIGHBOURS[code if code in ("f16", "bf16") else ""](a, b)


METHODS: dict[str, Any] = {"nextafter_": lambda self, other: self.copy_(nextafter(self, other))}

# signs and steps


def _sgn(x: Any) -> Any:
    if x.dtype.kind != COMPLEX:
        return sign.body(x)
    size = E.abs(x)
    unit = E.where(E.eq(size, 0), 0.0, 1 / E.where(E.eq(size, 0), 1.0, size))
    return E.complex(E.real(x) * unit, E.imag(x) * unit)


def _sgn_vjp(g: Any, out: Any, x: Any) -> Any:
    """What of the cotangent turns the unit number; nothing for a real one."""
    if x.dtype.kind != COMPLEX:
        return zero(g)
    size = E.abs(x)
    unit = E.where(E.eq(size, 0), 0.0, 1 / E.where(E.eq(size, 0), 1.0, size))
    along = E.real(g) * E.real(out) + E.imag(g) * E.imag(out)
    return E.complex((E.real(g) - along * E.real(out)) * unit, (E.imag(g) - along * E.imag(out)) * unit)


sgn = elementwise("sgn(Tensor self) -> Tensor", _sgn, _sgn_vjp, ref=lambda x: _np_sgn(x), special=POINTS, ulp=16.0,
                  doc="self / abs(self), and 0 at 0: the sign of a real number, the direction of a complex one.")


def _np_sgn(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))
    return np.where(np.isnan(x), 0, np.sign(x * 1))


def _infinite(name: str, value: float) -> Any:
    def body(x: Any) -> Any:
        if x.dtype.kind == COMPLEX:
            raise DTypeError(f"{name} does not support complex inputs.")
        return E.eq(x, value) if x.dtype.kind == FLOAT else E.const(False, dtypes.bool_)
    return body


isposinf = elementwise("isposinf(Tensor self) -> Tensor", _infinite("isposinf", math.inf), promote=TO_BOOL, dtypes="bif", special=POINTS, ref=lambda x: x == np.inf,
                       doc="True for positive infinity.")
isneginf = elementwise("isneginf(Tensor self) -> Tensor", _infinite("isneginf", -math.inf), promote=TO_BOOL, dtypes="bif", special=POINTS, ref=lambda x: x == -np.inf,
                       doc="True for negative infinity.")


def _heaviside(x: Any, values: Any) -> Any:
    if given(x) is not given(values):
        raise DTypeError("heaviside is not yet implemented for tensors with different dtypes.")
    step = x if x.dtype.kind == BOOL else E.where(x > 0, E.const(1, x.dtype), 0)
    return E.where(E.eq(x, 0), values, step)


heaviside = elementwise("heaviside(Tensor self, Tensor values) -> Tensor", _heaviside, lambda g, out, x, v: (NotImplemented, NotImplemented), dtypes="bif",
                        samples=lambda t: [(t((3, 4)), t((4,)))], ref=lambda x, v: np.where(x == 0, v, x > 0),
                        doc="0 below 0, 1 above it, values at 0.")
true_divide = elementwise("true_divide(Tensor self, Tensor other) -> Tensor", div.body, div.vjp, promote=TO_FLOAT, ref=np.true_divide,
                          domain=((-3.0, 3.0), (1.0, 3.0)), doc="Another name of div.")
