"""DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler


class _EverNone:
    """The sampler of a stream: no index, for ever."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader:
    """Batches of a dataset's samples.

    Args:
        dataset: a map-style dataset (``__getitem__``, ``__len__``) or an :class:`IterableDataset`.
        batch_size: samples a batch; None gives single samples (or whatever ``sampler`` asks of the dataset)
            without collating.
        shuffle: a fresh random order every epoch.
        sampler, batch_sampler: the order, or the batches, given by yourself.
        num_workers: 0; worker processes are not in this version.
        collate_fn: makes a batch of a list of samples; by default :func:`default_collate`.
        pin_memory: accepted; copies to a device do not need it here.
        drop_last: leave out an incomplete last batch.
        timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers, pin_memory_device:
            about workers.
        generator: draws the order.

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
        self.dataset, self.num_workers, self.timeout, self.generator = dataset, num_workers, timeout, generator
        self.pin_memory, self.worker_init_fn, self.persistent_workers = pin_memory, worker_init_fn, persistent_workers
        self.prefetch_factor = prefetch_factor
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

    def __iter__(self) -> Iterator[Any]:
        if self._stream:
            return self._iterate_stream()
        return self._iterate()

    def _iterate(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        fetch = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            samples = [self.dataset[i] for i in indices] if fetch is None else fetch(indices)
            yield self.collate_fn(samples)

    def _iterate_stream(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_sampler is None:
            yield from map(self.collate_fn, samples)
            return
        for indices in self.batch_sampler:
            batch = [sample for _, sample in zip(indices, samples)]
            if not batch or (self.drop_last and len(batch) < len(indices)):
                return
            yield self.collate_fn(batch)
            if len(batch) < len(indices):
                return

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
        raise NotImplementedError(
            f"DataLoader: argument 'num_workers' must be 0; got {num_workers}. Worker processes are not in this "
            "version. Hint: num_workers=0 loads in the main process."
        )
    if prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent:
        raise ValueError("persistent_workers option needs num_workers > 0")
