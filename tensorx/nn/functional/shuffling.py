"""Elements moved between channels and space."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(.., C * r * r, H, W) as (.., C, H * r, W * r): each group of r * r channels becomes a square of pixels.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.pixel_shuffle(tx.arange(4.0).reshape(4, 1, 1), 2)
        tensor([[[0., 1.],
                 [2., 3.]]])
    """
    return tx.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(.., C, H * r, W * r) as (.., C * r * r, H, W): the inverse of :func:`pixel_shuffle`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.pixel_unshuffle(tx.arange(4.0).reshape(1, 2, 2), 2).flatten()
        tensor([0., 1., 2., 3.])
    """
    return tx.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input: Any, groups: int) -> Any:
    """The channels (dimension 1) of all ``groups`` in turn.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.channel_shuffle(tx.arange(4.0).reshape(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    return tx.channel_shuffle(input, groups)


def native_channel_shuffle(input: Any, groups: int) -> Any:
    """:func:`channel_shuffle` under its other name.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.native_channel_shuffle(tx.arange(4.0).reshape(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    return tx.native_channel_shuffle(input, groups)
