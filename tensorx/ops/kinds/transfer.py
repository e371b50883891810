"""TRANSFER and HOST: work that goes through host memory.

TRANSFER moves a tensor to another device. HOST runs a NumPy or SciPy routine on host copies (LAPACK, FFT) and moves the results back; on the
cpu nothing is copied.
"""

from __future__ import annotations

from typing import Any

from tensorx import dtypes, formats, locks
from tensorx.devices import registry
from tensorx.ops import dispatch, record, table
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, from_host, make


def _moved(t: Tensor, device: registry.device, early: bool) -> Tensor:
    """A copy with the same strides where these have no gaps, else in row-major order."""
    host, lent = t._host(), t.device.type != "cpu" or (early and t._storage.is_pinned())
    strides = t._get_strides()
    if t.is_contiguous() or formats.dense_strides(t._shape, strides) != strides:
        return from_host(host, t.dtype, device, lent, early)
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    return make(from_host(host.transpose(order), t.dtype, device, lent, early)._storage, t._shape, strides, 0, t.dtype)


class Staged(record.Ruled):
    """What both kinds share."""

    def __init__(self, name: str) -> None:
        self.name = name

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Host arrays in, host arrays out, back to the operands' device (TRANSFER: to the device argument)."""
        if self.name == "TRANSFER":
            return _moved(*args)
        tensors = [a for a in args if isinstance(a, Tensor)]
        device = dispatch.device_of(op, tensors)
        for t in tensors:
            table.check_dtype(op, t.dtype)
        hosted = [a._host() if isinstance(a, Tensor) else a for a in args]
        with locks.blas:
            result = op.body(*hosted)
        results = tuple(from_host(r, dtypes.of_numpy(r.dtype), device, lent=True) for r in (result if isinstance(result, tuple) else (result,)))
        if out is not None:
            from tensorx.ops.bind import copy_results
            return copy_results(op, results if len(results) > 1 else results[0], out)
        return results[0] if len(results) == 1 else results


TRANSFER, HOST = Staged("TRANSFER"), Staged("HOST")
