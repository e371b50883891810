"""REDUCE and ROWWISE: bodies that reduce along rows.

A REDUCE row's results have one value a row (``keepdim`` decides their shape); a ROWWISE row's first result has the operand's shape, the others
are statistics of the rows, in the dtype that they were computed in. Rows run along ``dim`` (all axes if None), or along the trailing axes that ``normalized_shape`` names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorx import dtypes
from tensorx.autograd.node import Node
from tensorx.dtypes import dtype
from tensorx.errors import BadIndex, ShapeError
from tensorx.ops import dispatch, layout, record, table
from tensorx.ops.kinds.elementwise import TENSOR, leaves, store_dtype
from tensorx.ops.outputs import check_memory, resize_output
from tensorx.ops.rowprogram import RowProgram
from tensorx.ops.table import Op
from tensorx.tensor import CONTIGUOUS, Tensor, make, normalize_dim

Ints = tuple[int, ...]


class RowKind:
    """The two kinds share everything but their names."""

    inplace = False

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self, op: Op) -> None:
        """Sort the parameters; read the rule once."""
        kind = {"Tensor": TENSOR, "Scalar": "Scalar", "float": "float", "Seed": "Seed"}
        kinds = tuple(kind.get(p.type, "static") for p in op.schema.params)
        op.extra = (kinds, record.Rule(op) if op.differentiable else None, {p.name: i for i, p in enumerate(op.schema.params)})

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute; a Tensor, or a tuple of them."""
        tensors: list[Tensor] = []
        values: list[Any] = []
        key: list[Any] = [dtypes._default]
        for a, kind in zip(args, op.extra[0], strict=True):
            if isinstance(a, Tensor):
                tensors.append(a)
                key += (a._key, a._shape)
            elif kind == "static" or a is None:
                key.append(a)
            else:
                values.append(a)
                key.append(a.__class__)
        k = tuple(key)
        recipe = op.layouts.get(k)
        if recipe is None:
            recipe = op.layouts.keep(k, self._recipe(op, args, tensors))
        program, device, shape, reduced, keepdim, final = recipe
        outs = None if out is None else written(op, out, [shape if e else final for e in program.elements], program.stores, tensors)
        if outs is not None:
            outs = [o if e or not keepdim else squeezed(o, reduced) for o, e in zip(outs, program.elements, strict=True)]
        results = program.run(tensors, values, shape, reduced, device, outs)
        if outs is not None:
            return out
        results = [r if e or not keepdim else make(r._storage, final, None, 0, r.dtype) for r, e in zip(results, program.elements, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    def _recipe(self, op: Op, args: tuple[Any, ...], tensors: Sequence[Tensor]) -> tuple[RowProgram, Any, Ints, Ints, bool, Ints]:
        """What a call works out from dtypes, shapes and static arguments: program, device, shape, axes, and the shape of results of one value a row."""
        kinds, _, position = op.extra
        device = dispatch.device_of(op, list(tensors))
        shape = layout.broadcast_shapes(op.public, *[t._shape for t in tensors])
        reduced = axes(op, args, position, shape)
        program = self.program(op, args, kinds)
        kept = tuple(n for i, n in enumerate(shape) if i not in reduced)
        if program.single and any(x.op in ("row_max", "row_min", "row_argmax", "row_argmin") for x in program.nodes):
            check_not_empty(op, shape, reduced, kept)
        keepdim = args[position["keepdim"]] if "keepdim" in position else self.name == "ROWWISE"
        final = tuple(1 if i in reduced else n for i, n in enumerate(shape)) if keepdim else kept
        return program, device, shape, reduced, keepdim, final

    def program(self, op: Op, args: tuple[Any, ...], kinds: Sequence[str]) -> RowProgram:
        """The RowProgram of a call, cached: shapes and dims are nothing to it."""
        key: list[Any] = [dtypes._default]
        for a, kind in zip(args, kinds, strict=True):
            if isinstance(a, Tensor):
                key.append(a._key & ~CONTIGUOUS)
            elif kind == "static" or a is None:
                key.append(a if kind != "static" or isinstance(a, str | dtype | bool) else None)
            else:
                key.append(a.__class__)
        k = tuple(key)
        found = op.plans.get(k)
        if found is None:
            found = op.plans[k] = self.trace(op, args, kinds)
        return found

    def trace(self, op: Op, args: tuple[Any, ...], kinds: Sequence[str]) -> RowProgram:
        """Trace the body for these dtypes."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        asked = next((a for a in args if isinstance(a, dtype)), None)
        common = asked or op.promote.common([t.dtype for t in tensors], [], [])
        table.check_dtype(op, common)
        body_args, scalars = leaves(op, args, kinds, common)
        body = op.body(*body_args)
        exprs = list(body) if isinstance(body, tuple) else [body]
        elements = [i == 0 and self.name == "ROWWISE" for i in range(len(exprs))]
        stores = [x.dtype if self.name == "ROWWISE" and i else store_dtype(op, x, common, args) for i, x in enumerate(exprs)]
        return RowProgram(op.schema.name, exprs, [t.dtype for t in tensors], stores, scalars, elements)

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return record.RuleNode(op, op.extra[1], args, outputs, first)


DIMLESS = ("any", "all")  # an empty list of dims means all of them, but none to these, as in PyTorch


def axes(op: Op, args: tuple[Any, ...], position: dict[str, int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The reduced axes, counted from the front, in order."""
    n = len(shape)
    if "normalized_shape" in position:
        wanted = args[position["normalized_shape"]]
        if not wanted or shape[n - len(wanted):] != tuple(wanted):
            raise ShapeError(f"{op.public}: Given normalized_shape={list(wanted)}, expected input with shape [*, "
                             f"{', '.join(map(str, wanted))}], but got input of size{list(shape)}")
        return tuple(range(n - len(wanted), n))
    dim = args[position["dim"]] if "dim" in position else None
    if dim is None or (dim == () and op.schema.name not in DIMLESS):
        return tuple(range(n))
    dims = (dim,) if isinstance(dim, int) else dim
    found = [normalize_dim(d, n, op.public) for d in dims]
    if len(set(found)) != len(found):
        raise RuntimeError(f"{op.public}: dim {found[-1]} appears multiple times in the list of dims")
    return tuple(sorted(found)) if n else ()


def check_not_empty(op: Op, shape: tuple[int, ...], reduced: tuple[int, ...], kept: tuple[int, ...]) -> None:
    """Max, min and their kin have no neutral element: an empty row is an error unless there are no rows."""
    if math.prod(shape[i] for i in reduced) or 0 in kept:
        return
    if len(reduced) == len(shape):
        raise BadIndex(f"{op.public}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
                           "argument.")
    raise IndexError(f"{op.public}(): Expected reduction dim {next(i for i in reduced if not shape[i])} to have non-zero size.")


def written(op: Op, outs: Sequence[Tensor], shapes: Sequence[tuple[int, ...]], stores: Sequence[dtype], inputs: Sequence[Tensor]) -> list[Tensor]:
    """The checked (and resized) tensors of ``out=``."""
    for o, shape, d in zip(outs, shapes, stores, strict=True):
        if not dtypes.can_cast(d, o.dtype) or (d is not o.dtype and d.kind < dtypes.FLOAT):
            raise RuntimeError(f"{op.public}: Expected out tensor to have dtype {d.name}, but got {o.dtype.name} instead")
        if o._shape != shape:
            resize_output(o, shape)
        check_memory(op.public, o, inputs)
    return list(outs)


def squeezed(t: Tensor, reduced: tuple[int, ...]) -> Tensor:
    """``t`` without its axes of extent one: the kernel's view of a keepdim result."""
    strides = t._get_strides()
    keep = [i for i in range(len(t._shape)) if i not in reduced]
    return make(t._storage, [t._shape[i] for i in keep], tuple(strides[i] for i in keep), t._offset, t.dtype)


REDUCE, ROWWISE = RowKind("REDUCE"), RowKind("ROWWISE")
