"""Fractional pooling, and putting pooled maxima back at their places."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops.unpooling import FRACTIONAL, max_unpool


def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Zeros, with the elements of (N, C, L) or (C, L) at the places that :func:`max_pool1d` gave.

    Args:
        input: maxima.
        indices: their places, int64, of the same shape. RuntimeError for one outside of the result.
        kernel_size, stride, padding: those of the pooling, from which the result's size is worked out.
        output_size: the size, where several were possible (at most a stride from that).

    Example:
        >>> import tensorx as tx
        >>> y, i = tx.nn.functional.max_pool1d(tx.tensor([[1.0, 3.0, 2.0, 4.0]]), 2, return_indices=True)
        >>> tx.nn.functional.max_unpool1d(y, i, 2)
        tensor([[0., 3., 0., 4.]])
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Zeros, with the elements of (N, C, H, W) or (C, H, W) at the places that :func:`max_pool2d` gave.

    The arguments are those of :func:`max_unpool1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_unpool2d(tx.tensor([[[5.0]]]), tx.tensor([[[2]]]), 2)
        tensor([[[0., 0.],
                 [5., 0.]]])
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Zeros, with the elements of (N, C, D, H, W) or (C, D, H, W) at the places that :func:`max_pool3d` gave.

    The arguments are those of :func:`max_unpool1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_unpool3d(tx.tensor([[[[5.0]]]]), tx.tensor([[[[3]]]]), 2).flatten()
        tensor([0., 0., 0., 5., 0., 0., 0., 0.])
    """
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _spread(value: Any, rank: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def _max_unpool(
    rank: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Any:
    kernel, pad = _spread(kernel_size, rank), _spread(padding, rank)
    steps = _spread(stride, rank) if stride is not None else kernel
    if any(s <= 0 for s in steps):
        raise RuntimeError(f"max_unpool{rank}d: strides should be greater than zero, but got stride: {list(steps)}")
    usual = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(input.shape[-rank:], kernel, steps, pad)]
    return max_unpool(input, indices, tuple(_chosen(usual, steps, output_size)))


def _chosen(usual: list[int], stride: tuple[int, ...], output_size: Any) -> Any:
    """The size of the result; ValueError for one that the pooling cannot have had."""
    rank = len(usual)
    sizes = usual if output_size is None else list(output_size)
    sizes = sizes[2:] if len(sizes) == rank + 2 else sizes
    if len(sizes) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of "
            f"'{len(sizes)}'"
        )
    for dim, (size, middle, step) in enumerate(zip(sizes, usual, stride)):
        if not middle - step < size < middle + step:
            raise ValueError(
                f'invalid output_size "{tuple(sizes)}" (dim {dim} must be between {middle - step} and {middle + step})'
            )
        if size < 0:
            raise ValueError(f"max_unpool: output_size must not be negative; got {size} for dim {dim}")
    return sizes


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W), windows lying at pseudo-random steps.

    Args:
        input: tensor with the dimensions above.
        kernel_size: height and width of a window, or both.
        output_size: height and width of the result, or both; or
        output_ratio: the result's height and width as fractions of the input's.
        return_indices: give the places of the maxima, too.

    The steps follow Graham, "Fractional max-pooling", 2014 (https://arxiv.org/abs/1412.6071), drawn for each channel.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.fractional_max_pool2d(tx.ones(1, 3, 9, 9), 2, output_size=5).shape
        tensorx.Size([1, 3, 5, 5])
    """
    found = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return tuple(found) if return_indices else found[0]


def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W), windows lying at pseudo-random steps.

    The arguments are those of :func:`fractional_max_pool2d`, with the depth first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.fractional_max_pool3d(tx.ones(3, 9, 9, 9), 2, output_ratio=(0.5, 0.5, 0.6)).shape
        tensorx.Size([3, 4, 4, 5])
    """
    found = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return tuple(found) if return_indices else found[0]


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """:func:`fractional_max_pool2d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> [y.shape for y in tx.nn.functional.fractional_max_pool2d_with_indices(tx.ones(1, 9, 9), 2, 4)]
        [tensorx.Size([1, 4, 4]), tensorx.Size([1, 4, 4])]
    """
    return tuple(_fractional(2, input, kernel_size, output_size, output_ratio, _random_samples))


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """:func:`fractional_max_pool3d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> [y.shape for y in tx.nn.functional.fractional_max_pool3d_with_indices(tx.ones(1, 9, 9, 9), 2, 4)]
        [tensorx.Size([1, 4, 4, 4]), tensorx.Size([1, 4, 4, 4])]
    """
    return tuple(_fractional(3, input, kernel_size, output_size, output_ratio, _random_samples))


def _fractional(
    rank: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> Any:
    name = f"fractional_max_pool{rank}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = _spread(output_ratio, rank)
        if len(ratios) != rank:
            raise ValueError(f"{name} requires output_ratio to either be a single number or {rank} of them.")
        output_size = [int(n * ratio) for n, ratio in zip(input.shape[-rank:], ratios)]
    if samples is None:
        batch = 1 if input.dim() == rank + 1 else input.size(0)
        samples = tx.rand(batch, input.size(-rank - 1), rank, dtype=input.dtype, device=input.device)
    return FRACTIONAL[rank](input, kernel_size, output_size, samples)
