"""Random numbers as Expr: Philox4x32-10 and exact transforms, the same bits in every lane and on every device.

Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11) keyed on the seed; the counter is (element
index, reserved offset). Everything after it uses only integer operations, exact conversions, additions and multiplications in a fixed
order, so no device's sqrt, division or logarithm can change a bit.
"""

from __future__ import annotations

import math

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import dtype
from tensorx.ops import expr as E

U32, U64 = dtypes.uint32, dtypes.uint64
MULTIPLIERS, WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


def _c(value: int) -> E.Expr:
    return E.const(value, U32)


def words(seed: E.Expr, offset: E.Expr, at: E.Expr | None = None) -> tuple[E.Expr, E.Expr, E.Expr, E.Expr]:
    """Four random 32-bit words for this element, or for that of number ``at``. All are u64."""
    def halves(x: E.Expr) -> tuple[E.Expr, E.Expr]:
        return E.cast(x, U32), E.cast(x >> E.const(32, U64), U32)
    c0, c1 = halves(E.index() if at is None else at)
    c2, c3 = halves(offset)
    k0, k1 = halves(seed)
    for i in range(10):
        if i:
            k0, k1 = k0 + _c(WEYL[0]), k1 + _c(WEYL[1])
        a, b = _c(MULTIPLIERS[0]), _c(MULTIPLIERS[1])
        c0, c1, c2, c3 = E.mulhi(b, c2) ^ c1 ^ k0, b * c2, E.mulhi(a, c0) ^ c3 ^ k1, a * c0
    return c0, c1, c2, c3


def uniform(d: dtype, seed: E.Expr, offset: E.Expr, at: E.Expr | None = None) -> E.Expr:
    """A number in [0, 1) with as many random bits as ``d`` has in its significand."""
    w = words(seed, offset, at)
    if d is dtypes.float64:
        high, low = E.cast(w[0] >> _c(5), dtypes.float64), E.cast(w[1] >> _c(6), dtypes.float64)
        return (high * 2.0**26 + low) * 2.0**-53
    bits = {"f16": 11, "bf16": 8}.get(d.code, 24)
    return E.cast(w[0] >> _c(32 - bits), dtypes.float32) * 2.0**-bits


def integer(seed: E.Expr, offset: E.Expr, span: E.Expr) -> E.Expr:
    """A u64 in [0, span) (by remainder: the bias is below span / 2**64)."""
    w = words(seed, offset)
    return E.remainder(E.cast(w[0], U64) | (E.cast(w[1], U64) << E.const(32, U64)), span)


def _horner(x: E.Expr, coefficients: list[float]) -> E.Expr:
    result = E.const(coefficients[-1], x.dtype)
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def _log_series(terms: int) -> list[float]:
    """g of log(1 + f) = f + f^2 g(f), by Taylor."""
    return [(-1.0) ** (k + 1) / (k + 2) for k in range(terms)]


def log(x: E.Expr) -> E.Expr:
    """log of a normal number in (0, 1]: exponent from the bits, then three exact halvings of the interval and a short series."""
    double = x.dtype is dtypes.float64
    integer_, mantissa, bias = (dtypes.uint64, 52, 1023) if double else (dtypes.uint32, 23, 127)
    bits = E.bits(x, integer_)
    exponent = E.cast(E.cast(bits >> E.const(mantissa, integer_), dtypes.int32) - E.const(bias, dtypes.int32), x.dtype)
    m = E.bits((bits & E.const((1 << mantissa) - 1, integer_)) | E.const(bias << mantissa, integer_), x.dtype)
    total = exponent * math.log(2)
    for step in (2 ** 0.5, 2 ** 0.25, 2 ** 0.125, 2 ** 0.0625, 2 ** 0.03125):
        scale = float(np.float32(1 / step))
        take = m >= step
        m = E.where(take, m * scale, m)
        total = E.where(take, total - math.log(scale), total)
    f = m - 1
    return total + (f + f * f * _horner(f, _log_series(10 if double else 4)))


def sqrt(x: E.Expr) -> E.Expr:
    """sqrt by Newton's iteration for 1 / sqrt from a bit-level guess; 0 gives 0."""
    double = x.dtype is dtypes.float64
    integer_, magic = (dtypes.uint64, 0x5FE6EB50C7B537A9) if double else (dtypes.uint32, 0x5F3759DF)
    y = E.bits(E.const(magic, integer_) - (E.bits(x, integer_) >> E.const(1, integer_)), x.dtype)
    half = x * 0.5
    for _ in range(5 if double else 4):
        y = y * (1.5 - half * y * y)
    return x * y


