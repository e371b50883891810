"""Making a batch of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import tensorx as tx


def default_collate(batch: list[Any]) -> Any:
    """Stack a list of equal-structured samples: tensors, arrays and numbers to tensors with a first dimension more.

    Mappings and sequences are collated item by item; strings and bytes stay lists.

    Example:
        >>> import tensorx as tx
        >>> tx.data.default_collate([(1, "a"), (2, "b")])
        [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, tx.Tensor):
        return tx.stack(batch, 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(_refusal(first.dtype))
        return tx.stack([tx.as_tensor(sample) for sample in batch], 0)
    if isinstance(first, np.generic) and first.dtype.kind not in "SUO":
        return tx.as_tensor(np.array(batch))
    if isinstance(first, bool):
        return tx.tensor(batch)
    if isinstance(first, float):
        return tx.tensor(batch, dtype=tx.float64)
    if isinstance(first, int):
        return tx.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _same_kind(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(samples)) for samples in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [_collate_column(samples) for samples in zip(*batch)]
        return columns if isinstance(first, tuple) else _same_kind(first, columns)
    raise TypeError(_refusal(type(first)))


def _collate_column(samples: tuple[Any, ...]) -> Any:
    """Strings stay the tuple that zip made, as in PyTorch."""
    return samples if isinstance(samples[0], (str, bytes)) else default_collate(list(samples))


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays and numbers inside ``data`` into tensors; used where a loader does not batch.

    Example:
        >>> import tensorx as tx
        >>> tx.data.default_convert({"x": [1, 2.5], "y": __import__("numpy").ones(2)})["y"]
        tensor([1., 1.], dtype=tensorx.float64)
    """
    return _inside(data, _tensor_of)


def pin_memory(data: Any, device: Any = None) -> Any:
    """The tensors inside ``data`` in page-locked memory, and whatever else has a method ``pin_memory``.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.data.collate import pin_memory
        >>> pin_memory({"x": [tx.ones(2), "text"]}, "null")
        {'x': [tensor([1., 1.]), 'text']}
    """

    def pinned(leaf: Any) -> Any:
        if isinstance(leaf, tx.Tensor):
            return leaf.pin_memory(device)
        return leaf.pin_memory() if hasattr(leaf, "pin_memory") else None

    return _inside(data, pinned)


def _tensor_of(data: Any) -> Any:
    if isinstance(data, tx.Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else tx.as_tensor(data)
    return None


def _inside(data: Any, convert: Callable[[Any], Any]) -> Any:
    """What ``convert`` makes of the values inside ``data``; those for which it answers None stay."""
    found = convert(data)
    if found is not None:
        return found
    if isinstance(data, Mapping):
        return _same_kind(data, {key: _inside(value, convert) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_inside(value, convert) for value in data))
    if isinstance(data, tuple):
        return [_inside(value, convert) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _same_kind(data, [_inside(value, convert) for value in data])
    return data


def _same_kind(like: Any, made: Any) -> Any:
    """``made`` as the class of ``like`` where that takes one argument (a range, for one, does not)."""
    try:
        return type(like)(made)
    except TypeError:
        return made


def _refusal(kind: Any) -> str:
    return f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
