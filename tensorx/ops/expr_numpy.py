"""The NumPy interpreter of Expr: a DAG becomes one Python function over arrays.

This is the lane for small cpu work and for machines without a compiler. Integer corners (shift counts, division by zero, float to
int out of range) are those of the kernels' prelude, so no result depends on the lane.
"""

from __future__ import annotations

import contextvars
import importlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import BOOL, COMPLEX, FLOAT, INT, dtype
from tensorx.ops import expr as E

Array = np.ndarray[Any, Any]


def _shl(x: Array, n: Array) -> Array:
    width = x.dtype.itemsize * 8
    return np.where((n >= 0) & (n < width), np.left_shift(x, n), np.zeros((), x.dtype))


def _shr(x: Array, n: Array) -> Array:
    width = x.dtype.itemsize * 8
    return np.where((n >= 0) & (n < width), np.right_shift(x, n), np.right_shift(x, np.array(width - 1, x.dtype)) * (x < 0))


def _mulhi(a: Array, b: Array) -> Array:
    return ((a.astype(np.uint64) * b) >> np.uint64(32)).astype(np.uint32)


def _truncdiv(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.trunc(np.divide(a, b))
    q, r = np.floor_divide(a, b), np.remainder(a, b)
    return q + ((r != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    """An exact zero keeps the sign of ``a``, as in C and PyTorch; NumPy gives it that of ``b``."""
    if a.dtype.kind != "f":
        return np.remainder(a, b)
    r = np.fmod(a, b)
    return np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


def _ipow(a: Array, b: Array) -> Array:
    one = np.ones((), a.dtype)
    if a.dtype.kind == "u":
        return np.power(a, b)
    negative = np.where(a == 1, one, np.where(a == -1, np.where((b & 1) == 0, one, -one), np.zeros((), a.dtype)))
    return np.where(b < 0, negative, np.power(a, np.maximum(b, 0)))


def _pow(a: Array, b: Array) -> Array:
    if a.dtype.kind == "c":
        return np.where((a == 0) & (b.real < 0), np.array(complex(np.inf, np.nan), a.dtype), np.power(a, b))
    return np.power(a, b) if a.dtype.kind == "f" else _ipow(a, b)


def _sign(x: Array) -> Array:  # 0 for NaN, as PyTorch; np.sign keeps it
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype) if x.dtype.kind in "fi" else (x != 0).astype(x.dtype)


def _complex(re: Array, im: Array) -> Array:
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.result_type(re, np.complex64))
    out.real, out.imag = re, im
    return out


def _rsqrt(x: Array) -> Array:
    return np.divide(np.ones((), x.dtype), np.sqrt(x))


def _signbit(x: Array) -> Array:
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


def _isinf(x: Array) -> Array:
    return np.isinf(x)


def _row(reduce: Any) -> Callable[[Array], Array]:
    """A reduction along the row, the last axis."""
    def run(x: Array) -> Array:
        if not x.flags.c_contiguous:  # NumPy sums pairwise only along a contiguous axis
            x = np.ascontiguousarray(x)
        return reduce(x, axis=-1, keepdims=True)
    return run


def _limit(x: Array, sign: int) -> Any:
    """The neutral element of max (sign -1) or min (sign 1)."""
    if x.dtype.kind == "f":
        return sign * np.inf
    if x.dtype.kind == "b":
        return sign > 0
    info = np.iinfo(x.dtype)
    return info.max if sign > 0 else info.min


def _row_max(x: Array) -> Array:
    return np.max(x, axis=-1, keepdims=True, initial=_limit(x, -1))


def _row_min(x: Array) -> Array:
    return np.min(x, axis=-1, keepdims=True, initial=_limit(x, 1))


def _special(name: str) -> Callable[..., Array]:
    """SciPy's, imported on first use; it has single-precision versions of these."""
    def run(*operands: Array) -> Array:
        return getattr(importlib.import_module("scipy.special"), name)(*operands)
    return run


def _late(name: str) -> Callable[..., Array]:
    """A routine of `special_numpy`, which imports SciPy."""
    def run(*operands: Array) -> Array:
        return getattr(importlib.import_module("tensorx.ops.special_numpy"), name)(*operands)
    return run


def _fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c with one rounding: in f32 by way of f64, in f64 by the errors of product and sum (Dekker 1971; Knuth 1969)."""
    if np.result_type(a, b, c) != np.float64:
        return (np.float64(1) * a * b + c).astype(np.float32)
    product = a * b
    high, low = _split(a), _split(b)
    error = ((high[0] * low[0] - product) + high[0] * low[1] + high[1] * low[0]) + high[1] * low[1]
    total = product + c
    part = total - product
    fused = total + (((product - (total - part)) + (c - part)) + error)
    return np.where(np.isfinite(fused), fused, total)


def _split(x: Array) -> tuple[Array, Array]:
    scaled = 134217729.0 * x  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "neg": np.negative, "abs": np.abs, "sign": _sign, "conj": np.conjugate, "bitwise_not": np.invert, "logical_not": np.logical_not,
    "exp2": np.exp2, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "round": np.rint, "rsqrt": _rsqrt, "erf": _special("erf"), "erfc": _special("erfc"),
    "isinf": _isinf, "signbit": _signbit,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floordiv": np.floor_divide, "remainder": _remainder,
    "fmod": np.fmod, "truncdiv": _truncdiv, "pow": _pow, "max": np.maximum, "min": np.minimum, "atan2": np.arctan2, "copysign": np.copysign,
    "shl": _shl, "shr": _shr, "mulhi": _mulhi, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "where": np.where, "fma": _fma, "real": np.real, "imag": np.imag, "cabs": np.abs, "complex": _complex,
    "row_sum": _row(np.add.reduce), "row_prod": _row(np.multiply.reduce), "row_max": _row_max, "row_min": _row_min,
    "row_any": _row(np.any), "row_all": _row(np.all), "row_argmax": _row(np.argmax), "row_argmin": _row(np.argmin),
}
BOOLEAN = {"add": np.logical_or, "mul": np.logical_and}  # NumPy has no + and * of bool arrays that are defined as we want
FUNCTIONS |= {n: _late(n) for n in (
    "lgamma digamma trigamma erfinv erfcx ndtri i0 i0e i1 i1e k0 k0e k1 k1e j0 j1 y0 y1 airy_ai frexpm frexpe zeta igamma igammac gcd chebyshev_t chebyshev_u "
    "chebyshev_v chebyshev_w hermite_h hermite_he laguerre legendre").split()}
FUNCTIONS |= {n: getattr(np, n) for n in "exp expm1 log log2 log10 log1p sqrt sin cos sinh cosh tanh floor ceil trunc isnan isfinite hypot".split()}


def _cast(to: dtype, source: dtype) -> Callable[[Array], Array]:
    target = to.np
    if to.kind == BOOL:
        return lambda x: np.not_equal(x, 0)
    if source.kind == FLOAT and to.kind == INT and to.itemsize < 4:
        return lambda x: x.astype(np.int32).astype(target)
    if source.kind == FLOAT and to.kind == INT and not to.is_signed:
        return lambda x: x.astype(np.int64).astype(target)
    return lambda x: x.astype(target)


def _bits(to: dtype) -> Callable[[Array], Array]:
    return lambda x: x.view(to.np)


def compile(outputs: Sequence[E.Expr], inputs: Sequence[dtype], stores: Sequence[dtype], scalars: int) -> Callable[..., Any]:
    """A function of (input arrays in their storage dtypes, 0-d scalar arrays, [index array], [count]) that gives the output arrays.

    One output comes bare, several as a tuple. The function must run where floating-point warnings are off: see `quietly`.
    """
    exprs = [E.cast(x, d) for x, d in zip(outputs, stores, strict=True)]
    root = exprs[0]
    if len(exprs) == 1 and isinstance(FUNCTIONS.get(root.op), np.ufunc) and not (root.dtype.kind == BOOL and root.op in BOOLEAN):
        order = [("arg", i) for i in range(len(inputs))] + [("scalar", i) for i in range(scalars)]
        if [(a.op, a.attr) for a in root.args] == order and all(a.dtype is inputs[a.attr] for a in root.args if a.op == "arg"):
            return FUNCTIONS[root.op]  # the ufunc itself needs no Python frame
    names: dict[E.Expr, str] = {}
    env: dict[str, Any] = {}
    lines: list[str] = []
    params = [f"x{i}" for i in range(len(inputs))] + [f"s{i}" for i in range(scalars)] + ["index=None", "count=None"]
    for node in E.topological(exprs):
        names[node] = _statement(node, names, env, lines, inputs)
    result = ", ".join(names[x] for x in exprs)
    code = f"def run({', '.join(params)}):\n    " + "\n    ".join([*lines, f"return {result}"])
    exec(code, env)
    return env["run"]


def _statement(node: E.Expr, names: dict[E.Expr, str], env: dict[str, Any], lines: list[str], inputs: Sequence[dtype]) -> str:
    """Emit one node; answer the name of its value."""
    target = f"t{len(names)}"
    if node.op == "const":
        env[target] = np.array(node.attr, node.dtype.np)
        return target
    if node.op == "index":
        return "index"
    if node.op in ("count", "place"):
        lines.append(f"{target} = {'array' if node.op == 'count' else 'arange'}(count, dtype=dt_{target})")
        env[f"dt_{target}"], env["array"], env["arange"] = node.dtype.np, np.array, np.arange
        return target
    if node.op == "scalar":
        return f"s{node.attr}"
    function: Callable[..., Any]
    if node.op == "arg":
        if inputs[node.attr] is node.dtype:
            return f"x{node.attr}"
        function, operands = _cast(node.dtype, inputs[node.attr]), f"x{node.attr}"
    else:
        operands = ", ".join(names[a] for a in node.args)
        if node.op == "cast":
            function = _cast(node.dtype, node.args[0].dtype)
        elif node.op == "bits":
            function = _bits(node.dtype)
        else:
            function = FUNCTIONS[node.op]
            if node.dtype.kind == BOOL and node.op in BOOLEAN:
                function = BOOLEAN[node.op]
    env[f"f{target}"] = function
    lines.append(f"{target} = f{target}({operands})")
    return target


class _Quiet(threading.local):
    """A context a thread in which NumPy's floating-point warnings are off: entering one costs a tenth of ``np.errstate``."""

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


quiet = _Quiet()


def quietly(function: Callable[..., Any], *operands: Any) -> Any:
    """Call ``function`` with NumPy's floating-point warnings off (IEEE results are what tensors promise)."""
    try:
        return quiet.run(function, *operands)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        return function(*operands)  # a finalizer that the collector runs within the context: warnings are off already


__all__ = ["COMPLEX", "compile", "dtypes", "quiet", "quietly"]