def reciprocal(x: E.Expr) -> E.Expr:
    """1 / x of a positive normal number by Newton's iteration from a bit-level guess; huge for 0."""
    double = x.dtype is dtypes.float64
    integer_, magic = (dtypes.uint64, 0x7FDE623822FC16E6) if double else (dtypes.uint32, 0x7EF311C7)
    y = E.bits(E.const(magic, integer_) - E.bits(x, integer_), x.dtype)
    for _ in range(5 if double else 4):
        y = y * (2 - x * y)
    return y


def exp(x: E.Expr) -> E.Expr:
    """e**x: the exponent from the nearest multiple of log 2, the rest by Taylor; infinity and 0 outside of the normal range."""
    double = x.dtype is dtypes.float64
    integer_, mantissa, bias = (dtypes.int64, 52, 1023) if double else (dtypes.int32, 23, 127)
    n = E.floor(x * (1 / math.log(2)) + 0.5)
    high = 0.693145751953125  # log 2 to 17 bits, so that n * high is exact
    r = (x - n * high) - n * (math.log(2) - high)
    series = _horner(r, [1 / math.factorial(k) for k in range(14 if double else 8)])
    fits = (n > 1 - bias) & (n <= bias)
    scale = E.bits((E.cast(E.where(fits, n, 0.0), integer_) + E.const(bias, integer_)) << E.const(mantissa, integer_), x.dtype)
    return E.where(fits, series * scale, E.where(n > 0, E.const(math.inf, x.dtype), 0.0))


def angle(word: E.Expr, d: dtype) -> tuple[E.Expr, E.Expr]:
    """(cosine, sine) of an angle in (0, pi/2), both positive: the word's top bits, and half a step more."""
    phi = (E.cast(word >> _c(8), d) + 0.5) * (math.pi / 2 / 2**24)
    p = phi * phi
    terms = 12 if d is dtypes.float64 else 7
    return (_horner(p, [(-1.0) ** k / math.factorial(2 * k) for k in range(terms + 1)]),
            phi * _horner(p, [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(terms)]))


def cauchy(d: dtype, seed: E.Expr, offset: E.Expr) -> E.Expr:
    """A standard Cauchy number: the tangent of a uniform angle, its sign from a word of its own."""
    w = words(seed, offset)
    work = d if d is dtypes.float64 else dtypes.float32
    low = E.cast(w[1] >> _c(9), work) < 2.0**22  # near pi/2 the cosine cancels: take the reciprocal of the tangent near 0
    c, s = angle(w[0] >> _c(1), work)  # in (0, pi/4)
    small = s * reciprocal(c)
    value = E.where(low, small, reciprocal(small))
    return E.where(E.eq(w[2] & _c(1), _c(0)), value, -value)


def cosine(word: E.Expr, d: dtype) -> E.Expr:
    """cos of an angle that is uniform on the circle: the word's top bits are the quadrant and the place in it."""
    turn = word >> _c(8)
    quadrant = (turn + _c(1 << 21)) >> _c(22)
    rest = E.cast(turn, dtypes.int32) - E.cast(quadrant << _c(22), dtypes.int32)
    phi = E.cast(rest, d) * (2 * math.pi / 2**24)
    p = phi * phi
    terms = 9 if d is dtypes.float64 else 5
    sine = phi * _horner(p, [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(terms)])
    cos = _horner(p, [(-1.0) ** k / math.factorial(2 * k) for k in range(terms + 1)])
    q = quadrant & _c(3)
    value = E.where(E.eq(q & _c(1), _c(0)), cos, sine)
    return E.where(E.eq(q, _c(1)) | E.eq(q, _c(2)), -value, value)


def normal(d: dtype, seed: E.Expr, offset: E.Expr) -> E.Expr:
    """A standard normal number (Box and Muller, 1958)."""
    w = words(seed, offset)
    if d is dtypes.float64:
        u = (E.cast(w[0] >> _c(5), d) * 2.0**26 + E.cast(w[2] >> _c(6), d) + 1) * 2.0**-53
        return sqrt(log(u) * -2.0) * cosine(w[1], d)
    u = (E.cast(w[0] >> _c(8), dtypes.float32) + 1) * 2.0**-24
    return sqrt(log(u) * -2.0) * cosine(w[1], dtypes.float32)
