"""Taking samples of a dataset and making a batch of them: what a loader does for each batch, here or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Fetcher:
    """Fetches what a sampler asks for.

    Args:
        dataset: of samples by index, or a stream.
        stream: which of both; of a stream the indices only count.
        batched: whether an index is a list of indices.
        collate: makes a batch of a list of samples, or (not ``batched``) converts one.
        drop_last: leave out a stream's incomplete last batch.
    """

    def __init__(
        self, dataset: Any, stream: bool, batched: bool, collate: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset, self.batched, self.collate, self.drop_last = dataset, batched, collate, drop_last
        self.samples: Iterator[Any] | None = iter(dataset) if stream else None

    def fetch(self, index: Any) -> Any:
        """The batch at these indices. StopIteration at the end of a stream."""
        if self.samples is not None:
            return self._next(self.samples, index)
        if not self.batched:
            return self.collate(self.dataset[index])
        together = getattr(self.dataset, "__getitems__", None)
        return self.collate([self.dataset[i] for i in index] if together is None else together(index))

    def _next(self, samples: Iterator[Any], index: Any) -> Any:
        if not self.batched:
            return self.collate(next(samples))
        batch = [sample for _, sample in zip(index, samples)]
        if len(batch) < len(index):
            self.samples = iter(())
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate(batch)
