"""SORT: stable sorting along a dimension, with the permutation. NaN is the greatest value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels import radix
from tensorx.kernels import sort as family
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, layout, record, table
from tensorx.ops.outputs import resize_output
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty, normalize_dim


class Sorting(record.Ruled):
    """The kind: ``(self, dim, descending, ...)`` gives (values, indices)."""

    name = "SORT"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        t, dim, descending = args[:3]
        table.check_dtype(op, t.dtype)
        d = normalize_dim(dim, len(t._shape), op.public)
        if out is None:
            out = (empty(t._shape, t.dtype, t.device), empty(t._shape, dtypes.int64, t.device))
        for o, want in zip(out, (t.dtype, dtypes.int64), strict=True):
            if o.dtype is not want:
                raise RuntimeError(f"{op.public}: Expected out tensor to have dtype {want.name}, but got {o.dtype.name} instead")
            if o._shape != t._shape:
                resize_output(o, t._shape)
        if not t.numel() or t.device.type == "meta":
            return out
        if use_numpy(t.device, t.numel(), 1 << 16):
            order = _argsort(t._array(), d, descending)
            out[1]._array()[...] = order
            out[0]._array()[...] = np.take_along_axis(t._array(), order, d) if t._shape else t._array()
        else:
            _launch(op, t, d, descending, out)
        return out


def _argsort(x: Any, d: int, descending: bool) -> Any:
    if not x.ndim:
        return np.zeros((), np.int64)
    if x.dtype == dtypes.bfloat16.np:  # NumPy does not know where its NaN goes
        x = x.astype(np.float32)
    if not descending:
        return np.argsort(x, axis=d, kind="stable")
    n = x.shape[d]
    return np.flip(n - 1 - np.argsort(np.flip(x, d), axis=d, kind="stable"), d)


def _launch(op: Op, t: Tensor, d: int, descending: bool, out: Sequence[Tensor]) -> None:
    """On CPU-like devices all in one. Else blocks of a few elements, then merges between two pairs of buffers; the last one writes the result."""
    n = t._shape[d] if t._shape else 1
    caps = t.device.runtime.capabilities  # type: ignore[union-attr]
    if radix.suits(caps, n):
        keys = dtypes.FROM_CODE[radix.key_code(t.dtype.compute.code)]
        scratch = [empty(t._shape, s, t.device) for s in (keys, keys, dtypes.int32, dtypes.int32)]
        _pass(op, "radix", [t], out, d, n, descending, (), scratch)
        return
    widths = family.widths(n)
    pairs: list[Sequence[Tensor]] = [out]
    if widths:
        pairs.append((empty(t._shape, t.dtype, t.device), empty(t._shape, dtypes.int64, t.device)))
    target = len(widths) % 2  # so that the last pass writes pair 0
    _pass(op, "block", [t], pairs[target], d, n, descending, ())
    for width in widths:
        source, target = pairs[target], 1 - target
        _pass(op, "merge", source, pairs[target], d, n, descending, (width, family.chunk(caps, width)))


def _pass(op: Op, stage: str, ins: Sequence[Tensor], outs: Sequence[Tensor], d: int, n: int, descending: bool, extents: tuple[int, ...],
          scratch: Sequence[Tensor] = ()) -> None:
    device, operands = outs[0].device, [*outs, *ins]
    runtime = device.runtime
    assert runtime is not None
    shape = ins[0]._shape
    kept = tuple(i for i in range(len(shape)) if i != d)
    sizes, strides = layout.merge_axes(tuple(shape[i] for i in kept), tuple(tuple(t._get_strides()[i] for i in kept) for t in operands), False)
    full = [(*s, t._get_strides()[d] if t._shape else 1) for s, t in zip(strides, operands, strict=True)]
    access = tuple("c" if s[-1] == 1 else "s" for s in full)
    width = layout.index_width((*sizes, n), full)
    key = (device, stage, outs[0].dtype, len(sizes), access, width, descending)
    spec = op.plans.get(key)
    if spec is None:
        made = [Operand(name, t.dtype.code, t.dtype.compute.code, a) for name, t, a in zip(("y0", "y1", "x0", "x1"), operands, access, strict=False)]
        packed = [Operand(f"y{i}", t.dtype.code, t.dtype.code, "p") for i, t in enumerate(scratch, 2)]
        params = (("kept", len(sizes)), ("stage", stage), ("descending", descending))
        spec = op.plans[key] = named(KernelSpec("radix" if scratch else "sort", f"{op.schema.name}_{stage}", (*made[:2], *packed), tuple(made[2:]), (), "",
                                                width, params=params))
    args: list[Any] = [x for t in (*outs, *scratch, *ins) for x in (t._storage.handle(), t._offset)]
    args += (*sizes, n, *extents)
    for s, a in zip(full, access, strict=True):
        args += s[:-1] if a == "c" else s
    runtime.launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *sizes, n, *extents), args)


SORT = Sorting()
