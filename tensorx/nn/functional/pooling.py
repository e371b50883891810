"""Pooling over windows: maxima, means and power means, in 1 to 3 dimensions."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, L) or (C, L); NaN is greater than all.

    Args:
        input: tensor with the dimensions above.
        kernel_size: elements of a window.
        stride: from window to window, by default ``kernel_size``.
        padding: -inf on both sides, at most half a window.
        dilation: from element to element of a window.
        ceil_mode: keep a window that hangs over the end.
        return_indices: give the place of the maximum (the first of equal ones), too.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool1d(tx.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[3., 4.]])
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W); see :func:`max_pool1d`.

    Indices count the elements of a plane row by row.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool2d(tx.arange(16.0).reshape(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W); see :func:`max_pool1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool3d(tx.arange(8.0).reshape(1, 2, 2, 2), 2)
        tensor([[[[7.]]]])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _max_pool(rank: int, input: Any, *window: Any) -> Any:
    if window[-1]:  # return_indices
        return tuple(getattr(tx, f"max_pool{rank}d_with_indices")(input, *window[:-1]))
    return getattr(tx, f"max_pool{rank}d")(input, *window[:-1])


def max_pool1d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """:func:`max_pool1d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool1d_with_indices(tx.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """:func:`max_pool2d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool2d_with_indices(tx.arange(4.0).reshape(1, 2, 2), 2)
        (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """:func:`max_pool3d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.max_pool3d_with_indices(tx.arange(8.0).reshape(1, 2, 2, 2), 2)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of (N, C, L) or (C, L).

    Args:
        input: tensor with the dimensions above.
        kernel_size: elements of a window.
        stride: from window to window, by default ``kernel_size``.
        padding: zeros on both sides, at most half a window.
        ceil_mode: keep a window that hangs over the end; what hangs over does not count.
        count_include_pad: whether padding counts.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.avg_pool1d(tx.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[2., 3.]])
    """
    return tx.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (N, C, H, W) or (C, H, W); see :func:`avg_pool1d`.

    ``divisor_override`` divides the sums by itself.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.avg_pool2d(tx.arange(16.0).reshape(1, 4, 4), 2)
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
    """
    return tx.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); see :func:`avg_pool2d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.avg_pool3d(tx.arange(8.0).reshape(1, 2, 2, 2), 2)
        tensor([[[[3.5000]]]])
    """
    return tx.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _sizes(input: Any, output_size: Any, rank: int) -> Any:
    """``output_size`` with None as the input's size."""
    if isinstance(output_size, int):
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if len(output_size) != rank:
        raise RuntimeError(f"adaptive pooling: argument 'output_size' must hold {rank} sizes; got {output_size}.")
    return tuple(n if size is None else size for size, n in zip(output_size, input.shape[-rank:]))


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Means of windows that share (N, C, L) or (C, L) evenly among ``output_size`` results.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_avg_pool1d(tx.arange(5.0).reshape(1, 5), 3)
        tensor([[0.5000, 2.0000, 3.5000]])
    """
    return tx.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Means of windows that share (N, C, H, W) or (C, H, W) evenly; a size of None keeps the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_avg_pool2d(tx.arange(6.0).reshape(1, 2, 3), (1, None))
        tensor([[[1.5000, 2.5000, 3.5000]]])
    """
    return tx.adaptive_avg_pool2d(input, _sizes(input, output_size, 2))


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Means of windows that share (N, C, D, H, W) or (C, D, H, W) evenly; a size of None keeps the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_avg_pool3d(tx.arange(8.0).reshape(1, 2, 2, 2), 1)
        tensor([[[[3.5000]]]])
    """
    return tx.adaptive_avg_pool3d(input, _sizes(input, output_size, 3))


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of windows that share (N, C, L) or (C, L) evenly among ``output_size`` results.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool1d(tx.arange(5.0).reshape(1, 5), 3)
        tensor([[1., 3., 4.]])
    """
    return _largest(tx.adaptive_max_pool1d(input, output_size), return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of windows that share (N, C, H, W) or (C, H, W) evenly; a size of None keeps the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool2d(tx.arange(6.0).reshape(1, 2, 3), (1, None), return_indices=True)
        (tensor([[[3., 4., 5.]]]), tensor([[[3, 4, 5]]]))
    """
    return _largest(tx.adaptive_max_pool2d_with_indices(input, _sizes(input, output_size, 2)), return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of windows that share (N, C, D, H, W) or (C, D, H, W) evenly; a size of None keeps the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool3d(tx.arange(8.0).reshape(1, 2, 2, 2), 1)
        tensor([[[[7.]]]])
    """
    return _largest(tx.adaptive_max_pool3d_with_indices(input, _sizes(input, output_size, 3)), return_indices)


def _largest(found: Any, return_indices: bool) -> Any:
    return tuple(found) if return_indices else found[0]


def adaptive_max_pool1d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """:func:`adaptive_max_pool1d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool1d_with_indices(tx.arange(4.0).reshape(1, 4), 2)
        (tensor([[1., 3.]]), tensor([[1, 3]]))
    """
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """:func:`adaptive_max_pool2d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool2d_with_indices(tx.arange(4.0).reshape(1, 2, 2), 1)
        (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """:func:`adaptive_max_pool3d` with ``return_indices``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.adaptive_max_pool3d_with_indices(tx.arange(8.0).reshape(1, 2, 2, 2), 1)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return adaptive_max_pool3d(input, output_size, True)


def lp_pool1d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, L) or (C, L).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.lp_pool1d(tx.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2)
        tensor([[ 5., 10.]])
    """
    return _lp_pool(tx.avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, H, W) or (C, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.lp_pool2d(tx.ones(1, 2, 4), 2, 2)
        tensor([[[2., 2.]]])
    """
    return _lp_pool(tx.avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.lp_pool3d(tx.ones(1, 2, 2, 4), 1, 2)
        tensor([[[[8., 8.]]]])
    """
    return _lp_pool(tx.avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(pool: Any, rank: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    """PyTorch's formula: a window's mean times its size, so that a window over the end counts as if it were whole."""
    sizes = (kernel_size,) * rank if isinstance(kernel_size, int) else tuple(kernel_size)
    out = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu()).mul(math.prod(sizes)).pow(1.0 / norm_type)
