"""The device side of the CUDA backend. Importing this module loads the driver: only :mod:`.cuda` does, on first use."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Sequence
from operator import floordiv
from typing import Any

import numpy as np
import pycuda.driver as drv

from tensorx.devices import cuda_compiler
from tensorx.devices.base import (
    Grid,
    Source,
    alloc_with_retry,
    code_traits,
    raise_compile_error,
    raise_out_of_memory,
    words,
)
from tensorx.devices.cuda_program import GATE, Context, CudaEvent, Keeper, Kernel, Memory
from tensorx.devices.driver import DriverDevice
from tensorx.devices.pool import block_sizes
from tensorx.errors import CompileError, DeviceLost
from tensorx.kernels.capabilities import Capabilities

_ask = drv.device_attribute
#: A stream that waits for no other library's default stream.
_NON_BLOCKING = 1


class Cuda(DriverDevice):
    """One card. Its primary context is retained on first use: the one that the CUDA runtime's libraries share."""

    kind, gate = "cuda", GATE

    def __init__(self, index: int, device: Any) -> None:
        self.index, self._device = index, device
        self.name = device.name().strip()
        version = drv.get_driver_version()
        compiler = cuda_compiler.find()
        assert compiler is not None, "the backend looks for it first"
        self._compiler = compiler
        self.compute_capability: tuple[int, int] = (
            device.get_attribute(_ask.COMPUTE_CAPABILITY_MAJOR),
            device.get_attribute(_ask.COMPUTE_CAPABILITY_MINOR),
        )
        major, minor = self.compute_capability
        cuda = f"CUDA {version // 1000}.{version % 1000 // 10}"
        self.driver = f"{cuda}, capability {major}.{minor}, {self._compiler.version}"
        self._keeper = Keeper()
        self._peak = 0

    @functools.cached_property
    def _context(self) -> Context:
        return Context(f"cuda:{self.index}", self._device)

    @functools.cached_property
    def _stream(self) -> Any:
        with self._context:
            return drv.Stream(_NON_BLOCKING)

    @functools.cached_property
    def _pool(self) -> Any:
        with self._context:
            return drv.DeviceMemoryPool()

    @functools.cached_property
    def _block(self) -> Callable[[int], int]:
        return block_sizes(self._pool)

    @functools.cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        d = self._device
        return Capabilities(
            dialect="cuda",
            fp64=True,
            fp16=self.compute_capability >= (5, 3),
            int64_atomics=True,
            float_atomics=self.compute_capability >= (6, 0),  # before, none of float64
            subgroups=True,
            max_workgroup=d.get_attribute(_ask.MAX_THREADS_PER_BLOCK),
            local_mem=d.get_attribute(_ask.MAX_SHARED_MEMORY_PER_BLOCK),
            max_alloc=d.total_memory(),
            total_mem=d.total_memory(),
            compute_units=d.get_attribute(_ask.MULTIPROCESSOR_COUNT),
            simd_width=d.get_attribute(_ask.WARP_SIZE),
            fast_fma=True,
            correct_sqrt=True,  # --prec-div and --prec-sqrt are nvcc's and NVRTC's defaults
        ).masked()

    @functools.cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        return "|".join(("cuda", self.name, self.driver, *cuda_compiler.FLAGS, code_traits(self.capabilities)))

    def open(self) -> None:
        assert self._pool is not None
        assert self._stream is not None

    def alloc(self, nbytes: int) -> Memory:
        if nbytes <= self.capabilities.max_alloc:
            memory = self._attempt(words(nbytes))
            if memory is not None:
                return memory
        memory = alloc_with_retry(self, nbytes, functools.partial(self._attempt, words(nbytes)))
        return memory  # type: ignore[no-any-return]

    def _attempt(self, nbytes: int) -> Memory | None:
        pool = self._pool
        with self._context:
            self._keeper.release()
            try:
                block = pool.allocate(self._block(nbytes))
            except drv.MemoryError:
                return None
            # Looked at afterwards: only the pool knows whether a cached block served the call.
            if pool.managed_bytes <= self.capabilities.total_mem:
                return Memory(int(block), self._keeper.owner(block))
            del block
        self.empty_cache()  # the block that was too much is in the pool now
        return None

    def copy_in(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        with self._context:
            if array.nbytes:
                drv.memcpy_htod_async(buffer.address + byte_offset, _bytes(array), self._stream)
                self._stream.synchronize()

    def copy_in_async(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> CudaEvent | None:
        if not array.nbytes:
            return None
        with self._context:
            drv.memcpy_htod_async(buffer.address + byte_offset, _bytes(array), self._stream)
            return CudaEvent(self._context, self._keeper, self._stream)

    def pin(self, nbytes: int) -> Any:
        with self._context:
            self._keeper.release()
            try:
                memory = drv.pagelocked_empty(nbytes, np.uint8)
            except drv.MemoryError:
                raise_out_of_memory(self, nbytes)
            pages = (ctypes.c_uint8 * nbytes).from_address(memory.ctypes.data)
            pages.owner = self._keeper.owner(memory)  # type: ignore[attr-defined]  # ctypes arrays take attributes
            return pages

    def copy_out(self, buffer: Memory, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        with self._context:
            if array.nbytes:
                drv.memcpy_dtoh_async(_bytes(array), buffer.address + byte_offset, self._stream)
                self._stream.synchronize()

    def copy(self, dst: Memory, dst_byte_offset: int, src: Memory, src_byte_offset: int, nbytes: int) -> None:
        with self._context:
            if nbytes:
                target, source = dst.address + dst_byte_offset, src.address + src_byte_offset
                drv.memcpy_dtod_async(target, source, nbytes, self._stream)

    def build(self, source: Source) -> bytes:
        with GATE:
            try:
                return self._compiler.compile(source.text, self.compute_capability)
            except cuda_compiler.Refused as refusal:
                raise_compile_error(self._compiler.version, source.text, str(refusal), ".cu")

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        with self._context:
            try:
                module = drv.module_from_buffer(blob)
                functions = {entry: module.get_function(entry) for entry, _ in source.entries}
            except (drv.Error, UnicodeError) as error:  # PyCUDA quotes a log that a broken context has not written
                fault = self._context.fault(f"load: {self.driver} refused a program binary: {error}")
                raise fault if self._context.lost else CompileError(str(fault)) from error
            owner = self._keeper.owner(module)
            return {entry: Kernel(functions[entry], entry, layout, owner) for entry, layout in source.entries}

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        GATE.check()
        assert grid is not None
        size = grid.global_size
        if 0 in size:
            return
        local = grid.local_size or (min(256, size[0] & -size[0]), *[1] * (len(size) - 1))
        with self._context:
            try:
                kernel.launch(tuple(map(floordiv, size, local)), local, kernel.pack(args), 0, self._stream)
            except drv.Error as error:
                text = f"launch: kernel {kernel.entry!r} was refused with {grid}: {error}"
                raise self._context.fault(text) from error

    def synchronize(self) -> None:
        with self._context:
            self._stream.synchronize()

    def event(self) -> CudaEvent:
        with self._context:
            self._keeper.release()
            return CudaEvent(self._context, self._keeper, self._stream)

    def memory_stats(self) -> dict[str, int]:
        with self._context:
            self._keeper.release()
        active, managed = self._pool.active_bytes, self._pool.managed_bytes
        self._peak = max(self._peak, managed)
        return {"used": active, "cached": managed - active, "peak": self._peak, "limit": self.capabilities.total_mem}

    def empty_cache(self) -> None:
        with self._context:
            self._keeper.release()
            self._peak = max(self._peak, self._pool.managed_bytes)
            self._stream.synchronize()  # a block's last kernel may be running
            self._pool.free_held()

    def reset_peak(self) -> None:
        self._peak = self._pool.managed_bytes

    def opened(self) -> list[Any]:
        """Everything of PyCUDA's, in the containers that hold it."""
        made = [self.__dict__[k] for k in ("_context", "_stream", "_pool") if k in self.__dict__]
        return [*made, self._keeper.alive]

    def close(self) -> None:
        """Give the cached memory back. What is alive still, the process's end frees: PyCUDA would do it by
        destructors, which end the process where no context is current.
        """
        if "_pool" in self.__dict__:
            with contextlib.suppress(DeviceLost), self._context:  # nobody waits for the results any more
                self._stream.synchronize()
                self._keeper.release()
                self._pool.stop_holding()
            self._context.leave_all()
            self.keep_opened()


def _bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous array as PyCUDA takes it: bfloat16 has no buffer interface."""
    return array.reshape(-1).view(np.uint8)
