"""Losses."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class _Loss(Module):
    """A loss with a reduction: 'none', 'mean' or 'sum'."""

    reduction: str

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = F._reduction(size_average, reduce, reduction)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with one factor per class, kept as a buffer."""

    weight: Any

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Mean (or sum, or none) of the squared differences.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MSELoss()(tx.tensor([1.0, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(2.5000)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the true class; see :func:`tensorx.nn.functional.nll_loss`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.NLLLoss()(tx.tensor([[-0.5, -1.5], [-2.0, -0.25]]), tx.tensor([0, 1]))
        tensor(0.3750)
    """

    ignore_index: int

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits; see :func:`tensorx.nn.functional.cross_entropy`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CrossEntropyLoss()(tx.zeros(2, 4), tx.tensor([0, 3]))
        tensor(1.3863)
    """

    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
