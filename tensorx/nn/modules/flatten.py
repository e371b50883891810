"""Flatten."""

from __future__ import annotations

from typing import Any

from .module import Module


class Flatten(Module):
    """Merge the dimensions ``start_dim`` to ``end_dim`` (by default all but the first) into one.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Flatten()(tx.ones(2, 3, 4)).shape
        tensorx.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
