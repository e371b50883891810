"""Python's multiprocessing with ``spawn`` as the start method: drivers do not survive ``fork``.

Tensors are sent by value.
"""

from __future__ import annotations

import multiprocessing as _mp
from collections.abc import Callable
from multiprocessing import *  # noqa: F403  what multiprocessing offers is offered here
from typing import Any

_context: Any = _mp.get_context("spawn")
_sharing = "file_descriptor"
_own = {
    name: getattr(_context, name) for name in dir(_context) if not name.startswith("_") and name not in ("reducer",)
}
globals().update({name: value for name, value in _own.items() if name in _mp.__all__})


def get_context(method: str | None = None) -> Any:  # type: ignore[no-redef]  # ours in place of the one above
    """The context of a start method; default: spawn (or what `set_start_method` set)."""
    return _mp.get_context(method) if method else _context


def set_start_method(method: str | None, force: bool = False) -> None:  # type: ignore[no-redef]
    """Set the start method of the process. RuntimeError if it was set before and ``force`` is False.

    With ``fork``, children may compute on cpu alone.
    """
    global _context
    _mp.set_start_method(method, force=force)
    _context = context = _mp.get_context(method or "spawn")
    globals().update(
        {
            name: getattr(context, name)
            for name in (
                "Process",
                "Pool",
                "Queue",
                "SimpleQueue",
                "Lock",
                "Event",
                "Manager",
                "Pipe",
                "Value",
                "Array",
            )
        }
    )


def get_sharing_strategy() -> str:
    """What `set_sharing_strategy` set; tensors are sent by value."""
    return _sharing


def set_sharing_strategy(new_strategy: str) -> None:
    """Set what `get_sharing_strategy` says. AssertionError for one that PyTorch does not have."""
    global _sharing
    assert new_strategy in get_all_sharing_strategies()
    _sharing = new_strategy


def get_all_sharing_strategies() -> set[str]:
    """The names that PyTorch has on Linux."""
    return {"file_descriptor", "file_system"}


class ProcessRaisedException(Exception):
    """A process that `spawn` started raised."""


class ProcessExitedException(Exception):
    """A process that `spawn` started ended with an exit status other than 0."""


def _run(fn: Callable[..., None], i: int, args: tuple[Any, ...], errors: Any) -> None:
    import sys
    import traceback

    try:
        fn(i, *args)
    except Exception:
        errors.put((i, traceback.format_exc()))
        sys.exit(1)


class SpawnContext:
    """The processes of `spawn`."""

    def __init__(self, processes: list[Any], errors: Any) -> None:
        self.processes, self._errors = processes, errors

    def pids(self) -> list[int]:
        """Their ids."""
        return [p.pid for p in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for all; True when all ended. If one failed the others are ended and its error is raised."""
        from multiprocessing.connection import wait

        alive = {p.sentinel: p for p in self.processes if p.exitcode is None}
        if alive:  # else wait() would never return
            wait(list(alive), timeout)
        failed = next((p for p in self.processes if p.exitcode), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        for p in self.processes:
            if p.exitcode is None:
                p.terminate()
            p.join(grace_period)
        if self._errors.empty():
            raise ProcessExitedException(
                f"process {self.processes.index(failed)} terminated with exit code {failed.exitcode}"
            )
        index, text = self._errors.get()
        raise ProcessRaisedException(f"\n\n-- Process {index} terminated with the following error:\n{text}")


ProcessContext = SpawnContext


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` processes; an error in one is raised here."""
    context: Any = _mp.get_context(start_method)
    errors = context.SimpleQueue()
    processes = [context.Process(target=_run, args=(fn, i, args, errors), daemon=daemon) for i in range(nprocs)]
    for p in processes:
        p.start()
    started = SpawnContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


start_processes = spawn
__all__ = [  # noqa: PLE0604  (names of multiprocessing)
    *_mp.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
