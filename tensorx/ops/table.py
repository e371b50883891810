"""THE TABLE: an op is a row, and everything else is derived from rows.

A row is registered with its schema, kind, body, gradient rule, promotion, float64 oracle, sample domain and doc. `register` refuses a row
without oracle or doc, and a primitive without a gradient rule (NONDIFF says: none).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from tensorx import dtypes
from tensorx.dtypes import BOOL, FLOAT, INT, dtype
from tensorx.ops import schema as S
from tensorx.ops.recipes import Layouts, Recipes


class _NonDiff:
    """The gradient rule of a row that has none by nature (comparisons, integer results)."""

    def __repr__(self) -> str:
        return "NONDIFF"


NONDIFF = _NonDiff()


class KindProtocol(Protocol):
    """What dispatch needs of a kind."""

    name: str
    inplace: bool  # whether rows have the form ``x.name_()``

    def prepare(self, op: Op) -> None:
        """Check a row and precompute what the kind needs."""

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute (no autograd): a Tensor or a tuple of Tensors."""

    def node(self, op: Op, args: tuple[Any, ...], result: Any, first: Any) -> Any:
        """The backward node for a call whose result requires grad; None if no input does. ``first`` replaces the edge of the first input
        (writes to views)."""


@dataclass(frozen=True, slots=True)
class Promote:
    """How operands come to one dtype: which kinds are lifted to the default float, and what the result is."""

    name: str
    lift: int = -1  # kinds up to this one become the default float dtype, or
    to: str = ""  # the dtype of this code
    result: str = "same"  # 'same' as the body's value in the operands' dtype, a dtype code, 'self' or 'dtype' (an argument's)
    skip: int = 0  # the first operands take no part (a condition)
    numbers: bool = True  # whether Python numbers take part: a float beside integer tensors makes them floats

    def common(self, dims: Sequence[dtype], zeros: Sequence[dtype], numbers: Sequence[dtype]) -> dtype:
        """The dtype in which the body runs (before f16 and bf16 widen to f32)."""
        d = dtypes.promote(list(dims), list(zeros), list(numbers) if self.numbers or not (dims or zeros) else [])
        if d.kind > self.lift:
            return d
        return dtypes.FROM_CODE[self.to] if self.to else dtypes.get_default_dtype()

    def fits(self, result: dtype, out: dtype) -> bool:
        """Whether ``result`` may be written as ``out``. A row that lifts floats promises its precision, also there."""
        return result is out if self.lift >= FLOAT else dtypes.can_cast(result, out)


DEFAULT = Promote("default")
TO_FLOAT = Promote("float", lift=INT)
TO_INT = Promote("int", lift=BOOL, to="i64")  # bool as int64
TO_LONG = Promote("long", lift=INT, to="i64")
TO_BOOL = Promote("bool", result="b8")
COND = Promote("cond", skip=1)
OF_TENSORS = Promote("tensors", numbers=False)
KEEP = Promote("keep", result="self")  # the first operand's dtype
ASKED = Promote("asked", result="dtype")  # the dtype argument


