"""How rows are written: one constructor a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx.ops import schema as S
from tensorx.ops.kinds.elementwise import ELEMENTWISE
from tensorx.ops.table import NONDIFF, Op, register


class _Composite:
    """COMPOSITE: a Python function over other ops; its gradient follows from theirs."""

    name = "COMPOSITE"

    def __init__(self, inplace: bool) -> None:
        self.inplace = inplace

    def prepare(self, op: Op) -> None:
        """Nothing to prepare."""

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Composites do not pass the door."""
        return op.body(*args)

    def node(self, op: Op, args: tuple[Any, ...], result: Any, first: Any) -> Any:
        """Recorded by the ops they call."""


COMPOSITE, WRITING = _Composite(False), _Composite(True)


def row(schema: str, kind: Any, body: Any, vjp: Any, **fields: Any) -> Op:
    """Register a row of any kind."""
    return register(Op(S.parse(schema), kind, body, vjp, **fields))


def elementwise(schema: str, body: Callable[..., Any], vjp: Any = NONDIFF, **fields: Any) -> Op:
    """An ELEMENTWISE row. ``body`` and ``vjp`` are over Expr: ``vjp(g, out, *operands)`` gives one cotangent per tensor operand
    (None: there is none; NotImplemented: asking for it is an error)."""
    return row(schema, ELEMENTWISE, body, vjp, **fields)


def composite(schema: str, kind: Any = COMPOSITE, **fields: Any) -> Callable[[Callable[..., Any]], Op]:
    """Decorator: a COMPOSITE row from a function over tensors. Of the kind WRITING it has the form ``x.name_()`` too."""
    def decorate(body: Callable[..., Any]) -> Op:
        return row(schema, kind, body, None, **fields)
    return decorate
