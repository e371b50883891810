"""Padding layers (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


def _amounts(padding: Any, rank: int) -> tuple[int, ...]:
    return tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * rank)


class _PadNd(Module):
    """What the padding layers share. ``padding`` is one number or (before, after) of each dimension, the last first."""

    rank: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _amounts(padding, self.rank)

    def forward(self, input: Any) -> Any:
        if self.mode == "circular" and input.dim() not in (self.rank + 1, self.rank + 2):
            raise ValueError(f"expected {self.rank + 1}D or {self.rank + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, mode=self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(Module):
    """What the layers share that pad with a constant."""

    rank: int

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__()
        self.padding, self.value = _amounts(padding, self.rank), value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class CircularPad1d(_PadNd):
    """(N, C, W) or (C, W) wrapped around: each end goes on with the other one.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CircularPad1d(2)(tx.arange(3.0).reshape(1, 3)).flatten().tolist()
        [1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]
    """

    rank, mode = 1, "circular"


class CircularPad2d(_PadNd):
    """(N, C, H, W) or (C, H, W) wrapped around: each end goes on with the other one.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CircularPad2d((1, 1, 0, 0))(tx.arange(6.0).reshape(1, 2, 3)).flatten().tolist()
        [2.0, 0.0, 1.0, 2.0, 0.0, 5.0, 3.0, 4.0, 5.0, 3.0]
    """

    rank, mode = 2, "circular"


class CircularPad3d(_PadNd):
    """(N, C, D, H, W) or (C, D, H, W) wrapped around: each end goes on with the other one.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CircularPad3d((1, 1, 0, 0, 0, 0))(tx.arange(3.0).reshape(1, 1, 1, 3)).flatten().tolist()
        [2.0, 0.0, 1.0, 2.0, 0.0]
    """

    rank, mode = 3, "circular"


class ReflectionPad1d(_PadNd):
    """(N, C, W) or (C, W) padded with its mirror image around the border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReflectionPad1d(2)(tx.arange(3.0).reshape(1, 3)).flatten().tolist()
        [2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0]
    """

    rank, mode = 1, "reflect"


class ReflectionPad2d(_PadNd):
    """(N, C, H, W) or (C, H, W) padded with its mirror image around the border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReflectionPad2d((1, 1, 0, 0))(tx.arange(6.0).reshape(1, 2, 3)).flatten().tolist()
        [1.0, 0.0, 1.0, 2.0, 1.0, 4.0, 3.0, 4.0, 5.0, 4.0]
    """

    rank, mode = 2, "reflect"


class ReflectionPad3d(_PadNd):
    """(N, C, D, H, W) or (C, D, H, W) padded with its mirror image around the border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReflectionPad3d((1, 1, 0, 0, 0, 0))(tx.arange(3.0).reshape(1, 1, 1, 3)).flatten().tolist()
        [1.0, 0.0, 1.0, 2.0, 1.0]
    """

    rank, mode = 3, "reflect"


class ReplicationPad1d(_PadNd):
    """(N, C, W) or (C, W) padded with its border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReplicationPad1d(2)(tx.arange(3.0).reshape(1, 3)).flatten().tolist()
        [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0]
    """

    rank, mode = 1, "replicate"


class ReplicationPad2d(_PadNd):
    """(N, C, H, W) or (C, H, W) padded with its border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReplicationPad2d((1, 1, 0, 0))(tx.arange(6.0).reshape(1, 2, 3)).flatten().tolist()
        [0.0, 0.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0]
    """

    rank, mode = 2, "replicate"


class ReplicationPad3d(_PadNd):
    """(N, C, D, H, W) or (C, D, H, W) padded with its border elements.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where it exceeds the
    input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReplicationPad3d((1, 1, 0, 0, 0, 0))(tx.arange(3.0).reshape(1, 1, 1, 3)).flatten().tolist()
        [0.0, 0.0, 1.0, 2.0, 2.0]
    """

    rank, mode = 3, "replicate"


class ConstantPad1d(_ConstantPadNd):
    """(N, C, W) or (C, W) padded with ``value``; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConstantPad1d((1, 0), 3.5)(tx.zeros(1, 2)).flatten().tolist()
        [3.5, 0.0, 0.0]
    """

    rank = 1


class ConstantPad2d(_ConstantPadNd):
    """(N, C, H, W) or (C, H, W) padded with ``value``; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConstantPad2d((1, 0, 0, 0), 3.5)(tx.zeros(1, 1, 2)).flatten().tolist()
        [3.5, 0.0, 0.0]
    """

    rank = 2


class ConstantPad3d(_ConstantPadNd):
    """(N, C, D, H, W) or (C, D, H, W) padded with ``value``; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConstantPad3d((1, 0, 0, 0, 0, 0), 3.5)(tx.zeros(1, 1, 1, 2)).flatten().tolist()
        [3.5, 0.0, 0.0]
    """

    rank = 3


class ZeroPad1d(ConstantPad1d):
    """(N, C, W) or (C, W) padded with zeros; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ZeroPad1d((1, 0))(tx.ones(1, 2)).flatten().tolist()
        [0.0, 1.0, 1.0]
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """(N, C, H, W) or (C, H, W) padded with zeros; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ZeroPad2d((1, 0, 0, 0))(tx.ones(1, 1, 2)).flatten().tolist()
        [0.0, 1.0, 1.0]
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """(N, C, D, H, W) or (C, D, H, W) padded with zeros; negative amounts crop.

    ``padding`` is one number, or (before, after) of each dimension, the last first. RuntimeError where nothing is left.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ZeroPad3d((1, 0, 0, 0, 0, 0))(tx.ones(1, 1, 1, 2)).flatten().tolist()
        [0.0, 1.0, 1.0]
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
