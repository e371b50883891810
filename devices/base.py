"""The contract of a backend.

A backend is one file with a module-level ``BACKEND`` (a :class:`Backend`), named by one line of
``registry.BACKENDS``. It receives source text, an entry point and an argument layout; it knows nothing of tensors or
ops. ``Source`` and ``Arg`` are described structurally here, so that ``devices`` need not import the generator.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from tensorx.devices.staging import Staging
from tensorx.errors import CompileError, DeviceError, DeviceLost, KernelError, OutOfMemory
from tensorx.kernels.capabilities import Capabilities

Buffer = Any
Kernel = Any


class Arg(Protocol):
    """One kernel argument: ``kind`` is 'buffer' | 'scalar' | 'local', ``code`` the dtype code (of a scalar, or of a
    local array's element).
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def code(self) -> str: ...


class Source(Protocol):
    """One program: its text and, for each entry point, the argument layout."""

    @property
    def text(self) -> str: ...
    @property
    def entries(self) -> tuple[tuple[str, tuple[Any, ...]], ...]: ...


class Grid(Protocol):
    """Launch geometry. ``local_size`` may be empty: the driver chooses."""

    @property
    def global_size(self) -> tuple[int, ...]: ...
    @property
    def local_size(self) -> tuple[int, ...]: ...


class Event(Protocol):
    """A point in a device's queue."""

    def wait(self) -> None: ...
    @property
    def done(self) -> bool: ...
    def elapsed(self, end: Any) -> float:
        """Milliseconds from this event to ``end``."""
        ...


class PastEvent:
    """An event of a device that had nothing left to do: the host's time."""

    __slots__ = ("time",)
    done = True

    def __init__(self) -> None:
        self.time = time.perf_counter()

    def wait(self) -> None:
        """Nothing to wait for."""

    def elapsed(self, end: PastEvent) -> float:
        """Milliseconds from this event to ``end``."""
        return (end.time - self.time) * 1e3


class Device(abc.ABC):
    """One opened device. Thread safe. Buffers free themselves when they die."""

    kind: str
    index: int
    name: str
    driver: str
    capabilities: Capabilities
    #: All that decides whether a cached binary may be used: device, driver, compiler, processor features, mask.
    fingerprint: str
    #: Whether a launch has finished when it returns: on the cpu, and everywhere under TENSORX_SYNC=1.
    synchronous = False

    def open(self) -> None:  # noqa: B027  (a hook, empty by default)
        """Called by the registry, under its lock, before the first use: make here what several threads must not make
        twice.
        """

    @abc.abstractmethod
    def alloc(self, nbytes: int) -> Buffer:
        """``nbytes`` (0 included) of uninitialised memory, aligned for every dtype. Raises OutOfMemory."""

    @abc.abstractmethod
    def copy_in(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        """C-contiguous host memory to the device; the array may be changed as soon as the call returns."""

    def copy_in_async(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> Event | None:
        """:meth:`copy_in` that need not wait: the array is alive and unchanged until the event is done, which
        :attr:`staging` sees to, not the backend. None: it is done already. A backend that cannot do better than
        :meth:`copy_in` leaves this one alone.
        """
        self.copy_in(buffer, byte_offset, array)
        return None

    def pin(self, nbytes: int) -> Any | None:
        """``nbytes`` of page-locked host memory, which the device reads without the driver's own copy: an object with
        Python's buffer interface that frees itself, aligned for every dtype. None where the driver has no such memory.
        Raises OutOfMemory. Called when a pool grows.
        """
        return None

    def copies_early(self) -> bool:
        """Whether :meth:`copy_in_async` is the backend's own. Else nothing is put aside for it: its :meth:`copy_in` may
        have ways to return early.
        """
        return getattr(self.copy_in_async, "__func__", None) is not Device.copy_in_async and not self.synchronous

    @functools.cached_property
    def staging(self) -> Staging:
        """The way in for host memory: what callers above the contract use instead of :meth:`copy_in`."""
        return Staging(self)

    @abc.abstractmethod
    def copy_out(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        """Device to C-contiguous host memory; blocks until the data is there."""

    @abc.abstractmethod
    def copy(self, dst: Buffer, dst_byte_offset: int, src: Buffer, src_byte_offset: int, nbytes: int) -> None:
        """``nbytes`` from ``src`` to ``dst`` on this device; the two ranges must not overlap."""

    @abc.abstractmethod
    def build(self, source: Source) -> bytes:
        """The program as a binary that :meth:`load` takes, also in another process with an equal fingerprint. Raises
        CompileError.
        """

    @abc.abstractmethod
    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        """A kernel for each entry point."""

    @abc.abstractmethod
    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        """Enqueue; ``args`` are buffers and Python numbers in layout order (for 'local' arguments: bytes). A zero
        global size runs nothing.
        """

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait until all work of the device is done."""

    @abc.abstractmethod
    def event(self) -> Event:
        """Mark the present end of the queue."""

    @abc.abstractmethod
    def memory_stats(self) -> dict[str, int]:
        """Bytes ``used`` (held by live buffers), ``cached`` (held by the pool for reuse), ``peak`` (most of both
        at once) and ``limit``. Sizes are those of blocks: up to a quarter more than was asked for.
        """

    @abc.abstractmethod
    def empty_cache(self) -> None:
        """Give the pool's free blocks back."""

    def make_synchronous(self) -> None:
        """From now on every launch is waited for, and what fails in it names the kernel."""
        launch = self.launch

        def launch_and_wait(kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
            launch(kernel, grid, args)
            try:
                self.synchronize()
            except Exception as error:
                entry = getattr(kernel, "entry", kernel)
                text = f"launch: kernel {entry!r} failed on {self.kind}:{self.index} with {grid}: {error}"
                raise (DeviceLost if isinstance(error, DeviceLost) else KernelError)(text) from error

        self.launch, self.synchronous = launch_and_wait, True  # type: ignore[method-assign]

    def reset_peak(self) -> None:  # noqa: B027  (a hook: devices without memory have no peak)
        """Count ``peak`` of :meth:`memory_stats` from now."""

    def __repr__(self) -> str:
        return f"<{self.kind}:{self.index} {self.name}>"


class Backend(abc.ABC):
    """A way to reach devices. Creating one imports no driver; ``available`` and ``devices`` do."""

    name: str
    #: Names that a device string may give instead of an index (``opencl:pocl``).
    aliases: tuple[str, ...] = ()

    @abc.abstractmethod
    def available(self) -> str:
        """Empty when usable; else the reason, with the command that would help."""

    @abc.abstractmethod
    def devices(self) -> list[Device]:
        """All devices, in a stable order; the same objects at every call."""

    def match(self, alias: str) -> int | None:
        """The index of the first device that ``alias`` names, or None. ``alias@version`` narrows it to one driver."""
        return None


def code_traits(caps: Capabilities) -> str:
    """The part of the capabilities that generated code may depend on: some drivers report memory sizes that change
    from run to run.
    """
    return str(dataclasses.replace(caps, total_mem=0, max_alloc=0))


def raise_too_large(dev: Device, nbytes: int) -> NoReturn:
    """One buffer above what the device allows in one piece."""
    stats = dev.memory_stats()
    limit = dev.capabilities.max_alloc
    raise OutOfMemory(
        f"alloc: one buffer on {dev.kind}:{dev.index} must be at most {human(limit)} ({limit} bytes); "
        f"got {human(nbytes)} ({nbytes} bytes). "
        f"Hint: split the tensor; this is the device's limit for a single buffer, whatever is free.",
        nbytes,
        stats["used"],
        stats["cached"],
        limit,
    )


def raise_out_of_memory(dev: Device, nbytes: int) -> NoReturn:
    """No room although the cached blocks were given back."""
    stats = dev.memory_stats()
    raise OutOfMemory(
        f"alloc: out of memory on {dev.kind}:{dev.index} ({dev.name}): asked for {human(nbytes)}, "
        f"{human(stats['used'])} in use, {human(stats['cached'])} cached, limit {human(stats['limit'])}. "
        f"Hint: free tensors, use smaller batches, or another device.",
        nbytes,
        stats["used"],
        stats["cached"],
        stats["limit"],
    )


def words(nbytes: int) -> int:
    """What is allocated for so many bytes: whole 32-bit words, at least one. Atomics on smaller elements swap the word
    around them.

    >>> words(0), words(51), words(52)
    (4, 52, 52)
    """
    return max(nbytes + 3 & ~3, 4)


def alloc_with_retry(dev: Device, nbytes: int, attempt: Callable[[], Buffer | None]) -> Buffer:
    """``attempt`` once, give cached blocks back, ``attempt`` again; ``attempt`` answers None when there is no room."""
    if nbytes > dev.capabilities.max_alloc:
        raise_too_large(dev, nbytes)
    buffer = attempt()
    if buffer is None:
        dev.empty_cache()
        buffer = attempt()
    if buffer is None:
        raise_out_of_memory(dev, nbytes)
    return buffer


def raise_compile_error(what: str, text: str, log: str, suffix: str) -> NoReturn:
    """A CompileError with the log, the numbered source and a kept copy of it."""
    import tempfile  # costs milliseconds that `import tensorx` need not pay

    handle, path = tempfile.mkstemp(prefix="tensorx-kernel-", suffix=suffix)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    numbered = "\n".join(f"{i:5d}  {line}" for i, line in enumerate(text.splitlines(), 1))
    raise CompileError(
        f"{what} refused a kernel (source kept in {path}):\n{log.strip()}\n{numbered}",
        log=log,
        source=numbered,
        path=path,
    )


def raise_forked(kind: str) -> NoReturn:
    """Drivers do not survive fork (PoCL and rusticl hang in the child): say so at once."""
    raise DeviceError(
        f"{kind}: a device opened before fork() must not be used in the child process; "
        f"got a call in process {os.getpid()}. "
        f"Hint: use multiprocessing's 'spawn' or 'forkserver' start method, or keep the child's work on cpu."
    )


def entry_layout(source: Source) -> Mapping[str, tuple[Arg, ...]]:
    """Entry name -> argument layout."""
    return dict(source.entries)


def human(nbytes: int) -> str:
    """1536 -> '1.5 KiB'.

    >>> human(1536)
    '1.5 KiB'
    """
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"