@dataclass(eq=False, slots=True)
class Op:
    """One row."""

    schema: S.Schema
    kind: KindProtocol
    body: Any
    vjp: Any
    ref: Callable[..., Any]
    doc: str
    promote: Promote = DEFAULT
    dtypes: str = "bifc"  # kinds of operands accepted: b(ool) i(nt) f(loat) c(omplex)
    domain: Any = (-3.0, 3.0)  # sample interval, or one per operand
    special: tuple[Any, ...] = ()  # values worth testing beside the domain
    samples: Callable[..., Any] | None = None  # calls for conformance, where a domain cannot say it
    public: str = ""  # the name in error texts: of the function that an internal row serves, where it is not the row's without underscore
    symbol: str = ""  # Python operator, for the dunder methods
    baked: frozenset[float] = frozenset()  # numbers that, given as such, are part of the plan: bodies with them are simpler
    ulp: float = 4.0  # how far the result may be from the oracle, in units of the result dtype
    extra: Any = None  # what the kind alone understands (prepared by it)
    plans: Recipes[Any] = field(default_factory=Recipes)
    layouts: Layouts[Any] = field(default_factory=Layouts)  # what else is known of calls, where shapes decide
    fast: dict[Any, Any] = field(default_factory=dict)  # see ops.fastpath
    runner: ClassVar[Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]]  # of `ops.bind`, which needs the table first

    @property
    def name(self) -> str:
        """Name with overload: ``max.dim``."""
        return f"{self.schema.name}.{self.schema.overload}" if self.schema.overload else self.schema.name

    def forget(self) -> None:
        """Drop all that was built for calls seen before."""
        for found in (self.plans, self.layouts, self.fast):
            found.clear()

    @property
    def differentiable(self) -> bool:
        """Whether calls are recorded for backward."""
        return self.vjp is not None and self.vjp is not NONDIFF

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the row as Python code inside the library does: no overloads, no ``out=``."""
        return Op.runner(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> Any:
        return (find, (self.name,))


OPS: dict[str, Op] = {}
BY_NAME: dict[str, list[Op]] = {}
_intrinsic_ops: dict[str, Op] = {}


def intrinsic_op(name: str) -> Op:
    """The row whose body is just the intrinsic ``name``, by which a rule that uses it is differentiated again."""
    if not _intrinsic_ops:
        known: dict[str, Op] = {}
        for op in OPS.values():
            for found in op.kind.intrinsics(op) if op.kind.name == "ELEMENTWISE" else ():  # type: ignore[attr-defined]  # this kind's own
                known.setdefault(found, op)
        _intrinsic_ops.update(known)  # at once: other threads take a filled table for a whole one
    if name not in _intrinsic_ops:
        raise NotImplementedError(f"intrinsic_op: no row has the body E.{name}, so a rule that uses it cannot be differentiated twice")
    return _intrinsic_ops[name]


def find(name: str) -> Op:
    """The row of a full name."""
    return OPS[name]


def register(op: Op) -> Op:
    """Put a row into the table. Raises ValueError for a row that lacks what every row must have."""
    if not callable(op.ref):
        raise ValueError(f"register: row '{op.name}' must have a float64 oracle 'ref'; got {op.ref!r}")
    if not op.doc or not op.doc.strip().endswith("."):
        raise ValueError(f"register: row '{op.name}' must have a one-line 'doc' that ends with a full stop; got {op.doc!r}")
    if op.vjp is None and op.kind.name != "COMPOSITE":
        raise ValueError(f"register: primitive '{op.name}' must have a gradient rule. Hint: say vjp=NONDIFF to mean none")
    if op.name in OPS:
        raise ValueError(f"register: row '{op.name}' is in the table already")
    op.public = op.public or op.schema.name.lstrip("_")
    op.kind.prepare(op)
    OPS[op.name] = op
    BY_NAME.setdefault(op.schema.name, []).append(op)
    return op


def check_dtype(op: Op, d: dtype) -> None:
    """DTypeError unless the row takes operands of ``d``'s kind."""
    if "bifc"[d.kind] not in op.dtypes:
        from tensorx.errors import DTypeError
        words = {"b": "bool", "i": "integer", "f": "floating-point", "c": "complex"}
        raise DTypeError(f"{op.public}: operands must be {' or '.join(words[c] for c in op.dtypes)}; got {d.name}. Hint: cast with .to()")


__all__ = ["ASKED", "BOOL", "BY_NAME", "COND", "DEFAULT", "FLOAT", "KEEP", "NONDIFF", "OF_TENSORS", "OPS", "TO_BOOL", "TO_FLOAT", "TO_LONG", "Op", "Promote", "check_dtype",
           "find", "intrinsic_op", "register"]
