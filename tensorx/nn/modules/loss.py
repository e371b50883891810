"""Losses."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .linear_cross_entropy import LinearCrossEntropyLoss  # noqa: F401  PyTorch has it in this file
from .margin import (  # noqa: F401  PyTorch has them in this file
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from .reduced import _Loss, _WeightedLoss


class MSELoss(_Loss):
    """Mean (or sum, or none) of the squared differences.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MSELoss()(tx.tensor([1.0, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(2.5000)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Mean (or sum, or none) of the absolute differences.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.L1Loss()(tx.tensor([1.0, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(1.5000)
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared below ``beta``, absolute above; see :func:`tensorx.nn.functional.smooth_l1_loss`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.SmoothL1Loss()(tx.tensor([0.5, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(0.8125)
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squared below ``delta``, absolute above; see :func:`tensorx.nn.functional.huber_loss`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.HuberLoss(delta=2.0)(tx.tensor([0.5, 4.0]), tx.tensor([0.0, 1.0]))
        tensor(2.0625)
    """

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
    ) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


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


class NLLLoss2d(NLLLoss):
    """The older name of :class:`NLLLoss` for images.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.NLLLoss2d()(tx.full((1, 2, 1, 1), -0.5), tx.zeros(1, 1, 1, dtype=tx.int64))
        tensor(0.5000)
    """


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


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities; see :func:`tensorx.nn.functional.binary_cross_entropy`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.BCELoss()(tx.tensor([0.25, 0.5]), tx.tensor([0.0, 1.0]))
        tensor(0.4904)
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
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits; see :func:`tensorx.nn.functional.binary_cross_entropy_with_logits`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.BCEWithLogitsLoss()(tx.tensor([0.0, 200.0]), tx.tensor([1.0, 1.0]))
        tensor(0.3466)
    """

    weight: Any
    pos_weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities from a target; see :func:`tensorx.nn.functional.kl_div`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.KLDivLoss(reduction="batchmean")(tx.tensor([[-0.5, -1.0]]), tx.tensor([[0.5, 0.5]]))
        tensor(0.0569)
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of Poisson counts; see :func:`tensorx.nn.functional.poisson_nll_loss`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.PoissonNLLLoss()(tx.tensor([0.0, 1.0]), tx.tensor([1.0, 2.0]))
        tensor(0.8591)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-8,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Any, target: Any) -> Any:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of normal numbers; see :func:`tensorx.nn.functional.gaussian_nll_loss`.

    Shape: the operands' common one for 'none', else a scalar.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.GaussianNLLLoss()(tx.tensor([0.0, 1.0]), tx.tensor([1.0, 1.0]), tx.tensor([1.0, 1.0]))
        tensor(0.2500)
    """

    def __init__(
        self,
        *,
        full: bool = False,
        eps: float = 1e-6,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CTCLoss(_Loss):
    """The negative log likelihood of label sequences under all their alignments to longer inputs.

    Shape: log-probabilities (T, N, C) or (T, C), targets (N, S) or one after the other, two lengths a sample; gives (N)
    or () for 'none', else a scalar. See :func:`tensorx.nn.functional.ctc_loss`.

    Example:
        >>> import tensorx as tx
        >>> log_probs = tx.full((4, 1, 3), 1 / 3).log()
        >>> tx.nn.CTCLoss(reduction="sum")(log_probs, tx.tensor([[1, 2]]), (4,), (2,))
        tensor(1.6864)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
