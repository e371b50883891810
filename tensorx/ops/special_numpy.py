"""Special functions of the NumPy lane: SciPy's, in the operands' dtype and with PyTorch's corners. Imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, Any]


def _same(f: Callable[..., Any]) -> Callable[..., Array]:
    """The result in the first operand's dtype; SciPy has some functions in double precision alone."""
    def run(*operands: Array) -> Array:
        return np.asarray(f(*operands)).astype(operands[0].dtype, copy=False)
    return run


def _at_infinity(f: Callable[..., Any], value: Callable[[Array], Any]) -> Callable[..., Array]:
    """SciPy has NaN, or another sign, there."""
    return lambda x: np.where(np.isinf(x), value(x), f(x))


def _airy(x: Array) -> Array:
    found = special.airy(x)[0]
    return np.where(np.isinf(x), np.where(x > 0, 0.0, np.nan), np.where(x > 104, 0.0, found))


def _digamma(x: Array) -> Array:
    return np.where(x == 0, np.copysign(np.inf, -x), np.where((x < 0) & (x == np.floor(x)), np.nan, special.digamma(x)))


def _trigamma(x: Array) -> Array:
    """By reflection for small arguments, where SciPy's zeta is not defined."""
    wide = x.astype(np.float64)
    f = wide - np.rint(wide)
    low = np.where(f == 0, np.inf, (np.pi / np.sin(np.pi * f)) ** 2) - special.zeta(2.0, 1 - np.minimum(wide, 0.5))
    return np.where(wide < 0.5, low, special.zeta(2.0, np.maximum(wide, 0.5)))


def _zeta(s: Array, q: Array) -> Array:
    """A negative ``q`` is moved to the right, term by term."""
    s, q = np.broadcast_arrays(s.astype(np.float64), q.astype(np.float64))
    whole = s == np.floor(s)
    steps = np.where(np.isfinite(q) & (q < 0), np.ceil(-np.maximum(q, -1e4)), 0.0)
    found = special.zeta(s, q + steps)
    for k in range(int(steps.max(initial=0))):
        found = np.where(k < steps, found + np.power(q + k, -s), found)
    found = np.where(q <= 0, np.where(q == np.floor(q), np.inf, np.where(whole, found, np.nan)), found)
    return np.where(s == 1, np.inf, np.where(s > 1, found, np.nan))


def _edges(lower: bool) -> Callable[[Array, Array], Array]:
    f = special.gammainc if lower else special.gammaincc

    def run(a: Array, x: Array) -> Array:
        found = f(a, x)
        return np.where((a == 0) & ~(x > 0), np.nan, found)
    return run


def _degree(f: Callable[..., Any]) -> Callable[[Array, Array], Array]:
    """A polynomial of whole degree; 0 for a negative one."""
    def run(x: Array, n: Array) -> Array:
        degree = np.trunc(n).astype(np.int64)
        found = f(np.maximum(degree, 0), x.astype(np.float64))
        return np.where(degree < 0, 0.0, np.where(degree == 0, 1.0, found))
    return run


def _u(n: Array, x: Array) -> Array:
    return special.eval_chebyu(n, x)  # type: ignore[no-any-return]


def _gcd(a: Array, b: Array) -> Array:
    return np.gcd(a, b)  # type: ignore[no-any-return]


def _frexp(x: Array) -> tuple[Array, Array]:
    m, e = np.frexp(x)
    return m, np.where(np.isfinite(x), e, 0)


digamma, trigamma, zeta = _same(_digamma), _same(_trigamma), _same(_zeta)
erfinv, erfcx, ndtri = _same(special.erfinv), _same(special.erfcx), _same(special.ndtri)
lgamma = _same(_at_infinity(special.gammaln, np.abs))
i0, i1 = _same(_at_infinity(special.i0, np.abs)), _same(_at_infinity(special.i1, np.positive))
i0e, i1e = (_same(f) for f in (special.i0e, special.i1e))
k0, k0e, k1, k1e = (_same(f) for f in (special.k0, special.k0e, special.k1, special.k1e))
j0, j1, y0, y1 = (_same(f) for f in (special.j0, special.j1, special.y0, special.y1))
airy_ai, igamma, igammac = _same(_airy), _same(_edges(True)), _same(_edges(False))
frexpm, frexpe = _same(lambda x: _frexp(x)[0]), _same(lambda x: _frexp(x)[1])
gcd = _same(_gcd)
chebyshev_t, chebyshev_u = _same(_degree(special.eval_chebyt)), _same(_degree(_u))
chebyshev_v, chebyshev_w = (_same(_degree(lambda n, x, way=way: _u(n, x) + way * _u(n - 1, x))) for way in (-1, 1))
hermite_h, hermite_he = _same(_degree(special.eval_hermite)), _same(_degree(special.eval_hermitenorm))
laguerre, legendre = _same(_degree(special.eval_laguerre)), _same(_degree(special.eval_legendre))
