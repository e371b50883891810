"""Sliding windows of images as columns, and back."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def _pair(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel elements, windows).

    Args:
        input: images.
        kernel_size: height and width of a window, or both.
        dilation: from element to element of a window.
        padding: zeros on both sides.
        stride: from window to window.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.unfold(tx.arange(9.0).reshape(1, 3, 3), 2)
        tensor([[0., 1., 3., 4.],
                [1., 2., 4., 5.],
                [3., 4., 6., 7.],
                [4., 5., 7., 8.]])
    """
    return tx.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Images of ``output_size`` from columns (N, C * kernel elements, windows): where windows overlap, they add up.

    The other arguments are those of :func:`unfold`, whose gradient this is.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.fold(tx.ones(4, 4), (3, 3), 2)
        tensor([[[1., 2., 1.],
                 [2., 4., 2.],
                 [1., 2., 1.]]])
    """
    return tx.col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )
