"""Expr: the typed, hash-consed DAG that op bodies and gradient rules are written over.

A body is Python over Expr: operators and the functions below (imported as ``E``). Tracing it with typed leaves gives a DAG in which
equal subexpressions are one node. Three interpreters read it: `expr_kernel` (dialect-neutral C text), `expr_numpy` (a Python function
over arrays) and `expr_tensor` (ops on Tensors, for double backward). Every intrinsic is one row of `INTRINSICS`.
"""

from __future__ import annotations

import math
import operator
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorx import dtypes
from tensorx.dtypes import BOOL, COMPLEX, FLOAT, INT, dtype
from tensorx.locks import Lock

Number = bool | int | float | complex


class Intrinsic(NamedTuple):
    """What the type system needs to know of an intrinsic: how its result's dtype follows, and which operands it accepts."""

    arity: int
    result: str  # 'index' (i64), 'same' (the promoted dtype), 'bool', 'real' (of a complex), 'complex' (of two reals), 'attr' (given at construction)
    floats: bool = False  # integer operands are refused: the row's promotion has made them floats before


def _table() -> dict[str, Intrinsic]:
    rows: dict[str, Intrinsic] = {}
    for name in "neg abs sign conj bitwise_not".split():
        rows[name] = Intrinsic(1, "same")
    for name in ("exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
                 "lgamma floor ceil trunc round digamma trigamma erfinv erfcx ndtri i0 i0e i1 i1e k0 k0e k1 k1e j0 j1 y0 y1 airy_ai frexpm frexpe").split():
        rows[name] = Intrinsic(1, "same", floats=True)
    for name in "isnan isinf isfinite signbit logical_not".split():
        rows[name] = Intrinsic(1, "bool")
    for name in "add sub mul floordiv remainder fmod truncdiv pow max min bitwise_and bitwise_or bitwise_xor shl shr mulhi".split():
        rows[name] = Intrinsic(2, "same")
    for name in ("div atan2 hypot copysign zeta igamma igammac chebyshev_t chebyshev_u chebyshev_v chebyshev_w hermite_h hermite_he laguerre "
                 "legendre").split():
        rows[name] = Intrinsic(2, "same", floats=True)
    rows["gcd"] = Intrinsic(2, "same")
    for name in "eq ne lt le gt ge".split():
        rows[name] = Intrinsic(2, "bool")
    rows |= {"fma": Intrinsic(3, "same", floats=True), "where": Intrinsic(3, "same"), "real": Intrinsic(1, "real"),
             "imag": Intrinsic(1, "real"), "cabs": Intrinsic(1, "real"), "complex": Intrinsic(2, "complex"), "cast": Intrinsic(1, "attr"),
             "bits": Intrinsic(1, "attr"),
             # reductions along the row of a REDUCE or ROWWISE body: one value a row
             "row_sum": Intrinsic(1, "same"), "row_prod": Intrinsic(1, "same"), "row_max": Intrinsic(1, "same"), "row_min": Intrinsic(1, "same"),
             "row_any": Intrinsic(1, "bool"), "row_all": Intrinsic(1, "bool"), "row_argmax": Intrinsic(1, "index"),
             "row_argmin": Intrinsic(1, "index")}
    return rows


INTRINSICS = _table()
LEAVES = ("arg", "scalar", "const", "index", "place", "count", "acc")


