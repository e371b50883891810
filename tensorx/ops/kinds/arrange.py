"""ARRANGE: a copy whose elements lie in a given order in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorx.autograd.node import Node
from tensorx.ops import record
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty


class Arrange:
    """The kind: ``(tensor, strides)``; None means row-major."""

    name = "ARRANGE"
    inplace = False

    def prepare(self, op: Op) -> None:
        """Read the rule once."""
        op.extra = record.Rule(op)

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Allocate and copy."""
        from tensorx.ops.convert import copy_into
        t, strides = args
        return copy_into(empty(t._shape, t.dtype, t.device, strides) if out is None else out[0], t)

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return record.RuleNode(op, op.extra, args, outputs, first)


ARRANGE = Arrange()
