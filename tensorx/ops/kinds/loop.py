"""LOOP: many launches as one op: a recurrent layer over a sequence, attention block by block. Nothing inside is recorded.

``op.body(*args)`` gives the results, from tensors without history; ``op.vjp`` loops again over what was saved, and under create_graph uses recorded
ops. Undefined cotangents reach the rule as None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorx import dtypes
from tensorx.autograd.node import FREED, Node
from tensorx.errors import DTypeError, GradError
from tensorx.ops import dispatch, record, table
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, make


class LoopNode(record.RuleNode):
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
        if not self.rule.several:
            values["g"] = grads[0]
        results = self.rule.function(**{k: values[k] for k in self.rule.wants})
        return tuple(None if e is None or r is None else record.fit(r, m) for r, e, m in zip(results, self.edges, self.metas, strict=True))


class Loop(record.Ruled):
    """The kind."""

    name = "LOOP"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Run all of it."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        dispatch.device_of(op, tensors)
        first = tensors[0].dtype
        for t in (t for i, t in enumerate(tensors) if not i or t.dtype is not dtypes.bool_):  # a mask takes no part
            table.check_dtype(op, t.dtype)
            if t.dtype is not first:
                raise DTypeError(f"{op.public}: expected all operands to have the same dtype, but got {first.name} and {t.dtype.name}. "
                                 "Hint: cast one of them with .to()")
        results = op.body(*(bare(a) if isinstance(a, Tensor) else a for a in args))
        if out is None:
            return results
        from tensorx.ops.convert import copy_into
        from tensorx.ops.outputs import resize_output
        for target, result in zip(out, results if isinstance(results, tuple) else (results,), strict=True):
            if target._shape != result._shape:
                resize_output(target, result._shape)
            copy_into(target, result)
        return out if isinstance(results, tuple) else out[0]

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return LoopNode(op, op.extra, args, outputs, first)


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


LOOP = Loop()
