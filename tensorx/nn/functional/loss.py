"""Reductions, and losses between two tensors of one shape."""

from __future__ import annotations

from typing import Any

from tensorx.ops import losses
from tensorx.ops.dispatch import call
from tensorx.warning import warn


def _reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction's name, with PyTorch's old flags taken into account."""
    if size_average is not None or reduce is not None:
        mean, any_ = size_average is not False, reduce is not False
        reduction = ("mean" if mean else "sum") if any_ else "none"
        message = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
        warn(message)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _reduced(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _warn_of_broadcasting(input: Any, target: Any) -> None:
    if tuple(target.shape) != tuple(input.shape):
        message = (
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )
        warn(message)


def _weighted(loss: Any, input: Any, weight: Any, reduction: str) -> Any:
    """The reduction of a loss whose elements have weights: 'mean' divides by the weights' sum."""
    if weight is None:
        return _reduced(loss, reduction)
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else _reduced(loss, reduction)


def _floats(input: Any, target: Any) -> bool:
    """Whether the rows of losses take these operands; those of integers are composed of general ops."""
    return input.dtype.is_floating_point or target.dtype.is_floating_point


def l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Absolute difference; ``weight`` multiplies each element, and 'mean' then divides by the weights' sum.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.l1_loss(tx.tensor([1.0, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(1.5000)
    """
    _warn_of_broadcasting(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    loss = (
        call(losses.l1, (input, target)) if _floats(input, target) or input.dtype.is_complex else (input - target).abs()
    )
    return _weighted(loss, input, weight, reduction)


def mse_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Squared difference; ``weight`` multiplies each element, and 'mean' then divides by the weights' sum.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.mse_loss(tx.tensor([1.0, 3.0]), tx.tensor([0.0, 1.0]))
        tensor(2.5000)
    """
    _warn_of_broadcasting(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    return _weighted(call(losses.mse, (input, target)), input, weight, reduction)


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Half the squared difference over ``beta``; absolute difference minus ``beta / 2`` where that is above ``beta``.

    RuntimeError for a negative ``beta``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.smooth_l1_loss(tx.tensor([0.5, 3.0]), tx.tensor([0.0, 1.0]), reduction="none")
        tensor([0.1250, 1.5000])
    """
    _warn_of_broadcasting(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _reduced(call(losses.smooth_l1, (input, target, float(beta))), reduction)


def huber_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Any = None,
) -> Any:
    """Half the squared difference; ``delta * (abs(difference) - delta / 2)`` where that is above ``delta``.

    ``weight`` multiplies each element. RuntimeError unless ``delta`` is positive.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.huber_loss(tx.tensor([0.5, 4.0]), tx.tensor([0.0, 1.0]), reduction="none", delta=2.0)
        tensor([0.1250, 4.0000])
    """
    _warn_of_broadcasting(input, target)
    reduction = _reduction(None, None, reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    loss = call(losses.huber, (input, target, float(delta)))
    if weight is None:
        return _reduced(loss, reduction)
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    return _reduced(loss * weight, reduction)
