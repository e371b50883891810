"""Dropout."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class Dropout(Module):
    """In training mode: each element is zero with probability ``p``, the others are divided by ``1 - p``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Dropout(0.5).eval()(tx.ones(3))
        tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
