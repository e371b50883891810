"""Memory, kernel arguments and events of the SYCL backend. Importing this module loads dpctl.

dpctl frees memory at once, also under a running kernel, so blocks are kept in a pool and freed when the queue is empty.
Submitting takes ctypes numbers, and of these no bool and no int8.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import dpctl
import dpctl.memory

from tensorx.devices.gate import Gate
from tensorx.devices.pool import Block, Pool
from tensorx.errors import KernelError

GATE = Gate("sycl")
#: ctypes numbers that a queue takes, of the same bits.
_NUMBER: dict[str, Callable[[Any], Any]] = {
    "b8": ctypes.c_uint8,
    "u8": ctypes.c_uint8,
    "i8": ctypes.c_uint8,  # ctypes keeps the low bits
    "u16": ctypes.c_uint16,
    "i16": ctypes.c_int16,
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class Memory:
    """A buffer: USM memory that goes back to the pool when this object dies."""

    __slots__ = ("__weakref__", "usm")

    def __init__(self, usm: Any) -> None:
        self.usm = usm


class UsmBlock(Block):
    """A piece of USM memory."""

    __slots__ = ()

    def buffer(self, nbytes: int) -> Memory:
        memory = Memory(self.memory)
        self.ref = weakref.ref(memory, self.back)
        return memory


class UsmPool(Pool):
    """Blocks are reused in the order of the one queue that uses them, and freed only when it has nothing to do."""

    block = UsmBlock
    small = 0
    kept = 1

    def __init__(self, queue: Any, limit: int, largest: int) -> None:
        super().__init__(limit, largest)
        self._queue = queue

    def _map(self, size: int) -> tuple[Any, int] | None:
        try:
            usm = dpctl.memory.MemoryUSMDevice(size, alignment=128, queue=self._queue)
        except dpctl.memory.USMAllocationError:
            return None
        return usm, usm._pointer


class _Span:
    """A part of USM memory, as dpctl takes it."""

    def __init__(self, memory: Memory, offset: int, nbytes: int, queue: Any) -> None:
        self.__sycl_usm_array_interface__ = {
            "data": (memory.usm._pointer + offset, False),
            "shape": (nbytes,),
            "strides": None,
            "typestr": "|u1",
            "version": 1,
            "syclobj": queue,
        }


def span(queue: Any, memory: Memory, offset: int, nbytes: int) -> Any:
    """``nbytes`` of a buffer from ``offset`` on, to copy from or to."""
    return dpctl.memory.as_usm_memory(_Span(memory, offset, nbytes, queue)) if offset else memory.usm


class SyclEvent:
    """A barrier in the queue."""

    def __init__(self, event: Any) -> None:
        self._event = event

    def wait(self) -> None:
        with GATE:
            self._event.wait()

    @property
    def done(self) -> bool:
        GATE.check()
        return bool(self._event.execution_status == dpctl.event_status_type.complete)

    def elapsed(self, end: SyclEvent) -> float:
        """Milliseconds of device time from this event to ``end``."""
        end.wait()
        return float(end._event.profiling_info_end - self._event.profiling_info_end) * 1e-6


class Kernel:
    """An entry point, and how its arguments become what a queue takes."""

    def __init__(self, kernel: Any, entry: str, layout: Sequence[Any]) -> None:
        if kernel.num_args != len(layout):
            raise KernelError(f"load: kernel {entry!r} must take {kernel.num_args} arguments; got {len(layout)}")
        self.kernel, self.entry = kernel, entry
        self.wrap = [_wrapper(arg) for arg in layout]


def _wrapper(arg: Any) -> Callable[[Any], Any]:
    if arg.kind == "buffer":
        return _usm_of
    return _local if arg.kind == "local" else _NUMBER[arg.code]


def _usm_of(memory: Memory) -> Any:
    return memory.usm


def _local(nbytes: int) -> Any:
    return dpctl.LocalAccessor("u1", (nbytes,))
