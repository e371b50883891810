"""Pooled memory: the host's here, a device's where the vendor's library has no pool of its own (:mod:`.sycl_device`).

Fresh pages cost several times what a streaming kernel costs, so blocks are kept for reuse in size classes (four per
power of two, at most a quarter wasted). The fast path takes no lock: taking from and putting into a dictionary are
atomic. A dying buffer runs no Python code, which might meet Ctrl-C and lose it: its weak reference calls the
dictionary's own ``setdefault``.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

ALIGN = 64  # bytes: a cache line, and the widest vector
SLAB = 1 << 20  # small blocks are cut from slabs of this size
SMALL = 1 << 15  # up to this size a block is cut from a slab
BOUNDED = 1 << 18  # from this size on the free blocks of one size are counted
HUGE = 4 << 20  # from this size on ask for huge pages: fewer faults on first touch

_U8 = np.dtype(np.uint8)
_plain = np.ndarray
_new_array = np.ndarray.__new__
_ref = weakref.ref


class Buffer(np.ndarray[Any, Any]):
    """A 1-D uint8 array over a pool block, which returns to the pool when the last view of the array dies.

    ctypes passes the array as its address (``_as_parameter_``). NumPy keeps a Buffer as the base of every plain
    array made over it, because NumPy's collapsing of view chains stops where the type changes.
    """

    pinned = False  # page-locked: see `staging`

    @functools.cached_property
    def _as_parameter_(self) -> int:
        return int(self.__array_interface__["data"][0])

    def __array_finalize__(self, obj: Any) -> None:
        pass


class Block:
    """A piece of memory. ``back`` puts it into the free blocks of its size; ``ref``, a weak reference to the owner of
    the memory, calls that when the owner dies.

    The owner is a plain array, the base of the buffer. The collector does not know plain arrays, so none dies before
    the finalizers of garbage that can still reach it have run (a buffer's own weak references are called earlier).
    """

    __slots__ = ("address", "back", "memory", "ref", "size")

    def __init__(self, memory: Any, address: int, size: int) -> None:
        self.memory, self.address, self.size = memory, address, size
        self.ref: Any = None
        self.back: Any = None

    def buffer(self, nbytes: int) -> Any:
        """Hand the memory out."""
        owner = _new_array(_plain, (nbytes,), _U8, self.memory)
        buffer: Buffer = _new_array(Buffer, (nbytes,), _U8, owner)
        buffer._as_parameter_ = self.address
        self.ref = _ref(owner, self.back)
        return buffer


class Pool:
    """Blocks of host memory under a limit. Thread safe; see the module's note for how.

    >>> pool = Pool(limit=1 << 20)
    >>> buffer = pool.alloc(100)
    >>> buffer.shape, buffer.dtype, pool.stats()["used"]
    ((100,), dtype('uint8'), 128)
    """

    #: What a block is, how large blocks that share a slab may be, and the part of the limit that is kept for reuse.
    block: type[Block] = Block
    small = SMALL
    kept = 4

    def __init__(self, limit: int, largest: int | None = None, full: Callable[[int], Any] | None = None) -> None:
        self.limit = limit
        self.largest = limit if largest is None else largest  # bytes of the largest single block
        self.cap = limit // self.kept  # most bytes kept for reuse
        self._full = full
        self._reserved = 0  # bytes in blocks, used or free; changed under the lock only
        self._peak = 0
        self._blocks: set[Block] = set()  # all of them, so that the weak references live
        self._dropped: deque[int] = deque()  # bytes that went without the lock
        self._free: dict[int, dict[Block, Any]] = {}
        self._slab: tuple[Any, int, int] | None = None  # rest of the present slab: memory, address, next offset
        self._lock = threading.Lock()
        self._holder = 0  # the thread that holds the lock

    def alloc(self, nbytes: int) -> Any | None:
        """``nbytes`` of uninitialised memory. When there is no room: what ``full(nbytes)`` answers, else None."""
        if nbytes > self.largest:
            return self._full(nbytes) if self._full else None
        shift = nbytes.bit_length() - 3
        step = 1 << shift if shift > 6 else ALIGN
        try:  # another thread may empty the dictionary after a test
            block, _ = self._free[-(-nbytes // step) * step or ALIGN].popitem()
        except KeyError:
            buffer = self.reserve(nbytes)
            return self._full(nbytes) if buffer is None and self._full else buffer
        return block.buffer(nbytes)

    def reserve(self, nbytes: int) -> Any | None:
        """A new block, or None when the limits (or the system) have no room."""
        shift = nbytes.bit_length() - 3
        step = 1 << shift if shift > 6 else ALIGN
        size = -(-nbytes // step) * step or ALIGN
        home = self._free.setdefault(size, {})
        place = self._locked(self._place, self._place_nested, size)
        if place is None:
            return None
        block = self.block(place[0], place[1], size)
        # A free large block may be too many: that takes Python code, but so rarely that Ctrl-C will not be there.
        block.back = functools.partial(home.setdefault if size < BOUNDED else self._give_back, block)
        self._blocks.add(block)
        return block.buffer(nbytes)

    def _give_back(self, block: Block, ref: Any) -> None:
        home = self._free[block.size]
        if len(home) < max(self.cap // block.size, 1):
            home[block] = ref
        else:
            self._forget(block)
            self._dropped.append(block.size)

    def _forget(self, block: Block) -> None:
        block.ref = block.back = None
        self._blocks.discard(block)

    def _map(self, size: int) -> tuple[Any, int] | None:
        """Memory from the system and its address, or None when there is none."""
        return _map(size)

    def _locked(self, work: Callable[..., Any], nested: Callable[..., Any], *args: Any) -> Any:
        """``work`` under the lock. The collector may run there and call finalizers, which may allocate: they get
        ``nested``, which leaves alone what is half done.
        """
        me = threading.get_ident()
        if self._holder == me:
            return nested(*args)
        with self._lock:
            self._holder = me
            try:
                return work(*args)
            finally:
                self._holder = 0

    def _place(self, size: int) -> tuple[Any, int] | None:
        self._settle()
        if self._cached() > self.cap:
            self._trim()
        if self._reserved + size > self.limit:
            return None
        place = self._cut(size) if size <= self.small else self._map(size)
        if place is not None:
            self._reserved += size
            self._peak = max(self._peak, self._reserved)
        return place

    def _place_nested(self, size: int) -> tuple[Any, int] | None:
        place = self._map(size) if self._reserved + size <= self.limit else None
        if place is not None:
            self._dropped.append(-size)
        return place

    def _cut(self, size: int) -> tuple[Any, int] | None:
        """A block from the present slab; what is left of a slab too short for ``size`` is given up (at most SMALL of
        SLAB).
        """
        if self._slab is None or self._slab[2] + size > SLAB:
            place = self._map(SLAB)
            if place is None:
                return None
            self._slab = (*place, 0)
        memory, address, offset = self._slab
        self._slab = (memory, address, offset + size)
        return memory[offset : offset + size], address + offset

    def _settle(self) -> None:
        while self._dropped:
            self._reserved -= self._dropped.popleft()

    def _cached(self) -> int:
        return sum(len(self._free[size]) * size for size in list(self._free))

    def _trim(self) -> None:
        for size in list(self._free):
            home = self._free[size]
            while home:
                try:
                    block, _ = home.popitem()
                except KeyError:  # a thread on the fast path took the last one
                    break
                self._forget(block)
                self._reserved -= size

    def empty(self) -> None:
        """Give the free blocks back to the system."""
        self._locked(self._empty, lambda: None)

    def _empty(self) -> None:
        self._settle()
        self._trim()

    def stats(self) -> dict[str, int]:
        """Bytes used, cached, peak (most reserved at once) and limit; sizes are those of the blocks."""
        return self._locked(self._count, self._count)  # type: ignore[no-any-return]

    def _count(self) -> dict[str, int]:
        reserved, cached = self._reserved - sum(self._dropped), self._cached()
        return {"used": reserved - cached, "cached": cached, "peak": self._peak, "limit": self.limit}

    def reset_peak(self) -> None:
        """Count the peak from what is reserved now."""
        self._peak = self._reserved - sum(self._dropped)

    def after_fork(self) -> None:
        """In a forked child another thread of the parent may have held the lock."""
        self._lock, self._holder = threading.Lock(), 0


def _map(size: int) -> tuple[memoryview, int] | None:
    """Page-aligned private memory and its address; ACCESS_COPY because the default would share pages with forked
    children.
    """
    try:
        memory = mmap.mmap(-1, size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError, OverflowError):  # no room in the address space: the caller reports it with figures
        return None
    if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(memory), ctypes.addressof(ctypes.c_char.from_buffer(memory))


def adopt(array: np.ndarray[Any, Any]) -> Buffer:
    """A NumPy array's own memory as a Buffer, in the order in which it lies (shared, kept alive).

    >>> a = np.zeros((2, 3), np.int16, order="F")
    >>> adopt(a)[0] = 7
    >>> int(a[0, 0])
    7
    """
    if not array.flags.forc:  # axes in another order, as NumPy gives for permuted operands
        array = array.transpose(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))
        if not array.flags.c_contiguous:
            raise ValueError("adopt: argument 'array' must be one block of memory, with its axes in any order")
    return array.ravel(order="K").view(_U8).view(Buffer)


def block_sizes(pool: Any) -> Callable[[int], int]:
    """The size of a vendor library's block for so many bytes: one that is asked for as such is also counted as such."""
    return functools.lru_cache(1024)(lambda nbytes: pool.alloc_size(pool.bin_number(nbytes)))
