"""The short way for elementwise calls on dense operands.

A call of one or two operands whose dtypes, device and layout were seen before, with no mode on the stack, goes from its operator to NumPy
(small work on the cpu) or to a flat kernel without binding, promotion or allocation: the general path taught the entry (`learn`), and anything unusual goes back to it. An entry
depends on the operands' keys only, never on sizes; results are the general path's to the last bit, because both run the plan's function.

What it costs is in docs/performance: about 2 us without and 3 us with grad for 64 floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorx.autograd import anomaly
from tensorx.autograd.modes import state
from tensorx.autograd.node import grad_accumulator, next_sequence
from tensorx.ops.dispatch import call
from tensorx.ops.expr_numpy import quiet
from tensorx.ops.kinds.elementwise import Backward, ElementwiseNode
from tensorx.ops.program import use_numpy, wrapped_int
from tensorx.ops.table import Op
from tensorx.storage import Storage
from tensorx.tensor import CONTIGUOUS, CPU, ZERO_DIM, Tensor, key_of

ndarray = np.ndarray
EVERYTHING = 1 << 62  # without a compiler no work is too large for NumPy
ONE = (True,)
_new_tensor, _new_storage, _new_node = Tensor.__new__, Storage.__new__, ElementwiseNode.__new__


class Entry:
    """What is known of a call: the function, the result's dtype and key, constants seen, and the backward per set of wanted gradients."""

    __slots__ = ("backwards", "const_dtype", "consts", "dtype", "key", "limit", "op", "plan", "program", "run")

    def __init__(self, op: Op, plan: Any, program: Any, d: Any, limit: int) -> None:
        self.op, self.plan, self.program, self.run, self.dtype, self.limit = op, plan, program, program.function, d, limit
        self.key = key_of(d, CPU, False, True)
        self.const_dtype = plan.scalars[0] if plan.scalars else None
        self.consts: dict[Any, Any] = {}
        self.backwards: dict[Any, Backward] = {}

    def const(self, value: Any) -> Any:
        """A Python number as a 0-d array of the plan's dtype; kept, unless it is a zero (0.0 and -0.0 are one key) or there are many."""
        d = self.const_dtype
        assert d is not None  # a plan with a number
        array = np.array(wrapped_int(value, d) if d.kind == 1 else value, d.np)
        if value and len(self.consts) < 256:
            self.consts[value] = array
        return array


def learn(op: Op, args: tuple[Any, ...], key: Any) -> None:
    """After a general call: note an entry if the short way can take such calls."""
    if len(op.fast) > 4096:
        op.fast.clear()
    plan, tensors, values = op.kind.plan(op, args)  # type: ignore[attr-defined]  # elementwise
    program, used = plan.program(op.schema.name, plan.stores)
    device = tensors[0].device
    plain = all(t.device is device and t._key & CONTIGUOUS for t in tensors) and any(t._shape for t in tensors)
    plain = plain and not plan.guards and not (plan.scalars and op.kind.rounds(op, plan))  # type: ignore[attr-defined]
    if plain and len(plan.stores) == 1 and used == tuple(range(len(tensors))) and not program.indexed and len(plan.scalars) == len(values):
        limit = next((n for n in (EVERYTHING, program.small) if use_numpy(device, n, program.small)), -1)
        op.fast[key] = Entry(op, plan, program, plan.stores[0], limit)
    else:
        op.fast[key] = None  # always the general path's


def _stale(t: Tensor) -> bool:
    """Whether ``t`` is a view whose node may have to be renewed (`views.View.refresh`)."""
    view = t._view
    return view is not None and view.version != t._storage.version


def _result(r: Any, entry: Entry) -> Tensor:
    """A new tensor that owns the array ``r``."""
    storage = _new_storage(Storage)
    storage.buffer, storage.length, storage.device, storage.version = r, r.nbytes, CPU, 0
    out = _new_tensor(Tensor)
    out._storage, out._arr, out._shape, out.dtype, out.device = storage, r, r.shape, entry.dtype, CPU
    out._key = entry.key if r.ndim else entry.key | ZERO_DIM
    return out


def _kernel(entry: Entry, tensors: tuple[Tensor, ...], values: tuple[Any, ...]) -> Tensor | None:
    """The call as a flat kernel; None where the general path must take it (small work on the cpu whose arrays are not made yet, empty tensors)."""
    shape = tensors[0]._shape
    if entry.limit >= 0 and math.prod(shape) <= entry.limit:
        return None
    results = entry.program.run_flat(tensors, values, shape, tensors[0].device)
    return None if results is None else results[0]


