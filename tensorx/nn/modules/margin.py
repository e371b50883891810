"""Losses with a margin, and losses of similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx.nn import functional as F

from .distance import PairwiseDistance
from .reduced import _Loss, _WeightedLoss


class HingeEmbeddingLoss(_Loss):
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.HingeEmbeddingLoss()(tx.tensor([0.5, 0.25]), tx.tensor([1.0, -1.0]))
        tensor(0.6250)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """Pulls pairs with target 1 together and those with -1 apart.

    See :func:`tensorx.nn.functional.cosine_embedding_loss`.

    Shape: (N, D) twice and (N), or (D) twice and (); gives (N) or () for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CosineEmbeddingLoss()(tx.eye(2), tx.ones(2, 2), tx.tensor([1.0, -1.0]))
        tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """``max(0, margin - target * (input1 - input2))``.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MarginRankingLoss()(tx.tensor([1.0, 2.0]), tx.tensor([0.0, 4.0]), tx.tensor([1.0, 1.0]))
        tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * x))``, with targets 1 and -1.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.SoftMarginLoss()(tx.tensor([0.0, 200.0]), tx.tensor([1.0, 1.0]))
        tensor(0.3466)
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The true class should lead all others by ``margin``; see :func:`tensorx.nn.functional.multi_margin_loss`.

    Shape: (N, C) with (N), or (C) with (); gives (N) or () for 'none', else a scalar.
    ValueError unless ``p`` is 1 or 2.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MultiMarginLoss()(tx.tensor([[0.1, 0.2, 0.4, 0.8]]), tx.tensor([3]))
        tensor(0.3250)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p, self.margin = p, margin

    def forward(self, input: Any, target: Any) -> Any:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """A sample's classes should lead all others by 1; see :func:`tensorx.nn.functional.multilabel_margin_loss`.

    Shape: (N, C) or (C) both; gives (N) or () for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MultiLabelMarginLoss()(tx.tensor([[0.1, 0.2, 0.4, 0.8]]), tx.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross entropy of logits, averaged over the classes.

    Shape: (..., C) both; gives (...) for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MultiLabelSoftMarginLoss()(tx.tensor([[0.0, 200.0]]), tx.tensor([[1.0, 1.0]]))
        tensor(0.3466)
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """The positive should be nearer to the anchor than the negative by ``margin``.

    See :func:`tensorx.nn.functional.triplet_margin_loss`.

    Shape: (N, D) or (D) each; gives (N) or () for 'none', else a scalar. ValueError unless ``margin`` is positive.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.TripletMarginLoss()(tx.zeros(1, 2), tx.ones(1, 2), tx.full((1, 2), 2.0))
        tensor(0.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """:class:`TripletMarginLoss` with another distance than the Euclidean one.

    Shape: what ``distance_function`` takes. ValueError unless ``margin`` is positive.

    Example:
        >>> import tensorx as tx
        >>> loss = tx.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(-1))
        >>> loss(tx.zeros(1, 2), tx.ones(1, 2), tx.ones(1, 2))
        tensor(1.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: margin must be greater than 0; got {margin}.")
        self.distance_function = distance_function if distance_function is not None else PairwiseDistance()
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
