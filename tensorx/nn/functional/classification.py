"""Losses of class indices and class probabilities."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops import entropy, losses
from tensorx.ops.dispatch import call

from .loss import _reduced, _reduction

WIDE = 1 << 16  # rows up to which one kernel forms the mean: it runs them as one row


def _no_index(op: str, target: Any) -> RuntimeError:
    """For a target of class indices that is of another dtype."""
    return RuntimeError(
        f"{op}: argument 'target' must be of dtype int64 where it holds class indices (expected scalar type Long); got "
        f"{target.dtype} of shape {tuple(target.shape)}. Hint: target.long()"
    )


def _class_dim(op: str, input: Any, target: Any, weight: Any) -> int:
    """The dimension of the classes. Checks that target is (), (N), (N, d1, ...) for input (C), (N, C), ..."""
    rank, dim = input.dim(), min(1, input.dim() - 1)
    if rank < 1:
        raise ValueError(f"{op}: Expected 1 or more dimensions (got {rank})")
    if rank > 1 and (not target.dim() or input.shape[0] != target.shape[0]):
        got = target.shape[0] if target.dim() else 1
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({got}).")
    wanted = (*input.shape[:dim], *input.shape[dim + 1 :])
    if tuple(target.shape) != wanted:
        raise RuntimeError(f"{op}: argument 'target' must have shape {wanted}; got {tuple(target.shape)}.")
    if target.dtype not in (tx.int64, tx.uint8):
        raise _no_index(op, target)
    if weight is not None:
        if tuple(weight.shape) != (input.shape[dim],):
            raise RuntimeError(
                f"{op}: weight tensor should be defined either for all {input.shape[dim]} classes or no "
                f"classes but got weight tensor of shape: {tuple(weight.shape)}"
            )
        if weight.dtype is not input.dtype:
            raise RuntimeError(f"{op}: expected scalar type {input.dtype} but found {weight.dtype}")
        if weight.requires_grad:
            raise NotImplementedError(f"{op}: the derivative for 'weight' is not implemented for class indices.")
    return dim


def _mean(loss: Any, scale: Any) -> Any:
    """The sum of the losses over the sum of the weights used."""
    scale = scale.detach()
    if loss.numel() > WIDE:
        return loss.sum() / scale.sum()
    return call(entropy.weighted_mean, (loss, scale))[0]


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

    Raises IndexError for a class index outside [0, C).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.nll_loss(tx.tensor([[-0.5, -1.5], [-2.0, -0.25]]), tx.tensor([0, 1]))
        tensor(0.3750)
    """
    reduction = _reduction(size_average, reduce, reduction)
    dim = _class_dim("nll_loss", input, target, weight)
    target = target.long()
    index = target.masked_fill(target == ignore_index, 0)
    losses.check_classes("nll_loss", index, input.shape[dim])
    picked = tx.gather(input, dim, index.unsqueeze(dim)).squeeze(dim)
    loss, scale = call(losses.nll, (picked, target, None if weight is None else weight[index], ignore_index))
    return _mean(loss, scale) if reduction == "mean" else _reduced(loss, reduction)


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
    smoothing = float(label_smoothing) if label_smoothing else None
    if tuple(input.shape) == tuple(target.shape):
        return _soft_cross_entropy(input, target, weight, ignore_index, reduction, smoothing)
    dim = _class_dim("cross_entropy", input, target, weight)
    along = None if weight is None else _along(weight, input, dim)
    args = (input, target.unsqueeze(dim), along, dim, smoothing, ignore_index)
    loss, scale, label = call(entropy.cross_entropy, args)
    losses.check_classes("cross_entropy", label, input.shape[dim])
    return _mean(loss, scale) if reduction == "mean" else _reduced(loss, reduction)


def _soft_cross_entropy(
    input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float | None
) -> Any:
    if not target.is_floating_point():
        raise RuntimeError(
            f"cross_entropy: Expected floating point type for target with class probabilities, got {target.dtype}. "
            "Hint: class indices have the shape of the input without its class dimension"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    dim = min(1, input.dim() - 1)
    along = None if weight is None else _along(weight, input, dim)
    return _reduced(call(entropy.soft_cross_entropy, (input, target, along, dim, smoothing)), reduction)


def _along(weight: Any, like: Any, dim: int) -> Any:
    """Class weights along ``dim``; one a class, and one value in other dimensions."""
    if tuple(weight.shape) != (like.shape[dim],):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {like.shape[dim]} classes or no classes "
            f"but got weight tensor of shape: {tuple(weight.shape)}"
        )
    return weight.view([-1 if d == dim else 1 for d in range(like.dim())])