class Expr:
    """One node: an intrinsic (or a leaf) with its operands, a dtype, and an attribute (constant value, input number, target dtype)."""

    __slots__ = ("__weakref__", "args", "attr", "dtype", "op")
    op: str
    args: tuple[Expr, ...]
    dtype: dtype
    attr: Any

    def __repr__(self) -> str:
        return self.shown(6)

    def shown(self, depth: int) -> str:
        """The expression as text, down to a depth: as a tree a DAG may be exponentially large."""
        if self.op in ("arg", "scalar"):
            return f"{'xs'[self.op == 'scalar']}{self.attr}"
        if self.op == "const":
            return repr(self.attr)
        return f"{self.op}({', '.join(a.shown(depth - 1) for a in self.args) if depth else '...'})"

    def __bool__(self) -> bool:
        raise TypeError("Expr: a body must not branch on an element's value. Hint: use E.where(condition, a, b)")

    def __add__(self, o: Any) -> Expr: return add(self, o)
    def __radd__(self, o: Any) -> Expr: return add(o, self)
    def __sub__(self, o: Any) -> Expr: return sub(self, o)
    def __rsub__(self, o: Any) -> Expr: return sub(o, self)
    def __mul__(self, o: Any) -> Expr: return mul(self, o)
    def __rmul__(self, o: Any) -> Expr: return mul(o, self)
    def __truediv__(self, o: Any) -> Expr: return div(self, o)
    def __rtruediv__(self, o: Any) -> Expr: return div(o, self)
    def __pow__(self, o: Any) -> Expr: return pow(self, o)
    def __neg__(self) -> Expr: return neg(self)
    def __abs__(self) -> Expr: return abs(self)
    def __lt__(self, o: Any) -> Expr: return lt(self, o)
    def __le__(self, o: Any) -> Expr: return le(self, o)
    def __gt__(self, o: Any) -> Expr: return gt(self, o)
    def __ge__(self, o: Any) -> Expr: return ge(self, o)
    def __and__(self, o: Any) -> Expr: return bitwise_and(self, o)
    def __or__(self, o: Any) -> Expr: return bitwise_or(self, o)
    def __xor__(self, o: Any) -> Expr: return bitwise_xor(self, o)
    def __invert__(self) -> Expr: return bitwise_not(self)
    def __lshift__(self, o: Any) -> Expr: return shl(self, o)
    def __rshift__(self, o: Any) -> Expr: return shr(self, o)
    # equality stays identity, so that Exprs are dict keys: bodies write E.eq(a, b)

    def conj(self) -> Expr: return conj(self)
    def exp(self) -> Expr: return exp(self)
    def log(self) -> Expr: return log(self)
    def sqrt(self) -> Expr: return sqrt(self)
    def tanh(self) -> Expr: return tanh(self)


_lock = Lock()
_nodes: weakref.WeakValueDictionary[tuple[Any, ...], Expr] = weakref.WeakValueDictionary()


def _make(op: str, args: tuple[Expr, ...], d: dtype, attr: Any = None) -> Expr:
    shown = (type(attr), str(attr)) if op == "const" else attr  # 0.0 == -0.0 == False, and nan != nan
    key = (op, *map(id, args), d.id, shown)
    with _lock.mutex:
        node = _nodes.get(key)
        if node is None:
            node = Expr.__new__(Expr)
            node.op, node.args, node.dtype, node.attr = op, args, d, attr
            _nodes[key] = node
    return node


def arg(i: int, d: dtype) -> Expr:
    """Input ``i``'s element, already in its compute dtype ``d``."""
    return _make("arg", (), d, i)


def scalar(i: int, d: dtype) -> Expr:
    """Run-time scalar ``i``."""
    return _make("scalar", (), d, i)


def index() -> Expr:
    """The element's linear (row-major) index in the output, u64."""
    return _make("index", (), dtypes.uint64)


def place() -> Expr:
    """The element's place in its row, i64 (ROWWISE, and REDUCE bodies of several reductions)."""
    return _make("place", (), dtypes.int64)


def count(d: dtype) -> Expr:
    """The number of elements in the row (ROWWISE) or reduced (REDUCE)."""
    return _make("count", (), d)


def const(value: Number, d: dtype) -> Expr:
    """A constant of dtype ``d``."""
    if d.kind == COMPLEX:
        value = builtin_complex(value)
    elif d.kind == FLOAT:
        value = float(value)  # type: ignore[arg-type]  # a complex here is a TypeError that names itself
    elif d.kind == INT:
        value = int(value)  # type: ignore[arg-type]
    else:
        value = bool(value)
    return _make("const", (), d, value)


builtin_complex = complex


def _promoted(name: str, operands: Iterable[Any]) -> list[Expr]:
    """Bring operands to one dtype: Python numbers are weak, as in the ops themselves."""
    items = list(operands)
    exprs = [x.dtype for x in items if isinstance(x, Expr)]
    if not exprs:
        raise TypeError(f"E.{name}: needs at least one Expr; got {items!r}")
    numbers = [dtypes.of_python(x) for x in items if not isinstance(x, Expr)]
    common = dtypes.promote(exprs, [], numbers)
    if INTRINSICS[name].floats and common.kind <= INT:
        common = dtypes.float32
    return [cast(x, common) if isinstance(x, Expr) else const(x, common) for x in items]


