"""RECURRENT: a recurrent layer over a whole sequence as one op, so that a step costs two launches and nothing is recorded a step.

``op.body(*args)`` gives the results, from tensors without history; ``op.vjp`` runs backward through time over what was saved. Under create_graph
the rule differentiates ``op.ref``-like plain ops instead (see `ops.recurrent`). Undefined cotangents reach the rule as None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorx.autograd.node import FREED, Node
from tensorx.errors import DTypeError, GradError
from tensorx.ops import dispatch, record, table
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, make


class RecurrentNode(record.RuleNode):
    """The node of a call; cotangents of results that nobody used stay None."""

    __slots__ = ()

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        if self.saved is None:
            raise GradError(FREED)
        values: dict[str, Any] = dict(self.args)
        for name, s in self.saved.items():
            assert isinstance(s, record.Saved)
            values[name] = s.unpack(self)
        values["g"], values["needs"] = grads, tuple(e is not None for e in self.edges)
        results = self.rule.function(**{k: values[k] for k in self.rule.wants})
        return tuple(None if e is None or r is None else record.fit(r, m) for r, e, m in zip(results, self.edges, self.metas, strict=True))


class Recurrent:
    """The kind."""

    name = "RECURRENT"
    inplace = False

    def prepare(self, op: Op) -> None:
        """Read the rule once."""
        op.extra = record.Rule(op)

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Run all steps."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        dispatch.device_of(op, tensors)
        first = tensors[0].dtype
        for t in tensors:
            table.check_dtype(op, t.dtype)
            if t.dtype is not first:
                raise DTypeError(f"{op.schema.name}: expected all operands to have the same dtype, but got {first.name} and {t.dtype.name}. "
                                 "Hint: cast one of them with .to()")
        results = op.body(*(bare(a) if isinstance(a, Tensor) else a for a in args))
        if out is None:
            return results
        from tensorx.ops.convert import copy_into
        from tensorx.ops.outputs import resize_output
        for target, result in zip(out, results, strict=True):
            if target._shape != result._shape:
                resize_output(target, result._shape)
            copy_into(target, result)
        return out

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return RecurrentNode(op, op.extra, args, outputs, first)


def bare(t: Tensor) -> Tensor:
    """The same memory without history."""
    return make(t._storage, t._shape, t._strides, t._offset, t.dtype)


def rows(t: Tensor, start: int, size: int) -> Tensor:
    """Rows start to start + size, without history."""
    strides = t._get_strides()
    return make(t._storage, (size, *t._shape[1:]), strides, t._offset + start * strides[0], t.dtype)


def columns(t: Tensor, parts: int) -> list[Tensor]:
    """Equal blocks of the columns of a matrix, without history."""
    (n, width), strides = t._shape, t._get_strides()
    width //= parts
    return [make(t._storage, (n, width), strides, t._offset + i * width * strides[1], t.dtype) for i in range(parts)]


RECURRENT = Recurrent()
