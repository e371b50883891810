"""The device side of the OpenCL backend. Importing this module loads the OpenCL driver loader: only :mod:`.opencl`
does, on first use.
"""

from __future__ import annotations

import functools
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl import LocalMemory
from pyopencl.tools import ImmediateAllocator, MemoryPool

from tensorx.devices.base import Buffer, Device, Grid, Source, alloc_with_retry, raise_compile_error, raise_forked
from tensorx.errors import DeviceLost, KernelError
from tensorx.kernels.capabilities import Capabilities

#: struct codes of scalars that pyopencl packs itself; a C long is 64 bits wherever _LONG_IS_64.
_PACK = {"b8": "B", "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "L", "i64": "l"}
_PACK |= {"f32": "f", "f64": "d"}
_LONG_IS_64 = struct.calcsize("l") == 8
_CORRECT_DIVIDE_SQRT = "-cl-fp32-correctly-rounded-divide-sqrt"

#: fma against multiply and add, six independent chains each: neither FP_FAST_FMAF nor CL_FP_FMA tells an instruction
#: from a call (PoCL answers yes and calls, Intel's CPU runtime answers no and has the instruction).
_PROBE = r"""
#pragma OPENCL FP_CONTRACT OFF
#define MULADD(a, b, c) ((a) * (b) + (c))
#define PROBE(NAME, OP) __kernel void NAME(__global float8 *y, int n) { \
  float8 p = y[0], q = y[1], r = y[2], s = y[3], t = y[4], u = y[5], k = (float8)(0.5f); \
  for (int i = 0; i < n; i++) { p = OP(p, k, k); q = OP(q, k, k); r = OP(r, k, k); \
    s = OP(s, k, k); t = OP(t, k, k); u = OP(u, k, k); } \
  y[0] = p + q + r + s + t + u; }
PROBE(with_fma, fma)
PROBE(with_muladd, MULADD)
"""

forked = False  # set in a child whose parent had enumerated the platforms


class Kernel:
    """An entry point with one driver kernel object per thread: arguments are state of the object (a shared one mixes
    them up).
    """

    def __init__(self, program: Any, entry: str, layout: Sequence[Any]) -> None:
        self.entry = entry
        self.set_args = _argument_setter(layout)
        self.local = _PerThread(functools.partial(cl.Kernel, program, entry))
        if self.local.kernel.num_args != len(layout):
            raise KernelError(
                f"load: kernel {entry!r} must take {self.local.kernel.num_args} arguments; "
                f"got a layout of {len(layout)}"
            )


class _PerThread(threading.local):
    """Python calls __init__ again in each thread that touches the object."""

    def __init__(self, make: Any) -> None:
        self.kernel = make()


def _argument_setter(layout: Sequence[Any]) -> Any:
    """A function of (cl.Kernel, args) that sets all arguments in at most two driver-binding calls (1 us; one call
    each is 4 us).
    """
    objects, numbers = [], []
    for i, arg in enumerate(layout):
        if arg.kind == "buffer":
            objects.append(f"{i}, a[{i}]")
        elif arg.kind == "local":
            objects.append(f"{i}, LocalMemory(a[{i}])")
        elif _LONG_IS_64 or _PACK[arg.code] not in "lL":
            numbers.append(f"{i}, {_PACK[arg.code].encode()!r}, a[{i}]")
        else:
            objects.append(f"{i}, int64(a[{i}])")
    calls = [f"k._set_arg_multi(({', '.join(objects)},))"] if objects else []
    calls += [f"k._set_arg_buf_pack_multi(({', '.join(numbers)},))"] if numbers else []
    return eval(f"lambda k, a: ({', '.join(calls)},)", {"LocalMemory": LocalMemory, "int64": np.int64})


class OpenCLEvent:
    """A marker in the queue."""

    def __init__(self, event: Any) -> None:
        self._event = event

    def wait(self) -> None:
        self._event.wait()

    @property
    def done(self) -> bool:
        return int(self._event.command_execution_status) == 0  # CL_COMPLETE

    def elapsed(self, end: OpenCLEvent) -> float:
        """Milliseconds of device time from this event to ``end``."""
        end.wait()
        return float(end._event.profile.end - self._event.profile.end) * 1e-6


class OpenCL(Device):
    """One device of one platform. Context, queue and pool are made on first use."""

    kind = "opencl"

    def __init__(self, index: int, device: Any) -> None:
        self.index, self._device = index, device
        self.name = device.name.strip()
        self.driver = (
            f"{device.platform.name.strip()}, {device.version.strip()}, driver {device.driver_version.strip()}"
        )
        self.platform = device.platform.name
        self.vendor_and_name = f"{device.vendor} {device.name}"
        self.cpu_like = bool(device.type & cl.device_type.CPU)
        # Correctly rounded where the device can: the same quotients on every device that can.
        single = int(device.single_fp_config)
        self._correct_sqrt = bool(single & int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT))
        self._options = _CORRECT_DIVIDE_SQRT.encode() if self._correct_sqrt else b""
        self._lock = threading.Lock()
        self._peak = 0

    @functools.cached_property
    def _context(self) -> Any:
        return cl.Context([self._device])

    @functools.cached_property
    def _queue(self) -> Any:
        return cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    @functools.cached_property
    def _allocator(self) -> Any:
        return ImmediateAllocator(self._queue)

    @functools.cached_property
    def _pool(self) -> Any:
        return MemoryPool(self._allocator)

    @functools.cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        d, extensions = self._device, set(self._device.extensions.split())
        return Capabilities(
            dialect="opencl",
            cpu_like=self.cpu_like,
            fp64="cl_khr_fp64" in extensions,
            fp16="cl_khr_fp16" in extensions,
            int64_atomics="cl_khr_int64_base_atomics" in extensions,
            float_atomics=False,  # OpenCL C 1.2, which every driver builds, has none: kernels use compare and swap
            subgroups=_optional(d, "max_num_sub_groups") > 0,
            max_workgroup=d.max_work_group_size,
            local_mem=d.local_mem_size,
            max_alloc=d.max_mem_alloc_size,
            total_mem=d.global_mem_size,
            compute_units=d.max_compute_units,
            simd_width=max(d.native_vector_width_float, 1),
            fast_fma=self._fast_fma() if self.cpu_like else True,
            correct_sqrt=self._correct_sqrt,
        ).masked()

    @functools.cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        platform = self._device.platform
        parts = (platform.name, platform.version, self.name, self.driver, self._options.decode(), self.capabilities)
        return "|".join(map(str, ("opencl", *parts)))

    def open(self) -> None:
        if forked:
            raise_forked("opencl")
        assert self._pool is not None
        assert self.capabilities is not None

    def _fast_fma(self) -> bool:
        program = self._built(_PROBE)
        memory = self._allocator(6 * 32)
        cl.enqueue_fill_buffer(self._queue, memory, np.float32(1), 0, 6 * 32)
        best = {}
        for entry in ("with_fma", "with_muladd"):
            kernel = cl.Kernel(program, entry)
            kernel.set_arg(0, memory)
            kernel.set_arg(1, np.int32(40000))
            times = []
            for _ in range(5):
                start = time.perf_counter()
                cl.enqueue_nd_range_kernel(self._queue, kernel, (1,), (1,)).wait()
                times.append(time.perf_counter() - start)
            best[entry] = min(times)
        return best["with_fma"] < 1.5 * best["with_muladd"]

    def alloc(self, nbytes: int) -> Buffer:
        if forked:
            raise_forked("opencl")
        return alloc_with_retry(self, nbytes, functools.partial(self._attempt, nbytes or 1))

    def _attempt(self, nbytes: int) -> Buffer | None:
        pool = self._pool
        rounded = pool.alloc_size(pool.bin_number(nbytes)) > self._device.max_mem_alloc_size
        try:
            with self._lock:
                buffer = self._allocator(nbytes) if rounded else pool.allocate(nbytes)
        except cl.MemoryError:
            return None
        # Looked at afterwards: only the pool knows whether a cached block served the call.
        return buffer if pool.managed_bytes <= self.capabilities.total_mem else None

    def copy_in(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        self._copy(buffer, array, array.nbytes, dst_offset=byte_offset)

    def copy_out(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        self._copy(array, buffer, array.nbytes, src_offset=byte_offset)

    def copy(self, dst: Buffer, dst_byte_offset: int, src: Buffer, src_byte_offset: int, nbytes: int) -> None:
        if forked:
            raise_forked("opencl")
        if nbytes:
            cl.enqueue_copy(
                self._queue, dst, src, byte_count=nbytes, dst_offset=dst_byte_offset, src_offset=src_byte_offset
            )

    def _copy(self, dst: Any, src: Any, nbytes: int, **offset: int) -> None:
        if forked:
            raise_forked("opencl")
        if nbytes:
            cl.enqueue_copy(self._queue, dst, src, is_blocking=True, **offset)

    def _built(self, text: str) -> Any:
        """A built program, straight from the driver: pyopencl's own build caches on disk and warns about harmless
        logs.
        """
        program = cl._cl._Program(self._context, text)
        try:
            program._build(self._options, [self._device])
        except cl.Error as error:
            log = program.get_build_info(self._device, cl.program_build_info.LOG) or str(error)
            raise_compile_error(self.driver, text, log, ".cl")
        return program

    def build(self, source: Source) -> bytes:
        if forked:
            raise_forked("opencl")
        return bytes(self._built(source.text).get_info(cl.program_info.BINARIES)[0])

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        if forked:
            raise_forked("opencl")
        program = cl._cl._Program(self._context, [self._device], [blob])
        program._build(self._options, [self._device])
        return {entry: Kernel(program, entry, layout) for entry, layout in source.entries}

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        if forked:
            raise_forked("opencl")
        assert grid is not None
        if 0 in grid.global_size:
            return
        own = kernel.local.kernel
        try:
            kernel.set_args(own, args)
            cl.enqueue_nd_range_kernel(self._queue, own, grid.global_size, grid.local_size or None)
        except cl.Error as error:
            lost = error.code == cl.status_code.DEVICE_NOT_AVAILABLE
            text = f"launch: kernel {kernel.entry!r} was refused by opencl:{self.index} with {grid}: {error}"
            raise (DeviceLost if lost else KernelError)(text) from error

    def synchronize(self) -> None:
        if forked:
            raise_forked("opencl")
        self._queue.finish()

    def event(self) -> OpenCLEvent:
        if forked:
            raise_forked("opencl")
        return OpenCLEvent(cl.enqueue_marker(self._queue))

    def memory_stats(self) -> dict[str, int]:
        active, managed = self._pool.active_bytes, self._pool.managed_bytes
        self._peak = max(self._peak, managed)
        return {"used": active, "cached": managed - active, "peak": self._peak, "limit": self.capabilities.total_mem}

    def empty_cache(self) -> None:
        if forked:
            raise_forked("opencl")
        self._peak = max(self._peak, self._pool.managed_bytes)
        with self._lock:
            self._pool.free_held()

    def opened(self) -> list[Any]:
        """The driver objects that exist so far."""
        return [self.__dict__[k] for k in ("_pool", "_allocator", "_queue", "_context") if k in self.__dict__]

    def close(self) -> None:
        """Finish the queue and let the pool give memory back at once instead of keeping it."""
        if "_queue" in self.__dict__:
            self._queue.finish()
        if "_pool" in self.__dict__:
            self._pool.stop_holding()


def _optional(device: Any, name: str) -> int:
    """A query that drivers older than OpenCL 2.1 refuse."""
    try:
        return int(getattr(device, name))
    except cl.Error:
        return 0
