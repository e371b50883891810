"""Losses with a margin, and losses of similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorx as tx
from tensorx.ops import losses
from tensorx.ops.dispatch import call

from .distance import pairwise_distance
from .loss import _floats, _reduced, _reduction


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """``input`` where ``target`` is 1, ``max(0, margin - input)`` where it is -1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hinge_embedding_loss(tx.tensor([0.5, 0.25]), tx.tensor([1.0, -1.0]))
        tensor(0.6250)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _reduced(call(losses.hinge_embedding, (input, target, float(margin))), reduction)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """One minus the cosine similarity where ``target`` is 1, the similarity above ``margin`` where it is -1.

    Args:
        input1, input2: (N, D) or (D).
        target: (N) or (); of 1 and -1.

    RuntimeError for other shapes.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.cosine_embedding_loss(tx.eye(2), tx.ones(2, 2), tx.tensor([1.0, -1.0]))
        tensor(0.5000)
    """
    reduction = _reduction(size_average, reduce, reduction)
    rank = target.dim()
    if rank > 1:
        raise RuntimeError(
            f"cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported; got {rank}D"
        )
    if rank + 1 != input1.dim() or input1.dim() != input2.dim():
        raise RuntimeError(
            f"cosine_embedding_loss: {rank}D target tensor expects {rank + 1}D input tensors, but found inputs "
            f"with sizes {tuple(input1.shape)} and {tuple(input2.shape)}."
        )
    similarity = _embedded_cosine(input1, input2)
    far = tx.where(target == -1, (similarity - margin).clamp(min=0), 0.0)
    return _reduced(tx.where(target == 1, 1 - similarity, far), reduction)


def _embedded_cosine(a: Any, b: Any) -> Any:
    """The cosine over the last dimension, with squared norms raised by a little, as this loss has them in PyTorch."""
    eps = 1e-12
    scale = ((a * a).sum(-1) + eps) * ((b * b).sum(-1) + eps)
    return (a * b).sum(-1) / scale.sqrt()


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """``max(0, margin - target * (input1 - input2))``: ``target`` is 1 where the first should rank higher, else -1.

    RuntimeError where the ranks of the operands differ.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.margin_ranking_loss(tx.tensor([1.0, 2.0]), tx.tensor([0.0, 4.0]), tx.tensor([1.0, 1.0]))
        tensor(1.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        sizes = f"{tuple(input1.shape)}, input2: {tuple(input2.shape)}, target: {tuple(target.shape)}"
        message = "margin_ranking_loss: all input tensors should have same dimension but got sizes: input1: "
        raise RuntimeError(message + sizes)
    if not (_floats(input1, input2) or target.dtype.is_floating_point):
        return _reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)
    return _reduced(call(losses.margin_ranking, (input1, input2, target, float(margin))), reduction)


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """``log(1 + exp(-target * input))``, with targets 1 and -1.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.soft_margin_loss(tx.tensor([0.0, 200.0]), tx.tensor([1.0, 1.0]))
        tensor(0.3466)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if tuple(target.shape) != tuple(input.shape):
        target = target.expand(input.shape)
    return _reduced(call(losses.soft_margin, (input, target)), reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over the other classes of ``max(0, margin - input[target] + input[class]) ** p``.

    Args:
        input: (N, C) or (C).
        target: class indices, (N) or ().
        p: 1 or 2.
        weight: a factor for each class, (C).

    ValueError for another ``p`` or a weight that is no vector; IndexError for a class outside of [0, C).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.multi_margin_loss(tx.tensor([[0.1, 0.2, 0.4, 0.8]]), tx.tensor([3]))
        tensor(0.3250)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if input.dim() > 2 or (input.dim() and not input.shape[-1]):
        raise RuntimeError(f"multi_margin_loss: Expected non-empty vector or matrix; got shape {tuple(input.shape)}.")
    rows = input if input.dim() == 2 else input.reshape(1, -1)
    if target.dim() > 1 or target.numel() != rows.shape[0]:
        raise RuntimeError(f"multi_margin_loss: inconsistent target size; got {tuple(target.shape)}.")
    if weight is not None and weight.numel() != rows.shape[1]:
        raise RuntimeError(f"multi_margin_loss: inconsistent weight size; got {tuple(weight.shape)}.")
    label = target.reshape(-1, 1)
    losses.check_classes("multi_margin_loss", label, rows.shape[1])
    classes = tx.arange(rows.shape[1], device=input.device)
    term = rows - rows.gather(1, label) + margin
    term = term.clamp(min=0) if p == 1 else term.clamp(min=0).square()
    term = tx.where(classes == label, 0.0, term)
    loss = (term if weight is None else term * weight[label]).mean(1)
    return _reduced(loss if target.dim() else loss.squeeze(0), reduction)


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The sum of ``max(0, 1 - input[class] + input[other])`` over a sample's classes and all others, over C.

    ``target`` lists each sample's classes in the shape of ``input``, (N, C) or (C); the first -1 ends the list.
    RuntimeError where the shapes differ.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.multilabel_margin_loss(tx.tensor([[0.1, 0.2, 0.4, 0.8]]), tx.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if input.dim() > 2 or tuple(input.shape) != tuple(target.shape) or (input.dim() and not input.shape[-1]):
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size {tuple(target.shape)} for input of shape "
            f"{tuple(input.shape)}."
        )
    rows, listed = (t if t.dim() == 2 else t.reshape(1, -1) for t in (input, target))
    used = (listed < 0).cumsum(1) == 0
    label = listed.masked_fill(~used, 0)
    losses.check_classes("multilabel_margin_loss", label, rows.shape[1])
    known = tx.zeros_like(rows).scatter_add(1, label, used.to(rows.dtype)) != 0
    gaps = (1 - rows.gather(1, label).unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    loss = gaps.masked_fill(~(used.unsqueeze(2) & ~known.unsqueeze(1)), 0).sum((1, 2)) / rows.shape[1]
    return _reduced(loss if input.dim() == 2 else loss.squeeze(0), reduction)


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over the classes of the binary cross entropy of logits ``input`` with targets 0 and 1.

    Shape: (..., C) both; ``weight`` broadcasts to them.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.multilabel_soft_margin_loss(tx.tensor([[0.0, 200.0]]), tx.tensor([[1.0, 1.0]]))
        tensor(0.3466)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _reduced(call(losses.bce_logits, (input, target, weight, None)).mean(-1), reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance over the last dimension.

    ``swap`` takes the positive's distance from the negative where that is smaller. RuntimeError where the ranks differ,
    or for a margin that is not positive.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.triplet_margin_loss(tx.zeros(1, 2), tx.ones(1, 2), tx.full((1, 2), 2.0))
        tensor(0.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "triplet_margin_loss: The anchor, positive, and negative tensors are expected to have the same number "
            f"of dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, negative {negative.dim()}D"
        )

    def distance(a: Any, b: Any) -> Any:
        return pairwise_distance(a, b, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """:func:`triplet_margin_loss` with another distance than the Euclidean one.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.triplet_margin_with_distance_loss(
        ...     tx.zeros(1, 2), tx.ones(1, 2), tx.ones(1, 2), distance_function=lambda a, b: (a - b).abs().amax(-1)
        ... )
        tensor(1.)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    return _triplet(anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction)


def _triplet(
    anchor: Any,
    positive: Any,
    negative: Any,
    distance: Callable[[Any, Any], Any],
    margin: float,
    swap: bool,
    reduction: str,
) -> Any:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tx.minimum(far, distance(positive, negative))
    return _reduced((near - far + margin).clamp(min=0), reduction)
