"""Causal masks of rectangles."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def causal_upper_left(*size: int, device: Any = None) -> Any:
    """The bool mask (L, S) in which query i sees keys 0 to i.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.attention.bias.causal_upper_left(1, 3)
        tensor([[ True, False, False]])
    """
    return _causal(size, 0, device)


def causal_lower_right(*size: int, device: Any = None) -> Any:
    """The bool mask (L, S) in which the last query sees all keys, the one before it all but the last, and so on.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.attention.bias.causal_lower_right(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """
    return _causal(size, size[1] - size[0] if len(size) == 2 else 0, device)


def _causal(size: tuple[int, ...], shift: int, device: Any) -> Any:
    if len(size) != 2:
        raise AssertionError(f"causal masks must have 2 dimensions; got {len(size)}")
    rows, columns = tx.arange(size[0], device=device), tx.arange(size[1], device=device)
    return columns <= rows.unsqueeze(1) + shift
