"""Bad values that kernels met: each device has an error cell, looked at when results are next waited for.

An index kernel cannot raise. It writes (code, position, value) into its device's cell, the first one wins, and the next call that waits
for the device raises IndexError. On the cpu that is the call itself.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from tensorx.devices import registry

CODES = 1 << 16  # codes wrap around: a cell is looked at long before


class Cell:
    """One device's error cell: 3 x i64 (code, position, value); code 0 means none."""

    def __init__(self, device: registry.device) -> None:
        self.runtime = registry.open(device)
        self.buffer = self.runtime.alloc(24)
        self.runtime.copy_in(self.buffer, 0, np.zeros(24, np.uint8))
        self.pending = False
        self.next = 1
        self.messages: dict[int, tuple[str, int]] = {}
        self.lock = threading.Lock()

    def reserve(self, op: str, extents: Any) -> int:
        """A code for a launch; index operand j of it reports code + j."""
        with self.lock:
            code = self.next
            self.next = code + len(extents) if code + len(extents) < CODES else 1
            for j, n in enumerate(extents):
                self.messages[code + j] = (op, n)
            self.pending = True
            return code

    def check(self) -> None:
        """Raise IndexError for the first bad index since the last check."""
        self.pending = False
        found = np.zeros(3, np.int64)
        self.runtime.copy_out(self.buffer, 0, found.view(np.uint8))
        if not found[0]:
            return
        self.runtime.copy_in(self.buffer, 0, np.zeros(24, np.uint8))
        op, extent = self.messages[int(found[0])]
        raise_index(op, int(found[1]), int(found[2]), extent)


def raise_index(op: str, position: int, value: int, extent: int) -> None:
    """The one text for a bad index."""
    raise IndexError(f"{op}: index {value} is out of bounds for dimension with size {extent}; got it at position {position}. "
                     f"Hint: indices must be in [{-extent}, {extent})")


_cells: weakref.WeakKeyDictionary[registry.device, Cell] = weakref.WeakKeyDictionary()


def cell(device: registry.device) -> Cell:
    """The device's cell, made on first use."""
    found = _cells.get(device)
    if found is None:
        found = _cells.setdefault(device, Cell(device))
    return found


def check(device: registry.device) -> None:
    """Raise what the device's kernels met since the last check; nothing if no index kernel ran."""
    found = _cells.get(device)
    if found is not None and found.pending:
        found.check()


def synchronize(device: Any = None) -> None:
    """Wait until all work of a device (default: the default device) is done; raise what its kernels met.

    >>> import tensorx
    >>> tensorx.synchronize("cpu")
    """
    d = registry.default() if device is None else registry.device(device)
    registry.open(d).synchronize()
    check(d)
