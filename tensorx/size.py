"""Shapes and strides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class Size(tuple[int, ...]):
    """A shape: a tuple of ints with ``numel``.

    >>> import tensorx
    >>> tensorx.zeros(2, 3).shape, tensorx.Size((2, 3)).numel()
    (tensorx.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"tensorx.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, i: Any) -> Any:
        item = tuple.__getitem__(self, i)
        return Size(item) if isinstance(i, slice) else item

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements; a zero extent counts as one, as in PyTorch."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements lie in row-major order without gaps (extents of one do not matter)."""
    step = 1
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n == 0:
            return True
        if n != 1 and s != step:
            return False
        step *= n
    return True


def normalize_dim(dim: int, ndim: int, op: str = "dim") -> int:
    """``dim`` counted from the front; a zero-dim tensor counts as one-dim. IndexError, in PyTorch's words, when out of
    range."""
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"{op}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim + n if dim < 0 else dim
