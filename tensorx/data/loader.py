"""DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar, cast

import tensorx as tx

from .collate import default_collate, default_convert, pin_memory
from .dataset import IterableDataset
from .fetch import Fetcher
from .sampler import BatchSampler, RandomSampler, SequentialSampler

T_co = TypeVar("T_co", covariant=True)


class _EverNone:
    """The sampler of a stream: no index, for ever."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a dataset's samples.

    Args:
        dataset: a map-style dataset (``__getitem__``, ``__len__``) or an :class:`IterableDataset`.
        batch_size: samples a batch; None gives single samples (or whatever ``sampler`` asks of the dataset)
            without collating.
        shuffle: a fresh random order every epoch.
        sampler, batch_sampler: the order, or the batches, given by yourself.
        num_workers: processes that fetch and collate; 0 does it here. The order is the same with any number.
        collate_fn: makes a batch of a list of samples; by default :func:`default_collate`.
        pin_memory, pin_memory_device: give batches in page-locked memory (see `Tensor.pin_memory`), which
            ``.to(device, non_blocking=True)`` copies from without staging.
        drop_last: leave out an incomplete last batch (of a stream: of each worker).
        timeout: seconds to wait for a batch of a worker; 0 waits for ever.
        worker_init_fn: called in each worker with its number, before the first sample.
        multiprocessing_context: a start method or a context; by default the system's.
        generator: draws the order, and the workers' seeds: worker ``i`` begins with base seed + ``i``, for Python's
            and NumPy's random numbers, too.
        prefetch_factor: batches that a worker makes in advance, by default 2.
        persistent_workers: keep the workers between epochs.
        in_order: give the batches in order; otherwise as they come.

    Workers compute on the cpu: a device that the parent has opened does not survive a fork. Let datasets give tensors
    on the cpu, and move the batches. Large tensors come through shared memory. An exception in a worker is raised here,
    with its traceback; a worker that ends (is killed, or crashes) is a RuntimeError.

    Example:
        >>> import tensorx as tx
        >>> [batch.tolist() for batch in tx.data.DataLoader(range(5), batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if multiprocessing_context is not None and num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                f"num_workers={num_workers}"
            )
        self.dataset, self.num_workers, self.timeout, self.generator = dataset, num_workers, timeout, generator
        self.pin_memory, self.worker_init_fn, self.persistent_workers = pin_memory, worker_init_fn, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self._iterator: Any = None
        self.multiprocessing_context: Any = None
        if num_workers:
            from .processes import context_of
            self.multiprocessing_context = context_of(multiprocessing_context) if multiprocessing_context else None
        self._stream = isinstance(dataset, IterableDataset)
        if self._stream and (shuffle or sampler is not None or batch_sampler is not None):
            given = "shuffle" if shuffle else "sampler" if sampler is not None else "batch_sampler"
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {given} option")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._stream:
                sampler = _EverNone()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(cast(Any, sampler), batch_size, drop_last)  # a stream's sampler gives None
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_made"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _index_sampler(self) -> Iterable[Any]:
        """Gives what a fetcher fetches: indices, or lists of them."""
        return cast(Any, self.sampler if self.batch_sampler is None else self.batch_sampler)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def context(self) -> Any:
        """Where worker processes come from."""
        from .processes import context_of
        return self.multiprocessing_context or context_of(None)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return self._iterate()
        if self._iterator is not None:
            self._iterator.restart()
            return self._iterator
        from .processes import WorkerIterator
        iterator = WorkerIterator(self, self._job())
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def _job(self) -> Any:
        from .worker import Job
        generator = tx.default_generator if self.generator is None else self.generator
        return Job(
            self.dataset,
            self._stream,
            self._auto_collation,
            self.collate_fn,
            self.drop_last,
            generator.child_seed(),
            self.num_workers,
            self.worker_init_fn,
            "",
        )

    def forget(self, iterator: Any) -> None:
        """Let an iterator go whose workers have ended."""
        if self._iterator is iterator:
            self._iterator = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_iterator": None}

    def _iterate(self) -> Iterator[Any]:
        fetcher = Fetcher(self.dataset, self._stream, self._auto_collation, self.collate_fn, self.drop_last)
        for index in self._index_sampler:
            try:
                batch = fetcher.fetch(index)
            except StopIteration:
                if not self._stream:
                    raise
                return
            yield self._pinned(batch)

    def _pinned(self, batch: Any) -> Any:
        return pin_memory(batch, self.pin_memory_device or None) if self.pin_memory else batch

    def __len__(self) -> int:
        if not self._stream:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers > 0:
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        return
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent:
        raise ValueError("persistent_workers option needs num_workers > 0")


#: What cannot be changed any more: samplers and workers were made of it.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
