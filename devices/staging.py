"""Host memory on its way to a device: alive and unchanged until it is there.

A queue works in order, so a copy that is waited for waits for every kernel before it as well. Here copies are put
into the queue and the call returns: the memory that is read meanwhile is either lent by the caller, who leaves it
alone, or a block of ours with a copy of the values. Both are kept until the copy's event is done.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorx.devices.pool import Buffer, Pool
from tensorx.errors import DeviceError, DeviceLost, OutOfMemory

if TYPE_CHECKING:
    from tensorx.devices.base import Device

#: Bytes. Up to this size values that may change after the call are copied aside; above, the copy is waited for, unless
#: the caller asks to return early.
STAGED = 1 << 20
#: Most bytes of host memory that are kept for copies: above, the oldest copy is waited for.
UNDER_WAY = 1 << 28


class HostPool(Pool):
    """Host memory that a device reads fastest: pinned where its driver can, else plain."""

    def __init__(self, device: Device) -> None:
        super().__init__(1 << 62)  # how much there may be is the driver's to say
        self.cap = UNDER_WAY // 4
        self._device = device
        self.pinned = False  # whether what came so far is

    def _map(self, size: int) -> tuple[Any, int] | None:
        memory = self._device.pin(size)
        self.pinned = memory is not None
        if memory is None:
            return super()._map(size)
        # No array: NumPy would make it the base of arrays over a block, in the place of the block's owner, whose death
        # says that the block is free.
        pages = (ctypes.c_uint8 * size).from_buffer(memory)
        return memoryview(pages).cast("B"), ctypes.addressof(pages)

    def held(self) -> list[Any]:
        """The memory of every block."""
        return [block.memory for block in self._blocks]


class Staging:
    """Copies of host memory to one device. Thread safe."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pool = HostPool(device)
        self._kept: deque[tuple[Any, Any]] = deque()  # (event, the memory that the copy reads)
        self._bytes = 0
        self._lock = threading.RLock()  # the collector may run finalizers that copy while it is held

    def send(self, buffer: Any, byte_offset: int, array: np.ndarray[Any, Any], lent: bool, early: bool = False) -> None:
        """Copy a C-contiguous array. ``lent``: the caller lets nobody change it until the copy is done, else it may be
        changed as soon as the call returns; ``early``: return early whatever its size.
        """
        device, nbytes = self._device, array.nbytes
        if not device.copies_early() or not (lent or nbytes <= (UNDER_WAY if early else STAGED)):
            device.copy_in(buffer, byte_offset, array)
            return
        self.settle()
        self._make_room(nbytes)
        source = array if lent else self._aside(array)
        event = device.copy_in_async(buffer, byte_offset, source)
        if event is not None:
            self._keep(event, source)

    def _keep(self, event: Any, source: np.ndarray[Any, Any]) -> None:
        with self._lock:
            self._kept.append((event, source))
            self._bytes += source.nbytes

    def _aside(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The values in memory of ours."""
        try:
            block = self._pool.alloc(array.nbytes)
        except OutOfMemory:  # of pinned memory: any other does
            block = None
        block = np.empty(array.nbytes, np.uint8) if block is None else block
        block[...] = array.reshape(-1).view(np.uint8)
        return block

    def settle(self) -> None:
        """Let go of what has been copied. Raises DeviceLost if a copy failed."""
        if not self._kept or not self._lock.acquire(blocking=False):
            return  # another thread is at it
        try:
            while self._kept:
                entry = self._kept.popleft()
                done = False
                try:
                    done = entry[0].done
                except DeviceLost:
                    done = True
                    raise
                finally:
                    if not done:
                        self._kept.appendleft(entry)
                    else:
                        self._bytes -= entry[1].nbytes
                if not done:
                    return
        finally:
            self._lock.release()

    def finish(self) -> None:
        """Wait for all copies, at the end of the process, when nobody cares any more whether one failed."""
        with contextlib.suppress(DeviceError):
            for event, _ in self._kept.copy():
                event.wait()
            self.settle()

    def _make_room(self, nbytes: int) -> None:
        if self._bytes + nbytes > UNDER_WAY:
            for event, _ in self._kept.copy():
                event.wait()
                self.settle()
                if self._bytes + nbytes <= UNDER_WAY:
                    return

    def pinned(self, nbytes: int) -> Buffer | None:
        """Host memory that copies need not put aside; None if the driver has none. Raises OutOfMemory."""
        buffer: Buffer | None = self._pool.alloc(nbytes)
        if buffer is None or not self._pool.pinned:
            return None
        buffer.pinned = True
        return buffer

    def empty(self) -> None:
        """Give the free host memory back."""
        self.settle()
        self._pool.empty()

    def held(self) -> list[Any]:
        """What must outlive a forked child: letting go of it calls the driver."""
        return [self._kept, *self._pool.held()]

    def after_fork(self) -> None:
        """In a forked child another thread of the parent may have held the locks."""
        self._lock = threading.RLock()
        self._pool.after_fork()
