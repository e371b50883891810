"""Memory and events of the SYCL backend. Importing this module loads dpctl.

dpctl frees memory at once, also under a running kernel, so blocks are kept in a pool and freed when the queue is empty.
"""

from __future__ import annotations

import weakref
from typing import Any

import dpctl
import dpctl.memory

from tensorx.devices.driver import DriverEvent
from tensorx.devices.gate import Gate
from tensorx.devices.pool import Block, Pool

GATE = Gate("sycl")


class Memory:
    """A buffer: USM memory that goes back to the pool when this object dies."""

    __slots__ = ("__weakref__", "address", "usm")

    def __init__(self, usm: Any, address: int) -> None:
        self.usm, self.address = usm, address


class UsmBlock(Block):
    """A piece of USM memory."""

    __slots__ = ()

    def buffer(self, nbytes: int) -> Memory:
        memory = Memory(self.memory, self.address)
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


class SyclEvent(DriverEvent):
    gate = GATE

    def _complete(self) -> bool:
        return bool(self._event.execution_status == dpctl.event_status_type.complete)

    def _nanoseconds(self) -> int:
        return int(self._event.profiling_info_end)
