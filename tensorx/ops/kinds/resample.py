"""RESAMPLE: every element a weighted sum of neighbours, by one table a dimension. The body maps arguments to a `Resampling`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, record
from tensorx.ops import table as rows_table
from tensorx.ops.kinds.rows import written
from tensorx.ops.kinds.tables import Table, table
from tensorx.ops.kinds.windowed import arrange, buffers
from tensorx.ops.program import named, use_numpy
from tensorx.ops.recipes import Recipes
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty, from_host

Ints = tuple[int, ...]


@dataclass
class Resampling:
    """``operand``'s last axes resampled to ``size``; ``back``: its last axes are results, and ``size`` is that of their source."""

    operand: Tensor
    size: Ints
    mode: str
    align_corners: bool
    scales: tuple[float | None, ...]
    back: bool

    @property
    def visited(self) -> Ints:
        """The extents that are read."""
        return self.operand._shape[-len(self.size):]

    @property
    def plain(self) -> bool:
        """Whether all weights are one."""
        return self.mode.startswith("nearest")

    def key(self, q: int) -> tuple[Any, ...]:
        """What the table of dimension q depends on."""
        n, w = (self.size[q], self.visited[q]) if self.back else (self.visited[q], self.size[q])
        return self.mode, n, w, self.align_corners, self.scales[q], self.operand.dtype is dtypes.float64, self.back


class Resample(record.Ruled):
    """The kind."""

    name = "RESAMPLE"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        plan: Resampling = op.body(*args)
        x = plan.operand
        rows_table.check_dtype(op, x.dtype)
        shape = (*x._shape[: -len(plan.size)], *plan.size)
        result = empty(shape, x.dtype, x.device) if out is None else written(op, out, [shape], [x.dtype], [x])[0]
        if 0 not in shape and x.device.type != "meta":
            if use_numpy(x.device, result.numel(), -1):
                _host(plan, [table(*plan.key(q)) for q in range(len(plan.size))], result)
            else:
                _launch(op, plan, result)
        return result


def _host(plan: Resampling, tables: Sequence[Table], out: Tensor) -> None:
    """The NumPy routine: one dimension after the other, one neighbour after the other."""
    work = plan.operand.dtype.accumulate.np
    y = plan.operand._array().astype(work, copy=False)
    with np.errstate(all="ignore"):
        for axis, t in enumerate(tables, y.ndim - len(tables)):
            total = np.zeros((*y.shape[:axis], len(t.first), *y.shape[axis + 1:]), work)
            along = [-1 if i == axis else 1 for i in range(y.ndim)]
            for k in range(t.weights.shape[1]):
                seen = np.take(y, np.minimum(t.first + k, y.shape[axis] - 1), axis)
                seen = seen if plan.plain else seen * t.weights[:, k].astype(work).reshape(along)
                total += np.where((k < t.counts).reshape(along), seen, np.zeros((), work))
            y = total
        out._array()[...] = y


class _Placed(Recipes[Any]):
    """Tables on devices: fewer, as they hold memory there."""

    most = 128


_placed = _Placed()


def _on_device(plan: Resampling, q: int, device: Any, weights: dtypes.dtype) -> tuple[Tensor, Tensor]:
    key = (device, *plan.key(q))
    found = _placed.get(key)
    if found is None:
        t = table(*plan.key(q))
        ranges = from_host(np.stack([t.first, t.counts]).astype(np.int32), dtypes.int32, device)
        found = _placed[key] = (ranges, from_host(np.ascontiguousarray(t.weights.T.astype(weights.np)), weights, device))
    return found


def _launch(op: Op, plan: Resampling, out: Tensor) -> None:
    x, rank, device = plan.operand, len(plan.size), out.device
    runtime = device.runtime
    assert runtime is not None
    acc = x.dtype.accumulate
    tables = [_on_device(plan, q, device, acc if acc.kind == dtypes.FLOAT else dtypes.float32) for q in range(rank)]
    at = arrange(out._shape[:-rank], (out, x))
    key = (device, x.dtype, len(at.sizes), rank, at.access, at.width, plan.plain)
    spec = op.plans.get(key)
    if spec is None:
        made = [Operand(n, x.dtype.code, x.dtype.compute.code, a) for n, a in zip(("y0", "x0"), at.access, strict=True)]
        made += [Operand(f"i{q}", "i32", "i32", "p") for q in range(rank)]
        made += [] if plan.plain else [Operand(f"x{q + 1}", acc.code, acc.code, "p") for q in range(rank)]
        params = (("lead", len(at.sizes)), ("space", rank), ("acc", acc.code), ("plain", plan.plain))
        spec = op.plans[key] = named(KernelSpec("resample", op.schema.name.strip("_"), (made[0],), tuple(made[1:]), (), "", at.width, params=params))
    tensors = [out, x, *(t[0] for t in tables), *(() if plan.plain else (t[1] for t in tables))]
    extents = [*at.sizes, *plan.size, *(t[1]._shape[0] for t in tables)]
    runtime.launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *extents), [*buffers(tensors), *extents, *at.steps])


RESAMPLE = Resample()
