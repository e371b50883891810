"""INDEX: elements named by index tensors. The body maps arguments to an `IndexMap`; one gather and one put kernel serve every row.

``body(*args)`` answers a `Take` (read ``source`` into a new tensor) or a `Put` (write ``values`` into a copy of the first operand, or into
the operand itself when the call is in place).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes, faults
from tensorx.errors import BadIndex
from tensorx.kernels import put as put_family
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, dispatch, layout, record, table
from tensorx.ops.outputs import check_memory, resize_output
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]


@dataclass
class Index:
    """One index tensor: its strides over the walked coordinates, and the extent and stride of the dimension that it indexes."""

    tensor: Tensor
    strides: Ints
    extent: int
    step: int
    wrap: bool = False  # negative indices count from the end (only in indexing with brackets)
    dim: int | None = None  # the dimension of the operand that it indexes
    meaning: Any = None  # what a bad value means (see `faults`), where the tensor holds no indices

    def __post_init__(self) -> None:
        if self.meaning is None:
            self.meaning = faults.Bound(self.extent, self.dim, self.wrap)


@dataclass
class Take:
    """Read: ``out[c] = source[sum c * strides + sum index * step]`` for c in ``shape``."""

    source: Tensor
    shape: Ints
    strides: Ints
    indices: list[Index]


@dataclass
class Put:
    """Write ``values`` (broadcast to ``shape``) at such places of the first operand. ``accumulate``: none, add, mul, max, min."""

    values: Tensor
    shape: Ints
    strides: Ints
    indices: list[Index]
    accumulate: str = "none"


class Indexing(record.Ruled):
    """The kind; rows that write (Put) have an in-place form."""

    name = "INDEX"

    def __init__(self, inplace: bool) -> None:
        self.inplace = inplace

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        device = dispatch.device_of(op, record.flat_tensors(args))
        table.check_dtype(op, args[0].dtype)
        plan = op.body(*args)
        for i in plan.indices:
            if not i.extent and 0 not in plan.shape:
                raise BadIndex(f"{op.public}: index is out of bounds for dimension {'' if i.dim is None else f'{i.dim} '}with size 0")
        if isinstance(plan, Take):
            result = self._result(op, out, plan.shape, plan.source.dtype, device, [plan.source])
            if 0 not in plan.shape and device.type != "meta":
                take(op, plan, result)
            return result
        result = args[0]
        if out is None or out[0] is not result:
            result = self._result(op, out, result._shape, result.dtype, device, [args[0], plan.values])
            from tensorx.ops.convert import copy_into
            copy_into(result, args[0])
        else:
            check_memory(op.public, result, [])
        if 0 not in plan.shape and device.type != "meta":
            plan = op.body(result, *args[1:])
            put(op, plan, result)
        return result

    def _result(self, op: Op, out: Any, shape: Ints, d: dtypes.dtype, device: Any, inputs: Sequence[Tensor]) -> Tensor:
        if out is None:
            return empty(shape, d, device)
        if out[0].dtype is not d:
            raise RuntimeError(f"{op.public}: Expected out tensor to have dtype {d.name}, but got {out[0].dtype.name} instead")
        if out[0]._shape != shape:
            resize_output(out[0], shape)
        check_memory(op.public, out[0], inputs)
        return out[0]


def _offsets(op: Op, shape: Ints, strides: Ints, indices: Sequence[Index], base: int) -> Any:
    """Element offsets of all coordinates (NumPy lane). IndexError for a bad index."""
    offset = np.full((1,) * len(shape), base, np.int64)
    for axis, (n, s) in enumerate(zip(shape, strides, strict=True)):
        if s:
            offset = offset + (np.arange(n) * s).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    for i in indices:
        flat = i.tensor._storage.bytes().view(i.tensor.dtype.np)
        size = flat.itemsize
        values = np.ndarray(shape, flat.dtype, flat, i.tensor._offset * size, [s * size for s in i.strides]).astype(np.int64)
        bad = (values < (-i.extent if i.wrap else 0)) | (values >= i.extent)
        if bad.any():
            position = int(bad.argmax())
            raise i.meaning.error(op.public, position, int(values.flat[position]))
        offset = offset + np.where(values < 0, values + i.extent, values) * i.step
    return np.broadcast_to(offset, shape)


def take(op: Op, plan: Take, out: Tensor) -> None:
    """Run a gather."""
    src = plan.source
    if use_numpy(out.device, math.prod(plan.shape), 4096):
        flat = src._storage.bytes()[: src._storage.length // src.dtype.itemsize * src.dtype.itemsize].view(src.dtype.np)
        out._array()[...] = flat[_offsets(op, plan.shape, plan.strides, plan.indices, src._offset)]
        return
    _launch("gather", op, plan, out, out._get_strides(), src, plan.strides, ())


def put(op: Op, plan: Put, dest: Tensor) -> None:
    """Run a put into ``dest``."""
    values = plan.values
    if values.dtype is not dest.dtype:
        from tensorx.ops.convert import cast
        values = cast(values.detach(), dest.dtype)
    value_strides = layout.expanded_strides(values._shape, values._get_strides(), plan.shape)
    if use_numpy(dest.device, math.prod(plan.shape), 4096):
        flat = dest._storage.bytes()[: dest._storage.length // dest.dtype.itemsize * dest.dtype.itemsize].view(dest.dtype.np)
        offsets = _offsets(op, plan.shape, plan.strides, plan.indices, dest._offset)
        data = np.broadcast_to(values._array(), plan.shape)
        at = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}.get(plan.accumulate)
        if at is None:
            flat[offsets] = data
        elif dest.dtype is dtypes.bool_:
            wins = plan.accumulate in ("add", "max")  # of two truth values; the other one changes nothing
            flat[offsets[data == wins]] = wins
        else:
            at.at(flat, offsets, data)
        return
    caps = dest.device.runtime.capabilities  # type: ignore[union-attr]  # a tensor's device is open
    deterministic = state_deterministic() or put_family.prefers_deterministic(dest.dtype.code, plan.accumulate, caps)
    _launch("put", op, plan, dest, plan.strides, values, value_strides, (("accumulate", plan.accumulate), ("deterministic", deterministic)))


def state_deterministic() -> bool:
    """Whether results must not depend on the order of atomics."""
    from tensorx.ops.determinism import is_deterministic
    return is_deterministic()


def _access(strides: Ints, is_index: bool) -> str:
    if not any(strides):
        return "b"
    if is_index and strides[-1] == 0:
        return "k"
    return "c" if strides[-1] == 1 else "s"


def _launch(family: str, op: Op, plan: Take | Put, out: Tensor, out_strides: Ints, other: Tensor, other_strides: Ints, params: tuple[Any, ...]) -> None:
    device = out.device
    runtime = device.runtime
    assert runtime is not None
    sizes, merged = layout.merge_axes(plan.shape, (out_strides, other_strides, *(i.strides for i in plan.indices)), False)
    if sizes == (1,):
        merged = tuple((0,) for _ in merged)
    access = tuple(_access(s, i > 1) for i, s in enumerate(merged))
    reach = sum((i.extent + 1) * max(i.step, 1) for i in plan.indices) + layout.span(sizes, merged[0]) + layout.span(sizes, merged[1])
    width = "i32" if reach < 2**31 and layout.index_width(sizes, merged) == "i32" else "i64"
    operands = [Operand(n, t.dtype.code, t.dtype.compute.code, a) for n, t, a in
                zip(["y0", "x0", *(f"i{j}" for j in range(len(plan.indices)))], [out, other, *(i.tensor for i in plan.indices)], access, strict=True)]
    wrap = any(i.wrap for i in plan.indices)
    key = (device, family, tuple(operands), len(sizes), width, wrap, params)
    spec = op.plans.get(key)
    if spec is None:
        spec = op.plans[key] = named(KernelSpec(family, op.schema.name.strip("_"), (operands[0],), tuple(operands[1:]), (("code", "i32"),), "", width, len(sizes),
                                                params=(("n_index", len(plan.indices)), ("error", True), ("wrap", wrap), *params)))
    cell = faults.cell(device)
    args: list[Any] = [x for t in (out, other, *(i.tensor for i in plan.indices)) for x in (t._storage.handle(), t._offset)]
    args += [cell.buffer, cell.reserve(op.public, [i.meaning for i in plan.indices]), *sizes]
    extents: list[int] = [*sizes]
    for i in plan.indices:
        extents += (i.extent, i.step)
    args += extents[len(sizes):]
    caps = runtime.capabilities
    if dict(params).get("deterministic"):
        dealt = put_family.deal(spec, caps, sizes)
        args += dealt
        extents += dealt
    for s, a in zip(merged, access, strict=True):
        args += () if a == "b" else s[:-1] if a == "c" else s
    runtime.launch(build.kernel(device, spec), geometry(spec, caps, *extents), args)
    cell.launched()
    if runtime.synchronous:
        cell.check()


TAKE, PUT = Indexing(False), Indexing(True)
