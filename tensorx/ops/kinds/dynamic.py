"""DYNAMIC: results whose shape depends on values: count, read back, allocate. The read is a break for recorders."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.autograd.modes import state
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, layout, record
from tensorx.ops.program import named
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty, from_host


class Dynamic(record.Ruled):
    """The kind: the coordinates of set elements, ``[count, ndim]`` int64."""

    name = "DYNAMIC"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Count with a scan of the mask, read the count, write the coordinates."""
        t: Tensor = args[0]
        for mode in state.stack:
            mode.on_break(t)
        if t.device.type == "meta":
            raise NotImplementedError(f"{op.public}: the result's shape depends on values, which meta tensors have not")
        if t.device.runtime.capabilities.host_callable:  # type: ignore[union-attr]
            found = np.argwhere(np.atleast_1d(t._array()) if not t._shape else t._array())
            result = from_host(found[:, : len(t._shape)].astype(np.int64), dtypes.int64, t.device)
        else:
            result = _on_device(op, t)
        if out is not None:
            from tensorx.ops.bind import copy_results
            return copy_results(op, result, out)
        return result


def _on_device(op: Op, t: Tensor) -> Tensor:
    mask = (t.detach() != 0).reshape(-1)
    if not mask.numel():
        return empty((0, len(t._shape)), dtypes.int64, t.device)
    running = mask.cumsum(0)
    count = int(running[-1].item())
    result = empty((count, len(t._shape)), dtypes.int64, t.device)
    if not count or not t._shape:
        return result
    runtime = t.device.runtime
    assert runtime is not None
    width = layout.index_width(t._shape, [t._get_strides()])
    key = (t.device, len(t._shape), width)
    spec = op.plans.get(key)
    if spec is None:
        y, x = Operand("y0", "i64", "i64", "p"), Operand("x0", "i64", "i64", "p")
        spec = op.plans[key] = named(KernelSpec("nonzero", op.schema.name, (y,), (x,), (), "", width, len(t._shape)))
    args = [result._storage.handle(), 0, running._storage.handle(), running._offset, *t._shape]
    runtime.launch(build.kernel(t.device, spec), geometry(spec, runtime.capabilities, *t._shape), args)
    return result


DYNAMIC = Dynamic()