def apply(name: str, *operands: Any, attr: Any = None) -> Expr:
    """Build intrinsic ``name`` over Exprs and Python numbers."""
    row = INTRINSICS[name]
    if len(operands) != row.arity:
        raise TypeError(f"E.{name}: takes {row.arity} operands; got {len(operands)}")
    args = _promoted(name, operands)
    d = args[0].dtype
    result = {"same": d, "bool": dtypes.bool_, "real": d.real, "index": dtypes.int64}.get(row.result, d)
    folded = _simplify(name, args)
    return folded if folded is not None else _make(name, tuple(args), result, attr)


FOLDED: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "eq": operator.eq}


def _is(x: Expr, value: Number) -> bool:
    return x.op == "const" and x.attr == value and not (isinstance(x.attr, float) and x.attr == 0 and math.copysign(1, x.attr) < 0)


def _simplify(name: str, args: list[Expr]) -> Expr | None:
    """Identities that are exact for every value, NaN and signed zero included: x * 1, x / 1, x - 0. Nothing else."""
    if (name in ("mul", "div") and _is(args[1], 1)) or (name == "sub" and _is(args[1], 0)):
        return args[0]
    if name == "mul" and _is(args[0], 1):
        return args[1]
    if name == "conj" and args[0].dtype.kind != COMPLEX:
        return args[0]
    if name in FOLDED and args[0].dtype.kind == FLOAT and args[0].op == args[1].op == "const":
        kind = args[0].dtype.np.type
        return const(FOLDED[name](kind(args[0].attr), kind(args[1].attr)), dtypes.bool_ if name == "eq" else args[0].dtype)
    return None


def cast(x: Expr, d: dtype) -> Expr:
    """``x`` converted to dtype ``d``. Float to int truncates; out of range is defined in the kernels' prelude."""
    if x.dtype is d:
        return x
    if x.op == "const" and not (x.dtype.kind > d.kind):
        return const(x.attr, d)
    if x.dtype.kind == COMPLEX and d.kind != COMPLEX:
        return cast(real(x), d) if d.kind != BOOL else ne(x, 0)
    return _make("cast", (x,), d)


def bits(x: Expr, d: dtype) -> Expr:
    """``x``'s bits read as dtype ``d`` of the same size."""
    return x if x.dtype is d else _make("bits", (x,), d)


def where(cond: Any, a: Any, b: Any) -> Expr:
    """``a`` where ``cond``, else ``b``: a selection, never a product with a mask."""
    if not isinstance(cond, Expr):
        cond = const(cond, dtypes.bool_)
    if cond.dtype.kind != BOOL:
        cond = ne(cond, 0)
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        raise TypeError("E.where: one of the two values must be an Expr, so that their dtype is known")
    x, y = _promoted("where", (a, b))
    if cond.op == "const":
        return x if cond.attr else y
    return _make("where", (cond, x, y), x.dtype)


def complex(re: Any, im: Any) -> Expr:
    """The complex number of two reals."""
    x, y = _promoted("complex", (re, im))
    return _make("complex", (x, y), x.dtype.to_complex())


def real(x: Expr) -> Expr:
    """The real part; a real is its own."""
    return _make("real", (x,), x.dtype.real) if x.dtype.kind == COMPLEX else x


def imag(x: Expr) -> Expr:
    """The imaginary part; zero for a real."""
    return _make("imag", (x,), x.dtype.real) if x.dtype.kind == COMPLEX else const(0, x.dtype)


def abs(x: Any) -> Expr:
    """Absolute value; real for a complex operand."""
    return _make("cabs", (x,), x.dtype.real) if x.dtype.kind == COMPLEX else apply("abs", x)


def logical_not(x: Expr) -> Expr:
    """True where ``x`` is zero."""
    return apply("logical_not", x if x.dtype.kind == BOOL else ne(x, 0))


def sigmoid(x: Any) -> Expr:
    """1 / (1 + exp(-x)), without overflow to the wrong side: exp(-x) = inf gives 0."""
    return 1 / (1 + exp(-x))


