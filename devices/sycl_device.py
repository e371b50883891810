"""The device side of the SYCL backend: an in-order queue, USM device memory, kernels from OpenCL C text.

Importing this module loads dpctl: only :mod:`.sycl` does, on first use. Submitting takes dimensions in the order
opposite to OpenCL's.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Sequence
from typing import Any

import dpctl
import dpctl.memory
import numpy as np

from tensorx.devices import spirv
from tensorx.devices.base import Grid, PastEvent, Source, alloc_with_retry, code_traits, raise_out_of_memory, words
from tensorx.devices.driver import DriverDevice
from tensorx.devices.probe import PROBE, PROBE_BYTES, fast_fma
from tensorx.devices.sycl_build import Programs
from tensorx.devices.sycl_program import GATE, Memory, SyclEvent, UsmPool
from tensorx.devices.sycl_submit import Kernel, copy
from tensorx.errors import DeviceLost, KernelError
from tensorx.kernels.capabilities import Capabilities

_CORRECT_DIVIDE_SQRT = "-cl-fp32-correctly-rounded-divide-sqrt"
#: Quotients and roots of two arrays, to be compared with correctly rounded ones.
_ROUNDING = """
__kernel void rounding(__global const float *a, __global const float *b, __global float *y, int n) {
  int i = get_global_id(0); y[i] = a[i] / b[i]; y[n + i] = sqrt(a[i]);
}"""


class Sycl(DriverDevice):
    """One device. Queue and pool are made on first use."""

    kind, gate = "sycl", GATE

    def __init__(self, index: int, device: Any) -> None:
        self.index, self._device = index, device
        self.name = device.name.strip()
        self.driver = f"{device.sycl_platform.name.strip()} over {device.backend.name}, driver {device.driver_version}"
        self.cpu_like = device.is_cpu
        self._event_times = device.has_aspect_queue_profiling
        self.takes_source = device.backend == dpctl.backend_type.opencl

    @functools.cached_property
    def _queue(self) -> Any:
        return dpctl.SyclQueue(self._device, property="in_order")

    @functools.cached_property
    def _clock(self) -> Any:
        """A second queue that keeps times, which would add a third to the cost of each launch."""
        return dpctl.SyclQueue(self._queue.sycl_context, self._device, property=("in_order", "enable_profiling"))

    @functools.cached_property
    def _queue_ref(self) -> int:
        return int(self._queue.addressof_ref())

    @functools.cached_property
    def _pool(self) -> UsmPool:
        return UsmPool(self._queue, self.capabilities.total_mem, self.capabilities.max_alloc)

    @functools.cached_property
    def _programs(self) -> Programs:
        """With correctly rounded quotients where the driver takes the option: SYCL has no query for it."""
        compiler = None if self.takes_source else spirv.find()
        exact = Programs(self._queue, self.driver, _CORRECT_DIVIDE_SQRT, compiler)
        return exact if exact.takes(_ROUNDING) else Programs(self._queue, self.driver, "", compiler)

    def _program(self, text: str) -> Any:
        return self._programs.load(self._programs.build(text))

    @functools.cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        d = self._device
        return Capabilities(
            dialect="opencl",
            cpu_like=self.cpu_like,
            fp64=d.has_aspect_fp64,
            fp16=d.has_aspect_fp16,
            int64_atomics=d.has_aspect_atomic64,
            float_atomics=False,
            subgroups=d.max_num_sub_groups > 0,
            max_workgroup=d.max_work_group_size,
            local_mem=d.local_mem_size,
            max_alloc=d.max_mem_alloc_size,
            total_mem=d.global_mem_size,
            compute_units=d.max_compute_units,
            simd_width=max(d.native_vector_width_float, 1),
            fast_fma=not self.cpu_like or self._fast_fma(),
            correct_sqrt=self._rounds_correctly(),
            event_times=self._event_times,
        ).masked()

    def _fast_fma(self) -> bool:
        program = self._program(PROBE)
        memory = dpctl.memory.MemoryUSMDevice(PROBE_BYTES, queue=self._queue)
        self._queue.memcpy(memory, np.ones(PROBE_BYTES // 4, np.float32), PROBE_BYTES)

        def run(entry: str, n: int) -> float:
            start = time.perf_counter_ns()
            queue = self._clock if self._event_times else self._queue
            event = queue.submit_async(program.get_sycl_kernel(entry), [memory, ctypes.c_int32(n)], [1], [1])
            event.wait()
            if not self._event_times:
                return time.perf_counter_ns() - start
            return float(event.profiling_info_end - event.profiling_info_start)

        return fast_fma(run)

    def _rounds_correctly(self) -> bool:
        """SYCL has no query for it."""
        n = 4096
        a, b = np.random.RandomState(0).uniform(1, 4, (2, n)).astype(np.float32)
        got = np.empty(2 * n, np.float32)
        x, y, z = (dpctl.memory.MemoryUSMDevice(size, queue=self._queue) for size in (4 * n, 4 * n, 8 * n))
        self._queue.memcpy(x, a, 4 * n)
        self._queue.memcpy(y, b, 4 * n)
        kernel = self._program(_ROUNDING).get_sycl_kernel("rounding")
        self._queue.submit_async(kernel, [x, y, z, ctypes.c_int32(n)], [n], [1])
        self._queue.memcpy(got, z, 8 * n)
        return bool((got == np.concatenate([a / b, np.sqrt(a)])).all())

    @functools.cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        return "|".join(("sycl", self.name, self.driver, self._programs.traits, code_traits(self.capabilities)))

    def open(self) -> None:
        with GATE:
            assert self._pool is not None

    def alloc(self, nbytes: int) -> Memory:
        GATE.check()
        memory = self._pool.alloc(words(nbytes))
        if memory is None:
            memory = alloc_with_retry(self, nbytes, lambda: self._pool.alloc(words(nbytes)))
        return memory  # type: ignore[no-any-return]

    def _copy(self, target: int, source: int, nbytes: int) -> Any:
        event = copy(self._queue_ref, target, source, nbytes)
        if event is None:
            raise self._fault(f"copy: {nbytes} bytes were refused by sycl:{self.index}")
        return event

    def copy_in(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes:
            with GATE:
                self._copy(buffer.address + byte_offset, array.ctypes.data, array.nbytes).wait()

    def copy_in_async(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> SyclEvent | None:
        GATE.check()
        if not array.nbytes:
            return None
        return SyclEvent(self._copy(buffer.address + byte_offset, array.ctypes.data, array.nbytes))

    def pin(self, nbytes: int) -> Any:
        try:
            return dpctl.memory.MemoryUSMHost(nbytes, alignment=128, queue=self._queue)
        except dpctl.memory.USMAllocationError:
            raise_out_of_memory(self, nbytes)

    def copy_out(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes:
            with GATE:
                self._copy(array.ctypes.data, buffer.address + byte_offset, array.nbytes).wait()

    def copy(self, dst: Memory, dst_byte_offset: int, src: Memory, src_byte_offset: int, nbytes: int) -> None:
        GATE.check()
        if nbytes:
            self._copy(dst.address + dst_byte_offset, src.address + src_byte_offset, nbytes)

    def build(self, source: Source) -> bytes:
        with GATE:
            return self._programs.build(source.text)

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        with GATE:
            program = self._programs.load(blob)
            missing = [entry for entry, _ in source.entries if not program.has_sycl_kernel(entry)]
            if missing:
                raise KernelError(f"load: the program must have the kernels {missing}; they are not there")
            return {entry: Kernel(program.get_sycl_kernel(entry), entry, layout) for entry, layout in source.entries}

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        GATE.check()
        assert grid is not None
        if 0 in grid.global_size:
            return
        if not kernel.submit(self._queue_ref, grid, args):
            raise self._fault(f"launch: kernel {kernel.entry!r} was refused by sycl:{self.index} with {grid}")

    def _fault(self, what: str) -> KernelError | DeviceLost:
        """dpctl says nothing of why a command was refused: a device that refuses a barrier too is lost."""
        try:
            self._queue.submit_barrier()
        except dpctl.SyclKernelSubmitError:
            return DeviceLost(f"{what}; the device no longer answers")
        return KernelError(f"{what}; dpctl gives no reason")

    def synchronize(self) -> None:
        with GATE:
            self._queue.wait()

    def event(self) -> SyclEvent | PastEvent:
        GATE.check()
        if not self.capabilities.event_times:
            self.synchronize()
            return PastEvent()
        return SyclEvent(self._clock.submit_barrier([self._queue.submit_barrier()]))

    def memory_stats(self) -> dict[str, int]:
        return self._pool.stats()

    def empty_cache(self) -> None:
        self.synchronize()
        self._pool.empty()

    def reset_peak(self) -> None:
        self._pool.reset_peak()

    def opened(self) -> list[Any]:
        return [self._device, *(self.__dict__[k] for k in ("_queue", "_clock", "_pool") if k in self.__dict__)]

    def close(self) -> None:
        if "_queue" in self.__dict__:
            self._queue.wait()