def _record(entry: Entry, tensors: tuple[Tensor, ...], values: tuple[Any, ...], out: Tensor) -> None:
    """The node of a call of the short way, as the general path makes it."""
    edges: tuple[Any, ...]
    mask: tuple[bool, ...]
    shapes: tuple[tuple[int, ...], ...]
    if len(tensors) == 1:
        t = tensors[0]
        edges = ((t._node, t._nr) if t._node is not None else (grad_accumulator(t), 0),)
        mask, shapes = ONE, (t._shape,)
    else:
        edges = tuple([None if not t._rg else (t._node, t._nr) if t._node is not None else (grad_accumulator(t), 0) for t in tensors])
        mask, shapes = tuple([t._rg for t in tensors]), tuple([t._shape for t in tensors])
    backward = entry.backwards.get(mask)
    if backward is None:
        args = _aligned(entry, tensors, values)
        backward = entry.backwards[mask] = entry.plan.backward(entry.op, args, mask, (out,))
    node = _new_node(ElementwiseNode)
    node.edges, node.seq, node.n_out, node.extras = edges, next_sequence(), 1, None
    node.backward, node.values, node.shapes, node.out_shape, node.device = backward, values, shapes, out._shape, out.device
    node.saved = node.save(tensors, (out,), edges) if backward.needed else ()
    out._rg, out._node = True, node


def _aligned(entry: Entry, tensors: tuple[Tensor, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in schema order: the number stands where the plan has no tensor leaf."""
    found = iter(tensors)
    out: list[Any] = []
    for leaf, kind in zip(entry.plan.leaves, entry.op.extra, strict=True):
        if kind != "Tensor":
            break
        while leaf.op == "cast":
            leaf = leaf.args[0]
        out.append(next(found) if leaf.op == "arg" else leaf.attr if leaf.op == "const" else values[0])
    return (*out, *(p.default for p in entry.op.schema.params[len(out):]))


def unary(op: Op) -> Callable[[Tensor], Tensor]:
    """The method of a one-operand row (static arguments at their defaults)."""
    rest = tuple(p.default for p in op.schema.params[1:])
    fast = op.fast

    def f(self: Tensor) -> Tensor:
        entry = fast.get(self._key)
        if entry is None or state.stack or state.inference or anomaly.mode.on or _stale(self):
            result: Tensor = call(op, (self, *rest))
            if self._key not in fast:
                learn(op, (self, *rest), self._key)
            return result
        a = self._arr
        out: Any
        if a is not None and a.size <= entry.limit:
            try:
                r = quiet.run(entry.run, a)
            except (RuntimeError, MemoryError):  # in a finalizer that the collector runs (see `quietly`), or the pool must give way
                return call(op, (self, *rest))
            out = _result(r, entry) if r.__class__ is ndarray and r is not a else None
        else:
            out = _kernel(entry, (self,), ())
        if out is None:
            return call(op, (self, *rest))
        if self._rg and state.grad and op.differentiable:
            _record(entry, (self,), (), out)
        return out
    return f


def binary(op: Op, reflected: bool, convert: Callable[[Any], Any]) -> Callable[[Tensor, Any], Any]:
    """The operator method of a two-operand row. ``convert`` turns what is no tensor into a number or tensor, or answers NotImplemented."""
    rest = tuple(p.default for p in op.schema.params[2:])
    fast = op.fast
    differentiable, op_baked = op.differentiable, op.baked

    def slow(self: Tensor, other: Any, key: Any) -> Any:
        if not isinstance(other, Tensor):
            other = convert(other)
            if other is NotImplemented:
                return NotImplemented
        args = (other, self, *rest) if reflected else (self, other, *rest)
        result = call(op, args)
        if key is not None and key not in fast:
            learn(op, args, key)
        return result

    def f(self: Tensor, other: Any) -> Any:
        cls = other.__class__
        if cls is float or cls is int:
            baked = other in op_baked
            key: Any = (self._key, cls, reflected, other) if baked else (self._key, cls, reflected)
            entry = fast.get(key)
            if entry is None or state.stack or state.inference or anomaly.mode.on or _stale(self):
                return slow(self, other, key)
            a = self._arr
            out: Any
            values = () if baked else (other,)
            if a is not None and a.size <= entry.limit:
                try:
                    if baked:
                        r = quiet.run(entry.run, a)
                    else:
                        b = entry.consts.get(other)
                        r = quiet.run(entry.run, a, entry.const(other) if b is None else b)
                except (RuntimeError, MemoryError):  # as above
                    return slow(self, other, None)
                out = _result(r, entry) if r.__class__ is ndarray else None
            else:
                out = _kernel(entry, (self,), values)
            if out is None:
                return slow(self, other, None)
            if differentiable and self._rg and state.grad:
                _record(entry, (self,), values, out)
            return out
        if cls is not Tensor and not isinstance(other, Tensor):
            return slow(self, other, None)
        first, second = (other, self) if reflected else (self, other)
        key = (first._key, second._key)
        entry = fast.get(key)
        if entry is None or state.stack or state.inference or anomaly.mode.on or _stale(first) or _stale(second):
            return slow(self, other, key)
        a, b = first._arr, second._arr
        if a is not None and b is not None and a.size <= entry.limit and b.size <= entry.limit:
            try:
                r = quiet.run(entry.run, a, b)
            except (ValueError, RuntimeError, MemoryError):  # shapes that do not broadcast: the general path says so; else as above
                return slow(self, other, None)
            out = _result(r, entry) if r.__class__ is ndarray and r.flags.c_contiguous else None
        else:
            out = _kernel(entry, (first, second), ()) if first._shape == second._shape else None
        if out is None:
            return slow(self, other, None)
        if differentiable and (first._rg or second._rg) and state.grad:
            _record(entry, (first, second), (), out)
        return out
    return f