def topological(outputs: Iterable[Expr]) -> list[Expr]:
    """Every node that the outputs use, operands first, without recursion."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(x, False) for x in reversed(list(outputs))]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args) if a not in seen)
    return order


def used(outputs: Iterable[Expr], leaf: str) -> set[Any]:
    """The attributes of the leaves of one sort that the outputs depend on: which inputs, which scalars."""
    return {x.attr for x in topological(outputs) if x.op == leaf}


def substitute(outputs: Iterable[Expr], leaves: Callable[[Expr], Expr | None]) -> list[Expr]:
    """The outputs with some nodes replaced, e.g. renumbered inputs or a fused producer."""
    outputs = list(outputs)
    new: dict[Expr, Expr] = {}
    for node in topological(outputs):
        swapped = leaves(node)
        new[node] = swapped if swapped is not None else _make(node.op, tuple(new[a] for a in node.args), node.dtype, node.attr)
    return [new[x] for x in outputs]


def _function(name: str) -> Callable[..., Expr]:
    def build(*operands: Any) -> Expr:
        return apply(name, *operands)
    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"Intrinsic ``{name}``."
    return build


#: Exponents for which `pow` is simpler than a power: what it is instead.
POWERS: dict[Number, Callable[[Expr], Any]] = {
    1: lambda x: x, 2: lambda x: x * x, 3: lambda x: x * x * x, -1: lambda x: 1 / x, -2: lambda x: 1 / (x * x),
    0.5: lambda x: sqrt(x), -0.5: lambda x: 1 / sqrt(x),
}
EXPONENTS = frozenset(POWERS) - {1}


def pow(a: Any, b: Any) -> Expr:
    """``a`` to the power ``b``; the constant exponents of EXPONENTS become products, quotients and roots, as in PyTorch."""
    x, n = _promoted("pow", (a, b))
    simpler = POWERS.get(n.attr) if n.op == "const" else None
    if simpler is None or x.dtype.kind not in ((INT, FLOAT) if n.attr in (2, 3) else (FLOAT,)):
        return apply("pow", x, n)
    return simpler(x)  # type: ignore[no-any-return]


neg = _function("neg"); sign = _function("sign"); conj = _function("conj"); bitwise_not = _function("bitwise_not")
exp = _function("exp"); exp2 = _function("exp2"); expm1 = _function("expm1"); log = _function("log"); log2 = _function("log2")
log10 = _function("log10"); log1p = _function("log1p"); sqrt = _function("sqrt"); rsqrt = _function("rsqrt")
sin = _function("sin"); cos = _function("cos"); tan = _function("tan"); asin = _function("asin"); acos = _function("acos")
atan = _function("atan"); sinh = _function("sinh"); cosh = _function("cosh"); tanh = _function("tanh"); asinh = _function("asinh")
acosh = _function("acosh"); atanh = _function("atanh"); erf = _function("erf"); erfc = _function("erfc"); lgamma = _function("lgamma")
digamma = _function("digamma"); trigamma = _function("trigamma"); zeta = _function("zeta"); gcd = _function("gcd")
erfinv = _function("erfinv"); erfcx = _function("erfcx"); ndtri = _function("ndtri")
floor = _function("floor"); ceil = _function("ceil"); trunc = _function("trunc"); round = _function("round")


def _of_floats(name: str, otherwise: Callable[[Expr], Any]) -> Callable[..., Expr]:
    """A question about floating-point numbers; integers and bools have a plain answer."""
    def build(x: Expr) -> Expr:
        if x.dtype.kind >= FLOAT:
            return apply(name, x)
        answer = otherwise(x)
        return answer if isinstance(answer, Expr) else const(answer, dtypes.bool_)
    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"Intrinsic ``{name}``."
    return build


isnan, isinf, isfinite = _of_floats("isnan", lambda x: False), _of_floats("isinf", lambda x: False), _of_floats("isfinite", lambda x: True)
signbit = _of_floats("signbit", lambda x: lt(x, 0) if x.dtype.kind == INT else False)
add = _function("add"); sub = _function("sub"); mul = _function("mul"); div = _function("div"); floordiv = _function("floordiv")
remainder = _function("remainder"); fmod = _function("fmod"); truncdiv = _function("truncdiv")
max = _function("max"); min = _function("min"); atan2 = _function("atan2"); hypot = _function("hypot"); copysign = _function("copysign")
bitwise_and = _function("bitwise_and"); bitwise_or = _function("bitwise_or"); bitwise_xor = _function("bitwise_xor")
shl = _function("shl"); shr = _function("shr"); mulhi = _function("mulhi"); fma = _function("fma")
eq = _function("eq"); ne = _function("ne"); lt = _function("lt"); le = _function("le"); gt = _function("gt"); ge = _function("ge")
row_sum = _function("row_sum"); row_prod = _function("row_prod"); row_max = _function("row_max"); row_min = _function("row_min")
row_any = _function("row_any"); row_all = _function("row_all"); row_argmax = _function("row_argmax"); row_argmin = _function("row_argmin")
