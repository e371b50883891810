"""Losses."""

from __future__ import annotations

import warnings
from typing import Any

import tensorx as tx


def _reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction's name, with PyTorch's old flags taken into account."""
    if size_average is not None or reduce is not None:
        mean, any_ = size_average is not False, reduce is not False
        reduction = ("mean" if mean else "sum") if any_ else "none"
        message = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
        warnings.warn(message, stacklevel=3)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _reduced(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _pick(logp: Any, target: Any, weight: Any, ignore_index: int, classes: int) -> tuple[Any, Any, Any]:
    """(loss, weight, valid) an element, without reduction, for class indices ``target``.

    Ignored elements are selected away, not multiplied by zero, so that an infinite log-probability there cannot become
    NaN.
    """
    wanted = logp.shape[:classes] + logp.shape[classes + 1 :]
    if tuple(target.shape) != tuple(wanted):
        if classes < logp.dim() and logp.dim() > 1 and logp.shape[0] != target.shape[0]:
            raise ValueError(
                f"Expected input batch_size ({logp.shape[0]}) to match target batch_size ({target.shape[0]})."
            )
        raise tx.errors.ShapeError(
            f"nll_loss: argument 'target' must have shape {tuple(wanted)}; got {tuple(target.shape)}."
        )
    valid = target != ignore_index
    index = tx.where(valid, target, 0)
    loss = -tx.gather(logp, classes, index.unsqueeze(classes)).squeeze(classes)
    if weight is None:
        return tx.where(valid, loss, 0.0), None, valid
    scale = tx.where(valid, weight[index], 0.0)
    return tx.where(valid, loss * scale, 0.0), scale, valid


def _weighted_mean(loss: Any, scale: Any, valid: Any) -> Any:
    return loss.sum() / (valid.sum().to(loss.dtype) if scale is None else scale.sum())


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Negative log likelihood: minus the log-probability of the true class.

    Args:
        input: log-probabilities of shape (C), (N, C) or (N, C, d1, ...).
        target: class indices of shape (), (N) or (N, d1, ...).
        weight: a factor for each class, shape (C); 'mean' divides by the sum of the factors used.
        ignore_index: this target value adds nothing.
        reduction: 'none', 'mean' or 'sum'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.nll_loss(tx.tensor([[-0.5, -1.5], [-2.0, -0.25]]), tx.tensor([0, 1]))
        tensor(0.3750)
    """
    reduction = _reduction(size_average, reduce, reduction)
    loss, scale, valid = _pick(input, target, weight, ignore_index, min(1, input.dim() - 1))
    return _weighted_mean(loss, scale, valid) if reduction == "mean" else _reduced(loss, reduction)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Cross entropy between logits and class indices, or class probabilities of the logits' shape.

    Args:
        input: logits of shape (C), (N, C) or (N, C, d1, ...).
        target: class indices of shape (), (N) or (N, d1, ...), or floating point probabilities shaped like ``input``.
        weight: a factor for each class, shape (C).
        ignore_index: this class index adds nothing (not for probabilities).
        reduction: 'none', 'mean' (over the weights used; over the batch for probabilities) or 'sum'.
        label_smoothing: how much of each target is spread evenly over all classes, in [0, 1].

    Raises IndexError for a class index outside [0, C).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.cross_entropy(tx.zeros(2, 4), tx.tensor([0, 3]))
        tensor(1.3863)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 0 if input.dim() == 1 else 1
    logp = tx.log_softmax(input, dim)
    if tuple(input.shape) == tuple(target.shape):
        return _soft_cross_entropy(logp, target, weight, ignore_index, reduction, label_smoothing, dim)
    if target.is_floating_point():
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities of shape {tuple(input.shape)}; "
            f"got shape {tuple(target.shape)}."
        )
    loss, scale, valid = _pick(logp, target, weight, ignore_index, dim)
    if label_smoothing == 0:
        return _weighted_mean(loss, scale, valid) if reduction == "mean" else _reduced(loss, reduction)
    spread = -(logp if weight is None else logp * _along(weight, logp, dim)).sum(dim)
    spread = tx.where(valid, spread, 0.0)
    loss = (1 - label_smoothing) * loss + label_smoothing / input.shape[dim] * spread
    return _weighted_mean(loss, scale, valid) if reduction == "mean" else _reduced(loss, reduction)


def _soft_cross_entropy(
    logp: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float, dim: int
) -> Any:
    if not target.is_floating_point():
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype}")
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / logp.shape[dim]
    loss = logp * target
    if weight is not None:
        loss = loss * _along(weight, logp, dim)
    if reduction == "none":
        return -loss.sum(dim)
    total = -loss.sum()
    return total / (logp.numel() / logp.shape[dim]) if reduction == "mean" else total


def _along(weight: Any, like: Any, dim: int) -> Any:
    return weight.view([-1 if d == dim else 1 for d in range(like.dim())])


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
    if tuple(target.shape) != tuple(input.shape):
        message = (
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )
        warnings.warn(message, stacklevel=2)
    reduction = _reduction(size_average, reduce, reduction)
    difference = input - target
    loss = difference * difference
    if weight is None:
        return _reduced(loss, reduction)
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else _reduced(loss, reduction)
