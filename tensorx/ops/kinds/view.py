"""VIEW: another look at the same storage. The body maps (tensor, arguments) to geometry; no kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorx.autograd.node import Node
from tensorx.ops import record, views
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, make


class Viewing:
    """The kind. ``op.body(t, *rest)`` gives (shape, strides, offset[, dtype]), or a list of them for several views."""

    name = "VIEW"
    inplace = False

    def prepare(self, op: Op) -> None:
        """Read the rule once."""
        op.extra = record.Rule(op) if op.differentiable else None

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """The view (or a tuple of views), noted as such."""
        t = args[0]
        if t._view is not None:
            t._view.refresh(t)
        geometry = op.body(*args)
        if not isinstance(geometry, list):
            return _one(t, geometry, op, args, 0, False)
        return tuple(_one(t, g, op, args, i, True) for i, g in enumerate(geometry))

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return record.RuleNode(op, op.extra, args, outputs, first)


def _one(t: Tensor, geometry: tuple[Any, ...], op: Op, args: tuple[Any, ...], nr: int, multi: bool) -> Tensor:
    out = make(t._storage, geometry[0], geometry[1], geometry[2], geometry[3] if len(geometry) > 3 else t.dtype)
    views.connect(t, out, op, args[1:], nr, multi)
    return out


VIEW = Viewing()
