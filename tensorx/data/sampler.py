"""Samplers: in which order, and in which batches, a loader takes a dataset's samples.

Orders are drawn on the cpu whatever the default device (they are used by Python); the generator gives the same numbers
on all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import tensorx as tx

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """An iterable of indices (or of lists of indices).

    Example:
        >>> import tensorx as tx
        >>> class Backwards(tx.data.Sampler):
        ...     def __iter__(self):
        ...         return iter([2, 1, 0])
        >>> list(tx.data.BatchSampler(Backwards(), 2, drop_last=False))
        [[2, 1], [0]]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ...

    Example:
        >>> import tensorx as tx
        >>> list(tx.data.SequentialSampler(range(3)))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A fresh permutation each time; with ``replacement``, independent draws.

    Without a ``generator``, each iteration seeds its own from the global one.

    Example:
        >>> import tensorx as tx
        >>> sorted(tx.data.RandomSampler(range(3)))
        [0, 1, 2]
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if num_samples is not None and (not isinstance(num_samples, int) or num_samples <= 0):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """How many indices one iteration gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, left = len(self.data_source), self.num_samples
        generator = self.generator if self.generator is not None else _seeded()
        while left > 0:
            count = min(left, n)
            if self.replacement:
                order = tx.randint(n, (count,), dtype=tx.int64, generator=generator, device="cpu").tolist()
            else:
                order = tx.randperm(n, generator=generator, device="cpu").tolist()
            yield from order[:count]
            left -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Example:
        >>> import tensorx as tx
        >>> sorted(tx.data.SubsetRandomSampler([4, 7]))
        [4, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in tx.randperm(len(self.indices), generator=self.generator, device="cpu").tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class BatchSampler(Sampler[list[int]]):
    """Lists of ``batch_size`` indices of another sampler; ``drop_last`` leaves out an incomplete last one.

    Example:
        >>> import tensorx as tx
        >>> list(tx.data.BatchSampler(tx.data.SequentialSampler(range(5)), 2, drop_last=True))
        [[0, 1], [2, 3]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]  # a sampler without length has none here either
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _seeded() -> Any:
    generator = tx.Generator()
    generator.manual_seed(int(tx.randint(2**31, (), device="cpu").item()))
    return generator
