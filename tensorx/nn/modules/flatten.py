"""Flatten and Unflatten."""

from __future__ import annotations

from typing import Any

from tensorx.ops.arguments import as_ints

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


class Unflatten(Module):
    """Split the dimension ``dim`` into those of ``unflattened_size``; one of them may be -1.

    TypeError for sizes that are no ints.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Unflatten(1, (2, 3))(tx.ones(4, 6)).shape
        tensorx.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError(f"Unflatten: argument 'dim' must be an int; got {dim!r}, a name")
        if not isinstance(unflattened_size, tuple | list):
            found = type(unflattened_size).__name__
            raise TypeError(f"Unflatten: argument 'unflattened_size' must be a tuple of ints; got {found}")
        as_ints("Unflatten", "unflattened_size", unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
