"""What losses share: a reduction, and a factor per class."""

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
