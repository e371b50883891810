"""Dropout."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F
from tensorx.ops.dropouts import check_probability

from .module import Module


class _DropoutNd(Module):
    """A probability and whether the input is overwritten."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training mode: each element is zero with probability ``p``, the others are divided by ``1 - p``.

    Shape: any; the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Dropout(0.5).eval()(tx.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training mode: a channel is zero with probability ``p``, the others are divided by ``1 - p``.

    Shape: (N, C, L) or (C, L); the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Dropout1d(0.5).eval()(tx.ones(1, 2, 2)).shape
        tensorx.Size([1, 2, 2])
    """

    def forward(self, input: Any) -> Any:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training mode: a channel is zero with probability ``p``, the others are divided by ``1 - p``.

    Shape: (N, C, H, W), or (N, C, L); the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Dropout2d(0.5).eval()(tx.ones(1, 2, 2, 2)).shape
        tensorx.Size([1, 2, 2, 2])
    """

    def forward(self, input: Any) -> Any:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training mode: a channel is zero with probability ``p``, the others are divided by ``1 - p``.

    Shape: (N, C, D, H, W) or (C, D, H, W); the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Dropout3d(0.5).eval()(tx.ones(1, 2, 1, 1, 1)).shape
        tensorx.Size([1, 2, 1, 1, 1])
    """

    def forward(self, input: Any) -> Any:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout for SELU: in training mode an element becomes its negative limit with probability ``p``.

    Shape: any; the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AlphaDropout(0.5).eval()(tx.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """Alpha dropout of whole channels.

    Shape: (N, C, ...); the output has the input's. ValueError unless 0 <= p <= 1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.FeatureAlphaDropout(0.5).eval()(tx.ones(1, 2, 2)).shape
        tensorx.Size([1, 2, 2])
    """

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
