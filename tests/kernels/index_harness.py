"""Runs one generated kernel over NumPy arrays: on a lane's device, or through bare pyopencl for the simulator."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from tensorx.kernels import indexing
from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand

CODES = {
    "b8": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32,
    "i32": np.int32, "u64": np.uint64, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}  # fmt: skip
NAMES = {np.dtype(kind): code for code, kind in CODES.items()}
HALVES = {"f16": "f32", "bf16": "f32"}


def code_of(array: np.ndarray) -> str:
    return NAMES[array.dtype]


def root(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory, so that offset and strides are real."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def operand(name: str, array: np.ndarray, access: str | None = None) -> Operand:
    """An operand with the closest access class: one element for all, dense along the last axis, or general."""
    code = code_of(array)
    if access is None:
        steps = [s // array.itemsize for s in array.strides]
        access = "b" if not any(steps) else "c" if steps[-1] == 1 else "s"
    return Operand(name, code, HALVES.get(code, code), access)


#: Kernels built so far, by device and text: most tests differ in data alone.
_built: dict[tuple[int, str], object] = {}


class Bench:
    """A device, and the capabilities to render for."""

    def __init__(self, runtime, mask: str = "") -> None:
        self.runtime, self.caps = runtime, runtime.capabilities.masked(mask)

    def kernel(self, spec: KernelSpec):
        source = render([spec], self.caps)
        key = (id(self.runtime), source.text)
        if key not in _built:
            _built[key] = self.runtime.load(self.runtime.build(source), source)[spec.entry]
        return _built[key]

    def run(self, spec: KernelSpec, arrays, extents, scalars=()) -> np.ndarray:
        """Run over ``arrays`` (views, one for each operand, as wide as the iteration space); returns the error cell."""
        device, rank = self.runtime, spec.rank if spec.param("kept") is None else spec.param("kept") + 1
        roots = {id(root(a)): root(a) for a in arrays}
        buffers = {}
        for key, base in roots.items():
            buffers[key] = device.alloc(-(-base.nbytes // 4) * 4)
            device.copy_in(buffers[key], 0, np.ascontiguousarray(base))
        cell, errors = np.zeros(3, np.int64), device.alloc(24)
        device.copy_in(errors, 0, cell)
        args, strides = [], []
        for op, array in zip(spec.operands, arrays, strict=True):
            base = root(array)
            start = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // array.itemsize
            args += [buffers[id(base)], start if array.size else 0]
            steps = [s // array.itemsize for s in array.strides]
            strides += steps[: len(indexing.strides(op, rank))]
        has_error = spec.family in ("gather", "put") and spec.param("error", True)
        args += [*([errors] if has_error else []), *scalars, *extents, *strides]
        device.launch(self.kernel(spec), geometry(spec, self.caps, *extents), args)
        device.synchronize()
        for op, array in zip(spec.outputs, arrays, strict=False):
            del op
            device.copy_out(buffers[id(root(array))], 0, root(array))
        device.copy_out(errors, 0, cell)
        return cell


class PlainOpenCL:
    """Bare pyopencl with buffers of the exact size, so that the simulator sees every access out of bounds."""

    def __init__(self, name: str) -> None:
        import pyopencl as cl

        self.cl = cl
        found = [d for p in cl.get_platforms() for d in p.get_devices() if name.lower() in (p.name + d.name).lower()]
        self.context = cl.Context([found[0]])
        self.queue = cl.CommandQueue(self.context)
        self.capabilities = Capabilities(
            "opencl", cpu_like=True, fp64=True, int64_atomics=True, compute_units=2,
            max_workgroup=found[0].max_work_group_size,
        )  # fmt: skip

    def alloc(self, nbytes):
        return self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, max(nbytes, 4))

    def copy_in(self, buffer, offset, array):
        if array.nbytes:
            self.cl.enqueue_copy(self.queue, buffer, array.reshape(-1).view(np.uint8), dst_offset=offset)

    def copy_out(self, buffer, offset, array):
        if array.nbytes:
            self.cl.enqueue_copy(self.queue, array.reshape(-1).view(np.uint8), buffer, src_offset=offset)

    def build(self, source):
        return source

    def load(self, blob, source):
        program = self.cl.Program(self.context, source.text).build()
        return {entry: (getattr(program, entry), args) for entry, args in source.entries}

    def launch(self, kernel, grid, args):
        function, layout = kernel
        values = [a if p.kind == "buffer" else CODES[p.code](a) for p, a in zip(layout, args, strict=True)]
        function(self.queue, grid.global_size, grid.local_size, *values)

    def synchronize(self):
        self.queue.finish()


# ------------------------------------------------------------------------------------------------------ families


def scan(bench: Bench, op: str, x: np.ndarray, acc: str, *, reverse=False, chunk=0, kept_dense=False, out=None, **more):
    """Scan the last axis of ``x``; with ``chunk`` in two stages. Returns (values, indices or None)."""
    kept, n = x.ndim - 1, x.shape[-1]
    indexed = op in ("max", "min")
    y0 = np.empty(x.shape, CODES[acc]) if out is None else out
    y1 = np.empty(x.shape, np.int64) if indexed else None
    params = (("op", op), ("kept", kept), ("acc", acc), ("reverse", reverse))
    source = operand("x0", x, "k" if kept_dense else None)
    outs = [y0] + ([y1] if indexed else [])

    def spec(stage, outputs, inputs):
        return KernelSpec("scan", f"scan_{stage}", outputs, inputs, params=(*params, ("stage", stage)), **more)

    results = tuple(operand(f"y{k}", a) for k, a in enumerate(outs))
    if not chunk:
        bench.run(spec("full", results, (source,)), [*outs, x], x.shape)
        return y0, y1
    rows, splits = math.prod(x.shape[:-1]), -(-n // chunk)
    totals = [np.empty((rows, splits), CODES[acc])] + ([np.empty((rows, splits), np.int64)] if indexed else [])
    packed = tuple(operand(f"y{k}", a, "p") for k, a in enumerate(totals))
    bench.run(spec("partial", packed, (source,)), [*totals, x], [*x.shape, chunk])
    carried = tuple(operand(f"x{k + 1}", a, "p") for k, a in enumerate(totals))
    bench.run(spec("apply", results, (source, *carried)), [*outs, x, *totals], [*x.shape, chunk])
    return y0, y1


def pairs(indices, extents, steps):
    """The ``e0, t0, e1, t1 ...`` of gather and put."""
    del indices
    return [v for pair in zip(extents, steps, strict=True) for v in pair]


def gather(bench: Bench, y, x, indices, extents, steps, access=None, **more):
    """``y`` from ``x`` (strides of the coordinates) through ``indices``, all of y's shape; returns the cell."""
    x, indices = np.broadcast_to(x, y.shape, subok=False) if x.shape != y.shape else x, [*indices]
    ins = (operand("x0", x, "s"), *(operand(f"i{k}", i, access) for k, i in enumerate(indices)))
    spec = KernelSpec(
        "gather", "gather", (operand("y0", y),), ins, (("code", "i32"),), rank=y.ndim,
        params=(("n_index", len(indices)),), **more,
    )  # fmt: skip
    return bench.run(spec, [y, x, *indices], [*y.shape, *pairs(indices, extents, steps)], [7])


