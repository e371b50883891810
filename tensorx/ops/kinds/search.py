"""SEARCH: the places of values among sorted boundaries, by bisection. The body answers a `Search`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, dispatch, layout, record
from tensorx.ops.outputs import check_memory, resize_output
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]


@dataclass
class Search:
    """``values`` among ``boundaries``: sorted along their last dimension, one row for all values or one for each row of them."""

    boundaries: Tensor
    values: Tensor
    result: dtypes.dtype
    right: bool = False
    sorter: Tensor | None = None


class Searching(record.Ruled):
    """The kind; its results are integers, so its rows have no gradient."""

    name = "SEARCH"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        plan: Search = op.body(*args)
        shape = plan.values._shape
        inputs = [t for t in (plan.boundaries, plan.values, plan.sorter) if t is not None]
        device = dispatch.device_of(op, inputs)
        if out is None:
            result = empty(shape, plan.result, device)
        else:
            result = out[0]
            if result.dtype is not plan.result:
                raise RuntimeError(f"{op.public}: output tensor's dtype must be {plan.result.name}; got {result.dtype.name}")
            if result._shape != shape:
                resize_output(result, shape)
            check_memory(op.public, result, inputs)
        if 0 not in shape and device.type != "meta":
            if use_numpy(device, result.numel(), 4096):
                result._array()[...] = _bisect(plan)
            else:
                _launch(op, plan, result)
        return result


def _bisect(plan: Search) -> Any:
    """The kernel's loop, over all values at once."""
    values = plan.values._array()
    shape = (*values.shape[:-1], plan.boundaries._shape[-1]) if values.ndim else plan.boundaries._shape
    rows = np.broadcast_to(plan.boundaries._array(), shape)
    if plan.sorter is not None:
        rows = np.take_along_axis(rows, np.broadcast_to(plan.sorter._array(), shape), -1)
    if rows.dtype == dtypes.bfloat16.np:
        rows, values = rows.astype(np.float32), values.astype(np.float32)
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, shape[-1], np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        at = np.minimum(middle, shape[-1] - 1)
        found = np.take_along_axis(rows, at, -1) if values.ndim else rows[at]
        after = (found > values if plan.right else found >= values) & (low < high)
        high, low = np.where(after, middle, high), np.where(~after & (low < high), middle + 1, low)
    return low


def _launch(op: Op, plan: Search, out: Tensor) -> None:
    runtime = out.device.runtime
    assert runtime is not None
    shape = out._shape
    rows = [t for t in (plan.boundaries, plan.sorter) if t is not None]
    walked = [_along(t, shape) for t in rows]
    operands = [out, plan.boundaries, plan.values, *rows[1:]]
    strides = (out._get_strides(), walked[0], plan.values._get_strides(), *walked[1:])
    sizes, merged = layout.merge_axes(shape, strides, False)
    if sizes == (1,):
        merged = tuple((0,) for _ in merged)
    access = tuple(layout.access_class(s) for s in merged)
    m, steps = plan.boundaries._shape[-1], [t._get_strides()[-1] for t in rows]
    reach = [(*s, step) for s, step in zip(walked, steps, strict=True)]
    widths = {layout.index_width(sizes, merged), layout.index_width((*shape, m), reach)}
    width = "i32" if widths == {"i32"} else "i64"
    key = (out.device, tuple(t.dtype for t in operands), len(sizes), access, width, plan.right)
    spec = op.plans.get(key)
    if spec is None:
        made = [Operand(name, t.dtype.code, t.dtype.compute.code, a) for name, t, a in zip(("y0", "x0", "x1", "x2"), operands, access, strict=False)]
        params = (("right", plan.right), ("sorter", plan.sorter is not None))
        spec = op.plans[key] = named(KernelSpec("search", op.schema.name.strip("_"), tuple(made[:1]), tuple(made[1:]), (), "", width, len(sizes), params=params))
    args: list[Any] = [x for t in operands for x in (t._storage.handle(), t._offset)]
    args += [*sizes, m, *steps]
    for s, a in zip(merged, access, strict=True):
        args += () if a == "b" else s[:-1] if a == "c" else s
    runtime.launch(build.kernel(out.device, spec), geometry(spec, runtime.capabilities, *sizes), args)


def _along(t: Tensor, shape: Ints) -> Ints:
    """Strides of a row's start over the values' coordinates."""
    own = t._get_strides()
    return (*own[:-1], 0) if len(own) == len(shape) and len(own) > 1 else (0,) * len(shape)


SEARCH = Searching()
