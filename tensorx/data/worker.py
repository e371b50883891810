"""The worker process of a loader."""

from __future__ import annotations

import multiprocessing
import queue
import random
import shutil
import signal
import threading
import traceback
from typing import Any, NamedTuple

import numpy as np

import tensorx as tx
from tensorx.errors import DeviceError

from . import transport
from .fetch import Fetcher

#: Seconds after which an idle worker looks whether its parent lives.
LOOK = 5.0


class WorkerInfo(NamedTuple):
    """What a dataset may ask in a worker: which one it is in, of how many, its seed and its copy of the dataset.

    Example:
        >>> import tensorx as tx
        >>> tx.data.get_worker_info() is None
        True
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process of a loader what it is; None elsewhere. A stream uses it to give each worker its part.

    Example:
        >>> import tensorx as tx
        >>> class Count(tx.data.IterableDataset):
        ...     def __iter__(self):
        ...         worker = tx.data.get_worker_info()
        ...         return iter(range(4) if worker is None else range(worker.id, 4, worker.num_workers))
        >>> [batch.tolist() for batch in tx.data.DataLoader(Count(), batch_size=2, num_workers=2)]
        [[0, 2], [1, 3]]
    """
    return _info


class Failure:
    """An exception of a worker as it is sent: its class, and the text of its traceback."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind: Any = type(error)
        text = "".join(traceback.format_exception(error))
        self.text = f"Caught {type(error).__name__} {where}.\nOriginal {text}"
        if isinstance(error, DeviceError):
            self.text += (
                "\nHint: workers compute on the cpu alone (a device that the parent has opened does not survive fork); "
                "let the dataset give tensors on the cpu and move the batches: for batch in loader: batch.to(device)"
            )

    def raise_again(self) -> None:
        """Raise an exception of the class with the text; a RuntimeError where the class wants other arguments."""
        if self.kind is KeyError:
            raise KeyError(_Shown(self.text))
        try:
            error = self.kind(self.text)
        except Exception:  # a class with a constructor of its own
            error = RuntimeError(self.text)
        raise error

    def __reduce__(self) -> Any:
        return _failure, (self.text, self.kind)


class _Shown(str):
    """A KeyError shows its argument's repr: here, the text as it is."""

    def __repr__(self) -> str:
        return str(self)


def _failure(text: str, kind: Any) -> Failure:
    made = Failure.__new__(Failure)
    made.text, made.kind = text, kind
    return made


class Job(NamedTuple):
    """What a worker needs to know."""

    dataset: Any
    stream: bool
    batched: bool
    collate: Any
    drop_last: bool
    seed: int  # of worker 0
    workers: int
    init: Any
    folder: str

    def fetcher(self) -> Fetcher:
        """A fetcher, for a stream from its start."""
        return Fetcher(self.dataset, self.stream, self.batched, self.collate, self.drop_last)


def run(job: Job, number: int, pipe: Any, others: list[Any]) -> None:
    """The process, with the cpu as the default device whatever the parent's is."""
    with tx.device("cpu"):
        _run(job, number, pipe, others)


def _run(job: Job, number: int, pipe: Any, others: list[Any]) -> None:
    """Answers ``(epoch, place, index)`` with ``(epoch, place, packed batch or Failure)`` until None;
    None for a batch says that its stream has ended.
    """
    global _info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which ends the workers
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in others:  # a forked child has the parent's ends of the other pipes
        other.close()
    seed = job.seed + number
    tx.set_num_threads(1)
    tx.manual_seed(seed)
    random.seed(seed)
    np.random.seed(np.random.SeedSequence([job.seed % 2**64, number]).generate_state(4))
    _info = WorkerInfo(number, job.workers, seed, job.dataset)
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    sender = threading.Thread(target=_send, args=(pipe, answers), daemon=True)
    sender.start()
    where = f"in DataLoader worker process {number}"
    fetcher, epoch, failed = None, None, None
    if job.init is not None:
        try:
            job.init(number)
        except Exception as error:
            failed = Failure(error, where)
    while (task := _receive(pipe)) is not None:
        try:
            if failed is not None:
                result: Any = failed
            else:
                if fetcher is None or task[0] != epoch:
                    fetcher, epoch = job.fetcher(), task[0]
                result = fetcher.fetch(task[2])
            packed: Any = transport.pack(result, job.folder)
        except StopIteration as stop:
            packed = None if job.stream else _packed(Failure(stop, where))
        except Exception as error:
            packed = _packed(Failure(error, where))
        result = None
        answers.put((task[0], task[1], packed))
    answers.put(None)
    sender.join()
    if not _parent_lives():  # it could not do this
        shutil.rmtree(job.folder, ignore_errors=True)


def _packed(failure: Failure) -> Any:
    try:
        return transport.pack(failure, "")
    except Exception:  # a class that cannot be found again by its name
        failure.kind = RuntimeError
        return transport.pack(failure, "")


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()


def _receive(pipe: Any) -> Any:
    """The next task; None when the parent says so or is gone."""
    try:
        while not pipe.poll(LOOK):
            if not _parent_lives():
                return None
        return transport.unpack(pipe.recv())
    except (EOFError, OSError):
        return None


def _send(pipe: Any, answers: Any) -> None:
    """Sends what the loop has made, so that the loop never waits for the parent (who might wait for the loop)."""
    try:
        while (answer := answers.get()) is not None:
            pipe.send(answer)
    except OSError:  # the parent is gone, or wants no more
        pass
