"""Complex arithmetic as pairs of real Exprs: OpenCL C and CUDA C have no complex operators.

Formulas are the textbook ones; division scales by the larger component (Smith, CACM 1962), the absolute value is hypot.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorx.dtypes import COMPLEX
from tensorx.ops import expr as E

Pair = tuple[E.Expr, E.Expr]


def _mul(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _div(a: Pair, b: Pair) -> Pair:
    wide = E.abs(b[0]) >= E.abs(b[1])
    big, small = E.where(wide, b[0], b[1]), E.where(wide, b[1], b[0])
    r = small / big
    den = big + small * r
    re = E.where(wide, a[0] + a[1] * r, a[0] * r + a[1]) / den
    im = E.where(wide, a[1] - a[0] * r, a[1] * r - a[0]) / den
    by_zero = E.eq(big, 0)  # infinities, and NaN only of 0 / 0
    return E.where(by_zero, a[0] / E.abs(big), re), E.where(by_zero, a[1] / E.abs(big), im)


def _exp(a: Pair) -> Pair:
    scale, vanishes = E.exp(a[0]), E.eq(a[0], -math.inf)  # at any angle (C99, G.6.3.1)
    return E.where(vanishes, 0.0, scale * E.cos(a[1])), E.where(vanishes, 0.0, E.where(E.eq(a[1], 0), a[1], scale * E.sin(a[1])))


def _log(a: Pair) -> Pair:
    return E.log(E.hypot(*a)), E.atan2(a[1], a[0])


def _sqrt(a: Pair) -> Pair:
    """Kahan's: t = sqrt((|re| + |z|) / 2), the other component is im / (2 t)."""
    t = E.sqrt((E.abs(a[0]) + E.hypot(*a)) * 0.5)
    other = E.where(E.eq(t, 0), t, a[1] / (t * 2))
    positive = a[0] >= 0
    return E.where(positive, t, E.abs(other)), E.where(positive, other, E.copysign(t, a[1]))


def _pow(a: Pair, b: Pair) -> Pair:
    la, zero = _log(a), E.eq(E.hypot(*a), 0)
    re, im = _exp(_mul(la, b))
    unit, falls = E.eq(b[0], 0) & E.eq(b[1], 0), b[0] > 0
    nan = E.const(math.nan, b[0].dtype)
    of_zero = E.where(falls, 0.0, E.where(b[0] < 0, math.inf, nan)), E.where(falls, 0.0, nan)
    return E.where(unit, 1.0, E.where(zero, of_zero[0], re)), E.where(unit, 0.0, E.where(zero, of_zero[1], im))


def _swapped(a: Pair) -> Pair:
    """-i a: tan(z) = -i tanh(i z)."""
    return a[1], -a[0]


def _times(a: Pair, c: float) -> Pair:
    return a[0] * c, a[1] * c


def _tanh(a: Pair) -> Pair:
    """tanh(x + iy) = (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), which saturates for |x| large."""
    x = E.min(E.max(a[0], -20.0), 20.0)
    den = E.cosh(x * 2) + E.cos(a[1] * 2)
    return E.sinh(x * 2) / den, E.sin(a[1] * 2) / den


RULES: dict[str, Callable[..., Pair]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]), "sub": lambda a, b: (a[0] - b[0], a[1] - b[1]), "mul": _mul, "div": _div,
    "neg": lambda a: (-a[0], -a[1]), "conj": lambda a: (a[0], -a[1]), "exp": _exp, "log": _log, "sqrt": _sqrt, "pow": _pow, "tanh": _tanh,
    "sinh": lambda a: (E.sinh(a[0]) * E.cos(a[1]), E.cosh(a[0]) * E.sin(a[1])),
    "cosh": lambda a: (E.cosh(a[0]) * E.cos(a[1]), E.sinh(a[0]) * E.sin(a[1])),
    "tan": lambda a: _swapped(_tanh((-a[1], a[0]))),
    "rsqrt": lambda a: _div((E.const(1, a[0].dtype), E.const(0, a[0].dtype)), _sqrt(a)),
    "log2": lambda a: _times(_log(a), 1 / math.log(2)), "log10": lambda a: _times(_log(a), 1 / math.log(10)),
    "sin": lambda a: (E.sin(a[0]) * E.cosh(a[1]), E.cos(a[0]) * E.sinh(a[1])),
    "cos": lambda a: (E.cos(a[0]) * E.cosh(a[1]), -(E.sin(a[0]) * E.sinh(a[1]))),
    "row_sum": lambda a: (E.row_sum(a[0]), E.row_sum(a[1])),
}
REAL_RESULT: dict[str, Callable[..., E.Expr]] = {
    "real": lambda a: a[0], "imag": lambda a: a[1], "cabs": lambda a: E.hypot(*a),
    "eq": lambda a, b: E.eq(a[0], b[0]) & E.eq(a[1], b[1]), "ne": lambda a, b: E.ne(a[0], b[0]) | E.ne(a[1], b[1]),
    "isnan": lambda a: E.isnan(a[0]) | E.isnan(a[1]), "isinf": lambda a: E.isinf(a[0]) | E.isinf(a[1]),
    "isfinite": lambda a: E.isfinite(a[0]) & E.isfinite(a[1]), "logical_not": lambda a: E.eq(a[0], 0) & E.eq(a[1], 0),
}


def split(x: E.Expr) -> list[E.Expr]:
    """``x`` over real leaves: [value], or [real, imaginary] for a complex Expr. Leaf ``x0`` becomes ``x0r`` and ``x0i``."""
    done: dict[E.Expr, list[E.Expr]] = {}
    for node in E.topological([x]):
        done[node] = _split(node, done)
    return done[x]


def _split(node: E.Expr, done: dict[E.Expr, list[E.Expr]]) -> list[E.Expr]:
    real = node.dtype.real
    args = [done[a] for a in node.args]
    if all(len(a) == 1 for a in args) and node.dtype.kind != COMPLEX:
        return [E._make(node.op, tuple(a[0] for a in args), node.dtype, node.attr)]
    pairs = [(a[0], a[1]) if len(a) == 2 else (a[0], E.const(0, a[0].dtype)) for a in args]
    if node.op in REAL_RESULT:
        return [REAL_RESULT[node.op](*pairs)]
    if node.op in ("arg", "scalar", "acc"):
        return [E._make(node.op, (), real, (node.attr, part)) for part in "ri"]
    if node.op == "const":
        return [E.const(node.attr.real, real), E.const(node.attr.imag, real)]
    if node.op == "count":
        return [E.count(real), E.const(0, real)]
    if node.op == "complex":
        return [args[0][0], args[1][0]]
    if node.op == "cast":
        return [E.cast(part, real) for part in pairs[0]]
    if node.op == "where":
        return [E.where(args[0][0], pairs[1][i], pairs[2][i]) for i in range(2)]
    if node.op not in RULES:
        raise TypeError(f"E.{node.op}: is not defined for complex operands")
    return list(RULES[node.op](*pairs))
