"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops import ctc

from .loss import _reduction


def _lengths(given: Any, name: str, count: int, most: int | None) -> list[int]:
    """Lengths as numbers, one a sample."""
    found = [int(n) for n in (given.reshape(-1).tolist() if hasattr(given, "tolist") else given)]
    if len(found) != count:
        raise RuntimeError(f"ctc_loss: argument '{name}' must have one entry a sample ({count}); got {len(found)}.")
    for n in found:
        if n < 0 or (most is not None and n > most):
            raise RuntimeError(
                f"ctc_loss: Expected {name} to have value at most {most} and at least 0, but got value {n} (while "
                "checking arguments for ctc_loss)"
            )
    return found


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The negative log likelihood of label sequences under all their alignments to longer inputs.

    Args:
        log_probs: log-probabilities (T, N, C) or (T, C); the gradient takes them for the output of ``log_softmax``.
        targets: labels (N, S) or (S), padded; or those of all samples one after the other.
        input_lengths: a length, at most T, for each sample: a tensor or a tuple.
        target_lengths: the count of labels of each sample.
        blank: the class that stands for no label.
        reduction: 'none'; 'sum'; or 'mean', of the losses over their target lengths.
        zero_infinity: a sample whose labels do not fit into its length has loss and gradient 0, instead of inf and NaN.

    RuntimeError for lengths, labels and shapes that do not fit together.

    Example:
        >>> import tensorx as tx
        >>> log_probs = tx.full((4, 1, 3), 1 / 3).log()
        >>> tx.nn.functional.ctc_loss(log_probs, tx.tensor([[1, 2]]), (4,), (2,), reduction="sum")
        tensor(1.6864)
    """
    reduction = _reduction(None, None, reduction)
    batched = log_probs.dim() == 3
    if log_probs.dim() not in (2, 3):
        raise RuntimeError(f"ctc_loss: argument 'log_probs' must have 2 or 3 dimensions; got {log_probs.dim()}.")
    if not log_probs.dtype.is_floating_point:
        raise RuntimeError(f"ctc_loss: argument 'log_probs' must be floating-point; got {log_probs.dtype}.")
    logp = log_probs if batched else log_probs.unsqueeze(1)
    steps, count, classes = logp.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank must be in label range; got {blank} for {classes} classes.")
    times = _lengths(input_lengths, "input_lengths", count, steps)
    counts = _lengths(target_lengths, "target_lengths", count, None if targets.dim() == 1 else targets.shape[-1])
    if targets.dim() not in (1, 2) or (targets.dim() == 2 and targets.shape[0] != count):
        raise RuntimeError(f"ctc_loss: argument 'targets' must be (N, S) or a vector; got {tuple(targets.shape)}.")
    if targets.dim() == 1 and (sum(counts) > targets.numel() if not batched else sum(counts) != targets.numel()):
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size {sum(counts)} at dimension 0, but got size {targets.numel()} for "
            "argument #2 'targets'"
        )
    if targets.device is not logp.device:
        targets = targets.to(logp.device)
    states = ctc.problem(targets, times, counts, blank, logp)
    loss = ctc.CTC.apply(logp, states, zero_infinity)
    if reduction == "none":
        return loss if batched else loss.squeeze(0)
    if reduction == "sum":
        return loss.sum()
    return (loss / tx.tensor(counts, dtype=loss.dtype, device=loss.device).clamp(min=1)).mean()
