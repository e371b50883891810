"""The device side of the OpenCL backend. Importing this module loads the OpenCL driver loader: only :mod:`.opencl`
does, on first use.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl import characterize
from pyopencl.tools import ImmediateAllocator, MemoryPool

from tensorx.devices import opencl_limits
from tensorx.devices.base import (
    Buffer,
    Grid,
    PastEvent,
    Source,
    alloc_with_retry,
    code_traits,
    raise_compile_error,
    raise_out_of_memory,
    raise_too_large,
    words,
)
from tensorx.devices.cpu_name import teach
from tensorx.devices.driver import DriverDevice
from tensorx.devices.opencl_program import GATE, Kernel, OpenCLEvent, Unpooled, from_binary, optional
from tensorx.devices.pool import block_sizes
from tensorx.devices.probe import PROBE, PROBE_BYTES, TURNS, fast_fma, warn_of_short_loops
from tensorx.errors import DeviceLost, KernelError
from tensorx.kernels.capabilities import Capabilities


class OpenCL(DriverDevice):
    """One device of one platform. Context, queue and pool are made on first use."""

    kind, gate = "opencl", GATE

    def __init__(self, index: int, device: Any) -> None:
        self.index, self._device = index, device
        self.name = device.name.strip()
        self.driver_version = device.driver_version.strip()
        self.driver = f"{device.platform.name.strip()}, {device.version.strip()}, driver {self.driver_version}"
        self.platform = device.platform.name
        self.vendor_and_name = f"{device.vendor} {device.name}"
        self.cpu_like = bool(device.type & cl.device_type.CPU)
        # Correctly rounded where the device can: the same quotients on every device that can.
        single = int(device.single_fp_config)
        self._correct_sqrt = bool(single & int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT))
        self._event_times = device.profiling_timer_resolution > 0  # else every kernel takes 1 ns
        # The pool rounds sizes up by less than an eighth; a buffer so large that the device would refuse that is not
        # pooled.
        self._largest_pooled = device.max_mem_alloc_size // 8 * 7
        self._lock = threading.RLock()  # the collector may run finalizers that allocate while it is held
        self._peak, self._unpooled, self._cpu_name = 0, Unpooled(), ""

    @functools.cached_property
    def _context(self) -> Any:
        return cl.Context([self._device])

    @functools.cached_property
    def _queue(self) -> Any:
        return cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    @functools.cached_property
    def _pins(self) -> Any:
        """A queue of its own: memory is pinned by mapping it, which in the other one would wait for the kernels."""
        return cl.CommandQueue(self._context)

    @functools.cached_property
    def _allocator(self) -> Any:
        return ImmediateAllocator(self._queue)

    @functools.cached_property
    def _pool(self) -> Any:
        return MemoryPool(self._allocator)

    @functools.cached_property
    def _block(self) -> Callable[[int], int]:
        return block_sizes(self._pool)

    @functools.cached_property
    def _unrestricted(self) -> bool:
        return opencl_limits.liftable(self._context, self._device)

    @functools.cached_property
    def _options(self) -> bytes:
        return opencl_limits.options(self._correct_sqrt, self._unrestricted)

    @functools.cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        d, extensions = self._device, set(self._device.extensions.split())
        fast_fma, long_loops = self._probed() if self.cpu_like else (True, True)
        return Capabilities(
            dialect="opencl",
            cpu_like=self.cpu_like and long_loops,  # else a GPU's kernels: many work-items, of few turns each
            fp64="cl_khr_fp64" in extensions,
            fp16="cl_khr_fp16" in extensions,
            int64_atomics="cl_khr_int64_base_atomics" in extensions,
            float_atomics=False,  # OpenCL C 1.2, which every driver builds, has none: kernels use compare and swap
            subgroups=optional(d, "max_num_sub_groups") > 0,
            max_workgroup=d.max_work_group_size,
            local_mem=d.local_mem_size,
            max_alloc=d.global_mem_size if self._unrestricted else d.max_mem_alloc_size,
            unrestricted_alloc=self._unrestricted,
            total_mem=d.global_mem_size,
            compute_units=d.max_compute_units,
            simd_width=max(d.native_vector_width_float, 1),
            fast_fma=fast_fma,
            correct_sqrt=self._correct_sqrt,
            event_times=self._event_times,
            long_loops=long_loops,
        ).masked()

    def _probed(self) -> tuple[bool, bool]:
        """``fast_fma`` and ``long_loops``."""
        program, memory = self._built(PROBE), self._allocator(PROBE_BYTES)
        cl.enqueue_fill_buffer(self._queue, memory, np.float32(1), 0, PROBE_BYTES)

        def run(entry: str, n: int) -> float:
            kernel = cl.Kernel(program, entry)
            kernel.set_args(memory, np.int32(n))
            start = time.perf_counter_ns()
            event = cl.enqueue_nd_range_kernel(self._queue, kernel, (1,), (1,))
            event.wait()
            host = time.perf_counter_ns() - start
            return float(event.profile.end - event.profile.start) if self._event_times else host

        run("turns", TURNS)
        turns = np.empty(1, np.float32)
        cl.enqueue_copy(self._queue, turns, memory, is_blocking=True)
        return fast_fma(run), int(turns[0]) == TURNS

    @functools.cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        platform, options = self._device.platform, self._options.decode()
        traits = code_traits(self.capabilities)  # before the processor's name, which their probe may be what finds
        parts = (platform.name, platform.version, self.name, self.driver, options, traits, self._cpu_name)
        return "|".join(map(str, ("opencl", *parts)))

    def open(self) -> None:
        with GATE:
            assert self._pool is not None
            if not self.capabilities.long_loops:
                warn_of_short_loops(f"opencl:{self.index} ({self.driver})")

    def alloc(self, nbytes: int) -> Buffer:
        GATE.check()
        if nbytes <= self.capabilities.max_alloc:
            buffer = self._attempt(words(nbytes))
            if buffer is not None:
                return buffer
        return alloc_with_retry(self, nbytes, functools.partial(self._attempt, words(nbytes)))

    def _attempt(self, nbytes: int) -> Buffer | None:
        pool = self._pool
        try:
            with self._lock:
                pooled = nbytes <= self._largest_pooled
                buffer = pool.allocate(self._block(nbytes)) if pooled else self._unpooled.allocate(self._queue, nbytes)
        except cl.MemoryError:
            return None
        # Looked at afterwards: only the pool knows whether a cached block served the call.
        held = self._held() if self._unpooled else pool.managed_bytes
        if held <= self.capabilities.total_mem:
            return buffer
        del buffer
        self.empty_cache()  # the block that was too much is in the pool now
        return None

    def _held(self) -> int:
        """Bytes held from the driver."""
        held = int(self._pool.managed_bytes) + self._unpooled.bytes()
        self._peak = max(self._peak, held)
        return held

    def copy_in(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        self._copy(buffer, array, array.nbytes, dst_offset=byte_offset)

    def copy_in_async(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> OpenCLEvent | None:
        GATE.check()
        if not array.nbytes:
            return None
        return OpenCLEvent(cl.enqueue_copy(self._queue, buffer, array, is_blocking=False, dst_offset=byte_offset))

    def pin(self, nbytes: int) -> np.ndarray[Any, Any]:
        """Memory of the driver's own choice, mapped for as long as it lives."""
        if nbytes > self.capabilities.max_alloc:
            raise_too_large(self, nbytes)
        with GATE:
            try:
                memory = cl.Buffer(self._context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, nbytes)
                both = cl.map_flags.READ | cl.map_flags.WRITE
                return cl.enqueue_map_buffer(self._pins, memory, both, 0, (nbytes,), np.uint8)[0]  # type: ignore[no-any-return]
            except cl.MemoryError:
                raise_out_of_memory(self, nbytes)

    def copy_out(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        self._copy(array, buffer, array.nbytes, src_offset=byte_offset)

    def copy(self, dst: Buffer, dst_byte_offset: int, src: Buffer, src_byte_offset: int, nbytes: int) -> None:
        GATE.check()
        if nbytes:
            cl.enqueue_copy(
                self._queue, dst, src, byte_count=nbytes, dst_offset=dst_byte_offset, src_offset=src_byte_offset
            )

    def _copy(self, dst: Any, src: Any, nbytes: int, **offset: int) -> None:
        with GATE:
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
            if not self._cpu_name:
                self._cpu_name = teach(self._device.int_ptr, log)
                if self._cpu_name:
                    return self._built(text)
            raise_compile_error(self.driver, text, log, ".cl")
        return program

    def build(self, source: Source) -> bytes:
        """The binary; nothing where the driver keeps what it built: PoCL would build every kernel once more for it."""
        with GATE:
            program = self._built(source.text)
            kept = characterize.has_src_build_cache(self._device)
            return b"" if kept else bytes(program.get_info(cl.program_info.BINARIES)[0])

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        with GATE:
            whole = (self._context, self._device, blob, self._options)
            program = from_binary(*whole) if blob else self._built(source.text)
            return {entry: Kernel(program, entry, layout) for entry, layout in source.entries}

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        GATE.check()
        assert grid is not None
        if 0 in grid.global_size:
            return
        local = kernel.local
        own = local.spare or local.make()
        local.spare = None  # in use: should the collector run a finalizer that launches this kernel, it makes another
        try:
            kernel.set_args(own, args)
            cl.enqueue_nd_range_kernel(self._queue, own, grid.global_size, grid.local_size or None)
        except cl.Error as error:
            lost = error.code == cl.status_code.DEVICE_NOT_AVAILABLE
            text = f"launch: kernel {kernel.entry!r} was refused by opencl:{self.index} with {grid}: {error}"
            raise (DeviceLost if lost else KernelError)(text) from error
        finally:
            local.spare = own

    def synchronize(self) -> None:
        with GATE:
            self._queue.finish()

    def event(self) -> OpenCLEvent | PastEvent:
        GATE.check()
        if not self.capabilities.event_times:
            self.synchronize()
            return PastEvent()
        return OpenCLEvent(cl.enqueue_marker(self._queue))

    def memory_stats(self) -> dict[str, int]:
        held, cached = self._held(), self._pool.managed_bytes - self._pool.active_bytes
        return {"used": held - cached, "cached": cached, "peak": self._peak, "limit": self.capabilities.total_mem}

    def empty_cache(self) -> None:
        GATE.check()
        self._held()
        with self._lock:
            self._pool.free_held()

    def reset_peak(self) -> None:
        self._peak = 0
        self._held()

    def opened(self) -> list[Any]:
        return [self.__dict__[k] for k in ("_pool", "_allocator", "_pins", "_queue", "_context") if k in self.__dict__]

    def close(self) -> None:
        """Let the pool give memory back at once, too, instead of keeping it."""
        if "_queue" in self.__dict__:
            self._queue.finish()
        if "_pool" in self.__dict__:
            self._pool.stop_holding()
