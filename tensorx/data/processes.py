"""The parent's side of worker processes: gives out indices, takes batches in, notices who is gone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import time
import warnings
import weakref
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from . import transport, worker

#: Seconds that a worker has to end by itself.
PATIENCE = 5.0


class WorkerIterator:
    """Iterates over a loader's batches, which its worker processes make."""

    def __init__(self, loader: Any, job: worker.Job) -> None:
        self.loader, self.in_order, self.timeout = loader, loader.in_order, loader.timeout
        self.ahead = loader.prefetch_factor
        self.folder = transport.folder()
        self.epoch = -1
        self.workers: list[Any] = []
        self.pipes: list[Any] = []
        self._ended = weakref.finalize(self, _end, self.workers, self.pipes, self.folder, os.getpid())
        context = loader.context
        forks = context.get_start_method() == "fork"
        job = job._replace(folder=self.folder)
        for number in range(job.workers):
            mine, theirs = context.Pipe()
            others = [*self.pipes, mine] if forks else []
            process = context.Process(target=worker.run, args=(job, number, theirs, others), daemon=True)
            with _interrupts_held(), warnings.catch_warnings():
                # Python warns of threads at a fork: the library's locks are made for it (see `tensorx.locks`).
                warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
                process.start()
            theirs.close()
            self.workers.append(process)
            self.pipes.append(mine)
        self.restart()

    def restart(self) -> None:
        """Begin an epoch; what is still under way of the last one is not looked at when it comes."""
        self.epoch += 1
        self.indices: Iterator[Any] = iter(self.loader._index_sampler)
        self.sent = self.given = 0
        self.active = [True] * len(self.workers)
        self.turn = 0
        self.owner: dict[int, int] = {}  # of each place that is under way
        self.arrived: dict[int, Any] = {}
        for _ in range(self.ahead * len(self.workers)):
            self._give_out()

    def __iter__(self) -> WorkerIterator:
        return self

    def __len__(self) -> int:
        return len(self.loader)

    def __next__(self) -> Any:
        while self.given < self.sent:
            place = self.given if self.in_order else next(iter(self.arrived), self.given)
            if place not in self.arrived:
                if self.in_order and place not in self.owner:  # the end of a worker's stream stood here
                    self.given += 1
                    continue
                if not self.owner and not self.arrived:
                    break
                self._take()
                continue
            packed = self.arrived.pop(place)
            self.given += 1
            self._give_out()
            result = transport.unpack(packed)
            if isinstance(result, worker.Failure):
                result.raise_again()
            return self.loader._pinned(result)
        if not self.loader.persistent_workers:
            self.close()
        raise StopIteration

    def _give_out(self) -> None:
        """Send the next index to the next worker that has not come to its end."""
        if not any(self.active):
            return
        try:
            index = next(self.indices)
        except StopIteration:
            return
        while not self.active[self.turn]:
            self.turn = (self.turn + 1) % len(self.workers)
        number, self.turn = self.turn, (self.turn + 1) % len(self.workers)
        task = transport.pack((self.epoch, self.sent, index), self.folder)
        try:
            self.pipes[number].send(task)
        except OSError:
            self._gone([number])
        self.owner[self.sent] = number
        self.sent += 1

    def _take(self) -> None:
        """Wait for an answer."""
        sentinels = {process.sentinel: number for number, process in enumerate(self.workers)}
        pipes = {self.pipes[number]: number for number in set(self.owner.values())}
        end = time.monotonic() + self.timeout if self.timeout else None
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = wait([*pipes, *sentinels], left)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
            for pipe in ready:
                if pipe in pipes and self._answer(pipe, pipes[pipe]):
                    return
            # What a dead worker has sent, and then the end of its pipe, is read first, if anything is to come from it.
            dead = [sentinels[s] for s in ready if s in sentinels]
            gone = [n for n in dead if self.pipes[n] not in pipes or not self.pipes[n].poll()]
            if gone:
                self._gone(gone)

    def _answer(self, pipe: Any, number: int) -> bool:
        """Take an answer in; False for one of an earlier epoch."""
        try:
            epoch, place, packed = pipe.recv()
        except (EOFError, OSError):
            self._gone([number])
        if epoch != self.epoch:
            if packed is not None and packed[1]:
                os.unlink(packed[1])
            return False
        del self.owner[place]
        if packed is None:
            self.active[number] = False
            self._give_out()
        else:
            self.arrived[place] = packed
        return True

    def _gone(self, numbers: list[int]) -> None:
        for number in numbers:
            self.workers[number].join(1)
        told = ", ".join(f"{self.workers[n].pid}, exit code {self.workers[n].exitcode}" for n in numbers)
        self.close()
        raise RuntimeError(f"DataLoader worker (pid(s) {told}) exited unexpectedly")

    def close(self) -> None:
        """End the workers."""
        self.active = [False] * len(self.workers)
        self.indices, self.sent, self.given = iter(()), 0, 0
        self.loader.forget(self)
        self._ended()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits while a worker starts: it ignores that, but not from its first moment."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(workers: list[Any], pipes: list[Any], folder: str, owner: int) -> None:
    if os.getpid() != owner:  # a forked child, which has a copy of the iterator
        return
    for pipe in pipes:
        with contextlib.suppress(OSError):
            pipe.send(transport.pack(None, folder))
        pipe.close()
    end = time.monotonic() + PATIENCE
    for process in workers:
        process.join(max(0.0, end - time.monotonic()))
        if process.exitcode is None:
            process.terminate()
            process.join(1)
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()
    shutil.rmtree(folder, ignore_errors=True)


def context_of(method: Any) -> Any:
    """The multiprocessing context of a start method's name, or the given one."""
    if method is None or isinstance(method, str):
        methods = multiprocessing.get_all_start_methods()
        if method is not None and method not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods}, but got "
                f"multiprocessing_context={method!r}"
            )
        return multiprocessing.get_context(method)
    if not hasattr(method, "Process") or not hasattr(method, "Pipe"):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start "
            f"method, but got multiprocessing_context={method}"
        )
    return method
