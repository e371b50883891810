"""A linear layer and cross entropy in one."""

from __future__ import annotations

import math
from typing import Any

from tensorx.nn import functional as F
from tensorx.nn.functional.linear_cross_entropy import LinearCrossEntropyOptions

from .linear import Linear
from .reduced import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of the logits that a linear layer of its own gives.

    Shape: input (N, in_features) or (in_features); target of class indices (N, *out_features) or (), or of
    probabilities (N, num_classes, *out_features) or (num_classes). ``options`` chooses the way by chunks of the batch,
    which keeps no logits; see :func:`tensorx.nn.functional.linear_cross_entropy`. RuntimeError for a weight of another
    shape than (num_classes), or a smoothing outside of [0, 1].

    Example:
        >>> import tensorx as tx
        >>> loss = tx.nn.LinearCrossEntropyLoss(5, 10)
        >>> loss(tx.zeros(2, 5), tx.tensor([3, 9]))
        tensor(2.3026, grad_fn=<WeightedMeanBackward0>)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias=bias, device=device, dtype=dtype)

    def forward(self, input: Any, target: Any) -> Any:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
