"""Distances and similarities of vectors."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along ``dim``; norms are kept from falling below ``eps``.

    Shape: ``x1`` and ``x2`` broadcast; the result lacks ``dim``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.cosine_similarity(tx.tensor([[1.0, 0.0]]), tx.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """
    return tx.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of ``x1 - x2 + eps`` over the last dimension.

    Shape: ``x1`` and ``x2`` broadcast; the result lacks the last dimension unless ``keepdim``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.pairwise_distance(tx.tensor([[3.0, 0.0]]), tx.tensor([[0.0, 4.0]]))
        tensor([5.])
    """
    return tx.pairwise_distance(x1, x2, p, eps, keepdim)


def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-norm distances of all pairs of different rows of (N, M): (0, 1), (0, 2), ..., (N - 2, N - 1).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.pdist(tx.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """
    return tx.pdist(input, p)
