"""Datasets."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import tensorx as tx

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A map from index to sample: write ``__getitem__`` and ``__len__``; ``__getitems__`` (a list of indices) is used
    if there.

    Example:
        >>> import tensorx as tx
        >>> class Squares(tx.data.Dataset):
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> Squares()[3]
        9
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of samples: write ``__iter__``.

    Example:
        >>> import tensorx as tx
        >>> class Count(tx.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(tx.data.DataLoader(Count(), batch_size=2))
        [tensor([0, 1]), tensor([2])]
    """

    def __add__(self, other: Any) -> ChainDataset:  # type: ignore[override]  # streams are chained
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Tensors of equal first size; sample ``i`` is the tuple of their rows ``i``.

    Example:
        >>> import tensorx as tx
        >>> data = tx.data.TensorDataset(tx.arange(3), tx.ones(3))
        >>> len(data), data[2]
        (3, (tensor(2), tensor(1.)))
    """

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Any) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is a tuple of their samples, or a dict if they are given by name.

    Example:
        >>> import tensorx as tx
        >>> tx.data.StackDataset([1, 2], "ab")[1], tx.data.StackDataset(x=[1, 2], y="ab")[0]
        ((2, 'b'), {'x': 1, 'y': 'a'})
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        sizes = {len(dataset) for dataset in (args or kwargs.values())}
        if len(sizes) > 1:
            raise ValueError("Size mismatch between datasets")
        (self._length,) = sizes

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        named = isinstance(self.datasets, dict)
        columns = [_items(d, indices) for d in (self.datasets.values() if named else self.datasets)]
        rows = list(zip(*columns))
        return [dict(zip(self.datasets, row)) for row in rows] if named else rows

    def __len__(self) -> int:
        return self._length


def _items(dataset: Any, indices: list[int]) -> list[Any]:
    together = getattr(dataset, "__getitems__", None)
    if not callable(together):
        return [dataset[i] for i in indices]
    found: list[Any] = together(indices)
    if len(found) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}"
        )
    return found


class ConcatDataset(Dataset[Any]):
    """Datasets one after the other.

    Example:
        >>> import tensorx as tx
        >>> tx.data.ConcatDataset([[1, 2], [3]])[2]
        3
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other.

    Example:
        >>> import tensorx as tx
        >>> class Count(tx.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(tx.data.ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(d) for d in self.datasets)


class Subset(Dataset[T_co]):
    """The samples of ``dataset`` at ``indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.data.Subset([10, 20, 30], [2, 0])[0]
        30
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset[Any]]:
    """Subsets of these lengths, or of these fractions (which sum to 1), drawn without overlap by ``generator``.

    Example:
        >>> import tensorx as tx
        >>> [len(part) for part in tx.data.random_split(range(10), [0.75, 0.25])]
        [8, 2]
    """
    sizes = _split_sizes(len(dataset), lengths)
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    # The cpu, whatever the default device: the order is used by Python.
    order = tx.randperm(sum(sizes), generator=generator, device="cpu").tolist()
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, accumulate(sizes))]


def _split_sizes(total: int, lengths: Sequence[float]) -> list[int]:
    if not (math.isclose(sum(lengths), 1) and sum(lengths) <= 1):
        return [int(n) for n in lengths]
    for i, fraction in enumerate(lengths):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * fraction) for fraction in lengths]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return sizes