def put(
    bench: Bench, y, x, indices, extents, steps, accumulate="none", deterministic=False, access=None, owners=0, **more
):
    """Put ``x`` into ``y`` (a view with the strides of the coordinates); returns the error cell."""
    from tensorx.kernels import put as family

    ins = (operand("x0", x), *(operand(f"i{k}", i, access) for k, i in enumerate(indices)))
    deterministic = deterministic or family.must_be_deterministic(code_of(y), accumulate, bench.caps)
    params = (("n_index", len(indices)), ("accumulate", accumulate), ("deterministic", deterministic))
    spec = KernelSpec(
        "put", "put", (operand("y0", y, "s"),), ins, (("code", "i32"),), rank=x.ndim, params=params, **more
    )
    sizes = [*x.shape, *pairs(indices, extents, steps)]
    if deterministic:
        dealt = family.deal(spec, bench.caps, x.shape)
        sizes += [owners or dealt[0], dealt[1]]
    return bench.run(spec, [y, x, *indices], sizes, [7])


def sort(bench: Bench, x: np.ndarray, descending=False, chunk=0, index=np.int64):
    """Sort the last axis; returns (keys, positions)."""
    from tensorx.kernels import sort as family

    kept, n = x.ndim - 1, x.shape[-1]
    keys, places = np.empty(x.shape, x.dtype), np.empty(x.shape, index)
    params = (("kept", kept), ("descending", descending))
    outs = (operand("y0", keys), operand("y1", places))
    spec = KernelSpec("sort", "sort_block", outs, (operand("x0", x),), params=(*params, ("stage", "block")))
    bench.run(spec, [keys, places, x], x.shape)
    for width in family.widths(n):
        new, moved = np.empty_like(keys), np.empty_like(places)
        ins = (operand("x0", keys), operand("x1", places))
        spec = KernelSpec("sort", "sort_merge", outs, ins, params=(*params, ("stage", "merge")))
        share = min(chunk, 2 * width) or family.chunk(bench.caps, width)
        bench.run(spec, [new, moved, keys, places], [*x.shape, width, share])
        keys, places = new, moved
    return keys, places


def radix(bench: Bench, x: np.ndarray, descending=False):
    """Sort the last axis in one launch; returns (keys, positions)."""
    from tensorx.kernels import radix as family

    kept, held = x.ndim - 1, operand("x0", x).compute
    values, places = np.empty(x.shape, x.dtype), np.empty(x.shape, np.int64)
    code = family.key_code(held)
    scratch = [np.empty(x.shape, CODES[c]) for c in (code, code, "i32", "i32")]
    outs = (operand("y0", values), operand("y1", places), *(operand(f"y{i}", a, "p") for i, a in enumerate(scratch, 2)))
    params = (("kept", kept), ("descending", descending))
    spec = KernelSpec("radix", "sort_radix", outs, (operand("x0", x),), params=params)
    bench.run(spec, [values, places, *scratch, x], x.shape)
    return values, places


def nonzero(bench: Bench, mask: np.ndarray) -> np.ndarray:
    """The coordinates of the set elements, from a scan made by NumPy."""
    upto = np.cumsum(mask.reshape(-1), dtype=np.int64)
    y = np.empty((int(upto[-1]) if upto.size else 0, mask.ndim), np.int64)
    spec = KernelSpec("nonzero", "nonzero", (operand("y0", y, "p"),), (operand("x0", upto, "p"),), rank=mask.ndim)
    bench.run(spec, [y, upto], mask.shape)
    return y
