"""Losses of probabilities: negative log likelihoods and divergences."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.errors import DTypeError
from tensorx.ops import losses
from tensorx.ops.dispatch import call
from tensorx.warning import warn

from .loss import _reduced, _reduction


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Binary cross entropy of probabilities ``input``; logarithms stay above -100. ``weight`` broadcasts to ``target``.

    RuntimeError for an input outside of [0, 1], ValueError where the shapes differ.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.binary_cross_entropy(tx.tensor([0.25, 0.5]), tx.tensor([0.0, 1.0]))
        tensor(0.4904)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if tuple(target.shape) != tuple(input.shape):
        message = f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
        raise ValueError(message + " is deprecated. Please ensure they have the same size.")
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError(f"binary_cross_entropy: operands must be floating-point; got {input.dtype}, {target.dtype}")
    losses.check_unit("binary_cross_entropy", input)
    weight = None if weight is None else weight.expand(target.shape)
    return _reduced(call(losses.bce, (input, target, weight)), reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Binary cross entropy of ``sigmoid(input)`` without overflow; ``pos_weight`` multiplies the positive part.

    ValueError where the shapes of input and target differ.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.binary_cross_entropy_with_logits(tx.tensor([0.0, 200.0]), tx.tensor([1.0, 1.0]))
        tensor(0.3466)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if not target.dtype.is_floating_point or not input.dtype.is_floating_point:
        got = f"{input.dtype.name}, {target.dtype.name}. Hint: target.float()"
        raise DTypeError(f"binary_cross_entropy_with_logits: operands must be floating-point; got {got}")
    return _reduced(call(losses.bce_logits, (input, target, weight, pos_weight)), reduction)


def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """Kullback-Leibler divergence of ``target`` from the log-probabilities ``input``.

    ``log_target``: the target holds log-probabilities too. 'batchmean' divides the sum by the batch size, 'mean'
    by the number of elements. A target of 0 adds nothing, also where ``input`` is -inf.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.kl_div(tx.tensor([[-0.5, -1.0]]), tx.tensor([[0.5, 0.5]]), reduction="batchmean")
        tensor(0.0569)
    """
    if size_average is not None or reduce is not None or reduction != "batchmean":
        if reduction == "mean" and size_average is None and reduce is None:
            message = "reduction: 'mean' divides the total loss by both the batch size and the support size."
            message += "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            message += "'mean' will be changed to behave the same as 'batchmean' in the next major release."
            warn(message)
        reduction = _reduction(size_average, reduce, reduction)
    loss = call(losses.kl_div, (input, target, log_target))
    if reduction != "batchmean":
        return _reduced(loss, reduction)
    return loss.sum() / input.shape[0] if input.dim() else loss.sum()


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Negative log likelihood of counts ``target``, Poisson with rate ``exp(input)`` (``input`` unless ``log_input``).

    ``full`` adds Stirling's approximation for targets above 1; ``eps`` keeps the logarithm of ``input`` from 0.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.poisson_nll_loss(tx.tensor([0.0, 1.0]), tx.tensor([1.0, 2.0]))
        tensor(0.8591)
    """
    if size_average is not None or reduce is not None:
        reduction = _reduction(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return _reduced(call(losses.poisson_nll, (input, target, log_input, full, float(eps))), reduction)


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Negative log likelihood of ``target``, normal with mean ``input`` and variance ``var`` (at least ``eps``).

    ``var`` is a number or a tensor like ``input``, which may have 1 for one dimension or lack the last one.
    ``full`` adds the constant. ValueError for a negative variance or one of another shape.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.gaussian_nll_loss(tx.tensor([0.0, 1.0]), tx.tensor([1.0, 1.0]), tx.tensor([1.0, 1.0]))
        tensor(0.2500)
    """
    if not hasattr(var, "dim"):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = tx.full_like(input, var)
    elif tuple(var.shape) != tuple(input.shape):
        var = _variance_like(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if var.device.type != "meta" and bool((var.detach() < 0).any()):
        raise ValueError("var has negative entry/entries")
    return _reduced(call(losses.gaussian_nll, (input, target, var, full, float(eps))), reduction)


def _variance_like(input: Any, var: Any) -> Any:
    """``var`` so that it broadcasts to ``input``: with the last dimension added, or as it is if one dimension is 1."""
    if tuple(input.shape[:-1]) == tuple(var.shape):
        return var.unsqueeze(-1)
    differing = [n for m, n in zip(input.shape, var.shape) if m != n]
    if input.dim() != var.dim() or sum(differing) != 1:
        raise ValueError("var is of incorrect size")
    return var
