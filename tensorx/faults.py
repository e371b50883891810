"""Bad values that kernels met: each device has an error cell, looked at when results are next waited for.

An index kernel cannot raise. It writes (code, position, value) into its device's cell, the first one wins, and the next
call that waits for the device raises IndexError, in whichever thread it is made. On the cpu that is the call itself,
and each thread has its own cell.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorx.devices import registry
from tensorx.errors import BadIndex, BadValue, ZeroDivision
from tensorx.locks import Lock


class Bound(NamedTuple):
    """What an index operand may hold, for the text of the error: indices of a dimension."""

    extent: int
    dim: int | None  # None: of no dimension of the operand
    wrap: bool  # negative ones count from the end

    def error(self, op: str, position: int, value: int) -> Exception:
        """The one text for a bad index."""
        which = "dimension" if self.dim is None else f"dimension {self.dim}"
        return BadIndex(
            f"{op}: index {value} is out of bounds for {which} with size {self.extent}; got it at position {position}. "
            f"Hint: indices must be in [{-self.extent if self.wrap else 0}, {self.extent})"
        )


class Classes(NamedTuple):
    """What an operand of class labels may hold."""

    extent: int
    loss: str

    def error(self, op: str, position: int, value: int) -> Exception:
        """The one text for a bad class."""
        return BadIndex(
            f"{self.loss}: argument 'target' must hold classes in [0, {self.extent}); got {value} at position "
            f"{position}: Target {value} is out of bounds."
        )


class Fault(NamedTuple):
    """A mask of faults, and what a 1 in it means (see `ops.domain`)."""

    text: str

    def error(self, op: str, position: int, value: int) -> Exception:
        """That text."""
        return of_text(self.text)


Meaning = Bound | Classes | Fault
CODES = 1 << 12  # a cell is looked at before its codes come round again


class Cell:
    """An error cell: 3 x i64 (code, position, value) in device memory; code 0 means none."""

    def __init__(self, device: registry.device) -> None:
        self.runtime = registry.open(device)
        self.buffer = self.runtime.alloc(24)
        self.runtime.copy_in(self.buffer, 0, np.zeros(24, np.uint8))
        self.pending = False
        self.next = 1
        self.codes: dict[tuple[Any, ...], int] = {}
        self.messages: dict[int, tuple[str, Meaning]] = {}
        self.lock = Lock()

    def reserve(self, op: str, meanings: Sequence[Meaning]) -> int:
        """A code for a launch; index operand j of it reports code + j. Like launches share one."""
        key = (op, *meanings)
        code = self.codes.get(key)
        if code is not None:
            return code
        with self.lock.mutex:
            code = self.next
            if code + len(meanings) > CODES:
                self.codes.clear()
                self.check()
                code = 1
            self.next = code + len(meanings)
            for j, meaning in enumerate(meanings):
                self.messages[code + j] = (op, meaning)
            self.codes[key] = code
            return code

    def launched(self) -> None:
        """The launch is in the queue. Said before, a check by another thread meanwhile would pass for one of it."""
        self.pending = True

    def check(self) -> None:
        """Raise IndexError for the first bad index since the last check."""
        with self.lock.mutex:
            self.pending = False
            found = np.zeros(3, np.int64)
            self.runtime.copy_out(self.buffer, 0, found.view(np.uint8))
            if not found[0]:
                return
            self.runtime.copy_in(self.buffer, 0, np.zeros(24, np.uint8))
            op, meaning = self.messages[int(found[0])]
        raise meaning.error(op, int(found[1]), int(found[2]))


def of_text(text: str) -> BadValue | ZeroDivision:
    """The error for a bad value that is no index."""
    return ZeroDivision(text) if "ZeroDivisionError" in text else BadValue(text)


class _PerThread(threading.local):
    """The cpu's cells, one a thread: the call that launches looks at its cell before it returns."""

    cell: Cell | None = None


_cpu = _PerThread()
_cells: weakref.WeakKeyDictionary[registry.device, Cell] = weakref.WeakKeyDictionary()
_lock = Lock()


def cell(device: registry.device) -> Cell:
    """The cell that kernels launched now report to, made on first use."""
    if device.type == "cpu":
        if _cpu.cell is None:
            _cpu.cell = Cell(device)
        return _cpu.cell
    found = _cells.get(device)
    if found is None:
        with _lock.mutex:
            found = _cells.get(device)
            if found is None:
                found = _cells[device] = Cell(device)
    return found


def check(device: registry.device) -> None:
    """Raise what the device's kernels met since the last check; let go of host memory that was copied. For when the
    device has been waited for."""
    registry.open(device).staging.settle()
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
