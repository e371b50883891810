"""The context, kernels and events of the CUDA backend. Importing this module loads the driver.

Facts about PyCUDA 2026.1 that shape it (its src/cpp/cuda.hpp and mempool.hpp): it destroys an object well only where
the object's context is current, elsewhere it warns, leaks, or ends the process from a destructor; a thread that ends
with a context pushed ends the process; a primary context's destructor takes it for one of another kind (cuCtxDetach),
only its ``detach`` does not; a launch takes its arguments as one packed buffer.
"""

from __future__ import annotations

import functools
import struct
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pycuda.driver as drv

from tensorx.devices.gate import Gate
from tensorx.errors import DeviceError, DeviceLost, KernelError

GATE = Gate("cuda")
#: struct codes; with native alignment they lie as C lays out a kernel's parameters.
_PACK = {"b8": "B", "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q"}
_PACK |= {"f32": "f", "f64": "d"}


class Memory:
    """A buffer: an address, and what keeps its block from the pool."""

    __slots__ = ("address", "owner")

    def __init__(self, address: int, owner: Any) -> None:
        self.address, self.owner = address, owner


class Keeper:
    """PyCUDA's objects, each alive as long as its owner, and destroyed only by :meth:`release`.

    A dying owner runs no Python code: its weak reference calls a dictionary's own ``setdefault``. Owners are plain
    arrays, which the collector does not know: none dies before the finalizers of garbage that can reach it have run.
    """

    def __init__(self) -> None:
        self.alive: dict[int, tuple[Any, Any]] = {}
        self._dead: dict[int, Any] = {}

    def owner(self, thing: Any) -> Any:
        """Keep ``thing`` until what is returned here is gone."""
        owner = np.empty(0, np.uint8)
        key = id(thing)
        self.alive[key] = thing, weakref.ref(owner, functools.partial(self._dead.setdefault, key))
        return owner

    def release(self) -> None:
        """Destroy what nobody owns any more. The context must be current."""
        while self._dead:
            try:
                key, _ = self._dead.popitem()
            except KeyError:  # another thread took the last one
                break
            del self.alive[key]


class Context:
    """A card's primary context: ``with context:`` makes it current for this thread and puts back what was.

    Errors of the driver leave the block as KernelError, or as DeviceLost if the context is broken: CUDA then answers
    every call with an error, and every later ``with`` raises at once.
    """

    def __init__(self, name: str, device: Any) -> None:
        GATE.check()
        self.name, self.lost = name, ""
        self._context = device.retain_primary_context()
        self._push, self._pop = self._context.push, drv.Context.pop

    def __enter__(self) -> None:
        GATE.__enter__()
        try:
            if self.lost:
                raise DeviceLost(f"{self.name} was lost ({self.lost}). Hint: use another device, or start anew.")
            self._push()
        except BaseException as error:
            GATE.__exit__()
            if isinstance(error, drv.Error):
                raise DeviceError(f"{self.name} cannot be used by this thread: {error}") from error
            raise

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if isinstance(error, drv.Error):
                raise self.fault(str(error)) from error
        finally:
            self._leave()
            GATE.__exit__()

    def _leave(self) -> None:
        try:
            self._pop()
        except drv.Error as error:
            # Of a broken context. A thread must not end with it pushed: PyCUDA drops what is detached.
            self.lost = self.lost or str(error)
            self._context.detach()
            drv.Context.get_current()

    def fault(self, text: str) -> DeviceError | KernelError:
        """The exception for an error of the driver. A broken context is one that goes on answering with errors."""
        try:
            drv.Context.synchronize()
        except drv.Error as error:
            self.lost = str(error)
            return DeviceLost(
                f"{self.name} is lost: {text}. Hint: a kernel went wrong on the card, and CUDA then refuses this "
                "process everything on it; other devices go on. TENSORX_SYNC=1 names the kernel."
            )
        return KernelError(f"{self.name}: {text}")

    def leave_all(self) -> None:
        """Pop what an interruption may have left on this thread's stack."""
        while drv.Context.get_current() == self._context:
            self._leave()


class Kernel:
    """An entry point, and its arguments as the bytes that a launch takes."""

    def __init__(self, function: Any, entry: str, layout: Sequence[Any], owner: Any) -> None:
        self.entry, self.launch, self.owner = entry, function._launch_kernel, owner
        self.pack = _packer(entry, layout)


def _packer(entry: str, layout: Sequence[Any]) -> Callable[[Sequence[Any]], bytes]:
    if any(arg.kind == "local" for arg in layout):
        raise KernelError(f"load: kernel {entry!r} must hold its local arrays itself: CUDA C has no local arguments")
    codes = "".join("P" if arg.kind == "buffer" else _PACK[arg.code] for arg in layout)
    values = "".join(f"a[{i}].address, " if arg.kind == "buffer" else f"a[{i}], " for i, arg in enumerate(layout))
    packer: Callable[[Sequence[Any]], bytes]
    packer = eval(f"lambda a: pack({values})", {"pack": struct.Struct("@" + codes).pack})
    return packer


class CudaEvent:
    """A point in a device's stream."""

    def __init__(self, context: Context, keeper: Keeper, stream: Any) -> None:
        self._context = context
        self._event = drv.Event()
        self._owner = keeper.owner(self._event)
        self._event.record(stream)

    def wait(self) -> None:
        with self._context:
            self._event.synchronize()

    @property
    def done(self) -> bool:
        with self._context:
            return bool(self._event.query())

    def elapsed(self, end: CudaEvent) -> float:
        """Milliseconds of device time from this event to ``end``."""
        with self._context:
            end._event.synchronize()
            return float(self._event.time_till(end._event))
