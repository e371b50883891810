"""What backends over a vendor's driver share: finding its devices once, forks, and the end of the process."""

from __future__ import annotations

import abc
import atexit
import ctypes
import importlib.util
import os
import threading
from collections.abc import Callable
from typing import Any

from tensorx.devices.base import Backend, Device
from tensorx.devices.gate import Gate


class DriverDevice(Device):
    """A device whose objects a driver holds. ``gate`` is its backend's: all its devices pass the same one."""

    gate: Gate

    @abc.abstractmethod
    def opened(self) -> list[Any]:
        """The driver objects that exist so far."""

    @abc.abstractmethod
    def close(self) -> None:
        """Finish the work, at the end of the process."""

    def keep_opened(self) -> None:
        """Let none of the driver's objects be destroyed in this process any more."""
        for thing in [*self.opened(), *self.staging.held()]:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class PerThread(threading.local):
    """An object a thread, which a launch takes and puts back: Python calls __init__ again in each thread that touches
    this one.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.spare = make, make()


class DriverEvent(abc.ABC):
    """A marker in a device's queue, over the driver's own event object."""

    gate: Gate

    def __init__(self, event: Any) -> None:
        self._event = event

    def wait(self) -> None:
        with self.gate:
            self._event.wait()

    @property
    def done(self) -> bool:
        self.gate.check()
        return self._complete()

    def elapsed(self, end: DriverEvent) -> float:
        """Milliseconds of device time from this event to ``end``."""
        end.wait()
        return (end._nanoseconds() - self._nanoseconds()) * 1e-6

    @abc.abstractmethod
    def _complete(self) -> bool:
        """Whether the queue has come past the marker."""

    @abc.abstractmethod
    def _nanoseconds(self) -> int:
        """When it did, on the device's clock."""


class DriverBackend(Backend):
    """Finds devices on first use, through the Python ``package`` that ``install`` brings."""

    package: str
    install: str

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: list[Any] | None = None
        self._pid = 0  # of the enumeration: PoCL and rusticl hang in a child forked after it
        self._reason = ""

    @abc.abstractmethod
    def _search(self) -> list[Any]:
        """The devices (:class:`DriverDevice`), in a stable order; without any, ``_reason`` says why."""

    def available(self) -> str:
        if importlib.util.find_spec(self.package) is None:
            return f"{self.package} is not installed; {self.install}"
        return "" if self._enumerate() else self._reason

    def devices(self) -> list[Device]:
        return list(self._enumerate())

    def _enumerate(self) -> list[Any]:
        with self._lock:
            if self._found is None:
                self._pid = os.getpid()
                self._found = self._search()
                atexit.register(self._close)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=self._after_fork)
            return self._found

    def _after_fork(self) -> None:
        """Use raises from now on, and nothing is released: a driver's release calls wait for threads that the child
        does not have.
        """
        self._lock = threading.Lock()
        for device in self._found or ():
            device.gate.forked = True
            device.staging.after_fork()
            device.keep_opened()
        _end_without_exit_handlers()

    def _close(self) -> None:
        """Before the interpreter takes things apart in any order: finish the work and let no block go back to a pool
        that is gone.
        """
        if os.getpid() != self._pid or not self._found:
            return
        self._found[0].gate.close()
        for device in self._found:
            device.staging.finish()
            device.close()


def _end_without_exit_handlers() -> None:
    """End the process as multiprocessing ends its children: a driver's exit handlers join threads that a forked child
    does not have (Mesa's crash there). What C wrote is flushed; Python has ended before.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):  # glibc's; the last one registered runs first
        libc.on_exit(libc._exit, None)
        libc.on_exit(libc.fcloseall, None)
