"""COLUMNS: sliding windows laid out as columns, and columns added up again. The body maps arguments to a `Columns`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels.convolution import Window
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, record, table, windows
from tensorx.ops.kinds.rows import written
from tensorx.ops.kinds.windowed import arrange, buffers
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]


@dataclass
class Columns:
    """``operand`` (lead, *input) becomes (lead, *kernel, *size), or ``back`` (lead, *kernel, *windows) becomes (lead, *size)."""

    operand: Tensor
    back: bool
    size: Ints
    kernel: Ints
    window: Window

    @property
    def lead(self) -> Ints:
        """The axes before."""
        shape = self.operand._shape
        return shape[: len(shape) - len(self.size) * (2 if self.back else 1)]

    @property
    def shape(self) -> Ints:
        """Of the result."""
        return (*self.lead, *self.size) if self.back else (*self.lead, *self.kernel, *self.size)


class ColumnsKind(record.Ruled):
    """The kind."""

    name = "COLUMNS"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        plan: Columns = op.body(*args)
        x = plan.operand
        table.check_dtype(op, x.dtype)
        result = empty(plan.shape, x.dtype, x.device) if out is None else written(op, out, [plan.shape], [x.dtype], [x])[0]
        if 0 not in plan.shape and x.device.type != "meta":
            if use_numpy(x.device, result.numel(), -1):
                _host(plan, result)
            else:
                _launch(op, plan, result)
        return result


def _host(plan: Columns, out: Tensor) -> None:
    """The NumPy routine: a view of the padded input, or the sum of one kernel place after the other."""
    rank = len(plan.size)
    x = plan.operand._array()
    if not plan.back:
        seen = windows._patches(x.reshape(1, -1, *x.shape[x.ndim - rank:]), plan.kernel, plan.size, plan.window)[0]
        seen = np.moveaxis(seen, range(1, 1 + rank), range(1 + rank, 1 + 2 * rank))
        out._array()[...] = seen.reshape(plan.shape)
        return
    outs, w = x.shape[x.ndim - rank:], plan.window
    work = plan.operand.dtype.accumulate.np if plan.operand.dtype.kind != dtypes.BOOL else np.bool_
    reach = [max(w.padding[q] + n, (o - 1) * w.stride[q] + (k - 1) * w.dilation[q] + 1)
             for q, (n, o, k) in enumerate(zip(plan.size, outs, plan.kernel, strict=True))]
    whole = np.zeros((*plan.lead, *reach), work)
    with np.errstate(all="ignore"):
        for at in itertools.product(*map(range, plan.kernel)):
            where = tuple(slice(a * w.dilation[q], a * w.dilation[q] + (outs[q] - 1) * w.stride[q] + 1, w.stride[q]) for q, a in enumerate(at))
            whole[(..., *where)] += x[(slice(None),) * len(plan.lead) + at].astype(work, copy=False)  # type: ignore[arg-type]  # NumPy's stubs know no mixed index tuples
        out._array()[...] = whole[(..., *(slice(p, p + n) for p, n in zip(w.padding, plan.size, strict=True)))]  # type: ignore[arg-type]  # as above


def _launch(op: Op, plan: Columns, out: Tensor) -> None:
    x, rank, device, w = plan.operand, len(plan.size), out.device, plan.window
    runtime = device.runtime
    assert runtime is not None
    at = arrange(plan.lead, (out, x))
    outs = x._shape[len(x._shape) - rank:]
    numbers = [n for four in zip(plan.kernel, w.stride, w.padding, w.dilation, strict=True) for n in four]
    small = at.width == "i32" and all((max(n, o) + 1) * s + p + kernel * d < 2**30
                                      for n, o, kernel, s, p, d in zip(plan.size, outs, plan.kernel, w.stride, w.padding, w.dilation, strict=True))
    key = (device, plan.back, x.dtype, len(at.sizes), rank, at.access, small)
    spec = op.plans.get(key)
    if spec is None:
        made = [Operand(n, x.dtype.code, x.dtype.compute.code, a) for n, a in zip(("y0", "x0"), at.access, strict=True)]
        params = (("back", plan.back), ("law", "windows"), ("lead", len(at.sizes)), ("space", rank), ("acc", x.dtype.accumulate.code))
        spec = op.plans[key] = named(KernelSpec("columns", op.schema.name.strip("_"), (made[0],), (made[1],), (), "", "i32" if small else "i64", params=params))
    extents = [*at.sizes, *plan.size, *outs, *numbers]
    runtime.launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *extents), [*buffers((out, x)), *extents, *at.steps])


COLUMNS = ColumnsKind()
