"""Distances."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along ``dim``; norms are kept from falling below ``eps``.

    Shape: two that broadcast; the result lacks ``dim``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CosineSimilarity()(tx.tensor([[1.0, 0.0]]), tx.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of ``x1 - x2 + eps`` over the last dimension.

    Shape: (N, D) or (D) each; gives (N) or (), with a last 1 if ``keepdim``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.PairwiseDistance()(tx.tensor([[3.0, 0.0]]), tx.tensor([[0.0, 4.0]]))
        tensor([5.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
