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
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

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


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities in proportion to ``weights``, with or without ``replacement``.

    Example:
        >>> import tensorx as tx
        >>> list(tx.data.WeightedRandomSampler([0.0, 1.0, 0.0], 3))
        [1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = tx.as_tensor(weights, dtype=tx.float64, device="cpu")
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = tx.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


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


class DistributedSampler(Sampler[T_co]):
    """The part of a dataset that belongs to one of several processes: every ``num_replicas``-th index from ``rank``.

    All parts are of one size: indices are repeated to fill up, or with ``drop_last`` left out. Call
    :meth:`set_epoch` before each epoch for another order.

    Example:
        >>> import tensorx as tx
        >>> [list(tx.data.DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in range(2)]
        [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise ValueError(
                "DistributedSampler: arguments 'num_replicas' and 'rank' must be given: there is no process group."
            )
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[Any]:
        n = len(self.dataset)
        order = list(range(n))
        if self.shuffle:
            generator = tx.Generator().manual_seed(self.seed + self.epoch)
            order = tx.randperm(n, generator=generator, device="cpu").tolist()
        while 0 < len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the order depend on the epoch."""
        self.epoch = epoch


def _seeded() -> Any:
    generator = tx.Generator()
    generator.manual_seed(int(tx.randint(2**31, (), device="cpu").item()))
    return generator
