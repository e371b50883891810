"""Cross entropy of the logits that a linear map gives, at wish without keeping the logits."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import tensorx as tx
from tensorx.warning import warn

from .classification import _mean, cross_entropy
from .layer import linear
from .loss import _reduced, _reduction

POLICIES = ("auto", "accurate", "balanced", "compact")


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` goes over the batch in chunks, so that the logits of one chunk exist at a time.

    Args:
        allow_retain_graph: for programs that set it; backward computes logits again and can always be repeated.
        batch_chunk_size: rows a chunk.
        chunking_method: 'aspect_ratio' makes a chunk's logits as large as the input, 'aspect_ratio:N' a N-th of that,
            'auto' is 'aspect_ratio:2', None means ``batch_chunk_size`` rows (all, where that is None).
        acc_policy, acc_dtype: for programs that set them; f16 and bf16 are always summed in f32.

    ValueError for other methods and policies, or a chunk size that is not positive.

    Example:
        >>> import tensorx as tx
        >>> options = tx.nn.LinearCrossEntropyOptions(batch_chunk_size=1, chunking_method=None)
        >>> x, weight = tx.zeros(2, 3), tx.zeros(4, 3)
        >>> tx.nn.functional.linear_cross_entropy(x, weight, tx.tensor([0, 3]), options=options)
        tensor(1.3863)
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.batch_chunk_size is not None and self.batch_chunk_size < 1:
            raise ValueError(f"batch_chunk_size must be positive; got {self.batch_chunk_size}")
        if self.chunking_method not in (None, "auto"):
            name, _, factor = str(self.chunking_method).partition(":")
            if name != "aspect_ratio" or (factor and not factor.isdigit()) or factor == "0":
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")

    def rows(self, batch: int, features: int, classes: int) -> int:
        """Rows a chunk."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        if self.chunking_method is None:
            return max(batch, 1)
        factor = 2 if self.chunking_method == "auto" else int(self.chunking_method.partition(":")[2] or 1)
        rows = math.ceil(batch / math.ceil(classes / max(features, 1))) if classes else batch
        return max(1, (1 << max(rows - 1, 0).bit_length()) // factor)


class _Chunked(tx.autograd.Function):
    """Losses of rows, without the logits: backward computes those of a chunk again."""

    @staticmethod
    def forward(
        ctx: Any, input: Any, linear_weight: Any, bias: Any, target: Any, weight: Any, ignore_index: int, rows: int
    ) -> Any:
        """Losses (N,)."""
        ctx.save_for_backward(input, linear_weight, bias, target, weight)
        ctx.ignore_index, ctx.rows = ignore_index, rows
        losses = [
            cross_entropy(linear(x, linear_weight, bias), t, weight, ignore_index=ignore_index, reduction="none")
            for x, t in zip(input.split(rows), target.split(rows))
        ]
        return tx.cat(losses)

    @staticmethod
    @tx.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        """By the input, the linear weight and bias."""
        input, linear_weight, bias, target, weight = ctx.saved_tensors
        needs = ctx.needs_input_grad[:3]
        by_input: list[Any] = []
        sums: list[Any] = [None, None]
        for x, t, part in zip(input.split(ctx.rows), target.split(ctx.rows), g.split(ctx.rows)):
            with tx.enable_grad():
                leaves = [
                    None if v is None else v.detach().requires_grad_(n) for v, n in zip((x, linear_weight, bias), needs)
                ]
                logits = linear(*leaves)
                loss = cross_entropy(logits, t, weight, ignore_index=ctx.ignore_index, reduction="none")
            wanted = [i for i, n in enumerate(needs) if n]
            for i, found in zip(wanted, tx.autograd.grad(loss, [leaves[i] for i in wanted], part)):
                if i == 0:
                    by_input.append(found)
                else:
                    sums[i - 1] = found if sums[i - 1] is None else sums[i - 1].add_(found)
        return tx.cat(by_input) if needs[0] else None, *sums, None, None, None, None


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Any:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: (N, in_features) or (in_features).
        linear_weight: (C, in_features), or (C, d1, ..., in_features) for (N, C, d1, ...) logits.
        target: class indices (N, d1, ...) or (), or probabilities of the logits' shape.
        linear_bias: (C, d1, ...).
        weight: a factor for each class, (C).
        ignore_index: this class index adds nothing (None: -100; not for probabilities).
        label_smoothing: how much of each target is spread evenly over all classes.
        options: go over the batch in chunks and keep no logits; for class indices without smoothing, and (N, C).

    RuntimeError for shapes that do not fit together, IndexError for a class index outside of [0, C).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.linear_cross_entropy(tx.zeros(2, 3), tx.zeros(4, 3), tx.tensor([0, 3]))
        tensor(1.3863)
    """
    extra = _check(input, linear_weight, linear_bias)
    classes, features = linear_weight.shape[0], input.shape[-1]
    if tuple(target.shape) == (*input.shape[:-1], classes, *extra) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        if not extra and label_smoothing == 0.0 and target.dtype is tx.int64:
            return _by_chunks(input, linear_weight, target, linear_bias, weight, reduction, ignored, options)
        message = "linear_cross_entropy: 'options' has no effect with smoothing, probabilities or extra dimensions"
        warn(message)
    flat = linear_weight.reshape(-1, features)
    logits = linear(input, flat, None if linear_bias is None else linear_bias.reshape(-1))
    if extra:
        logits = logits.view(input.shape[0], classes, *extra)
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _check(input: Any, linear_weight: Any, linear_bias: Any) -> tuple[int, ...]:
    """The extra dimensions of the loss. RuntimeError for shapes that do not fit together."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != tuple(linear_weight.shape[:-1]):
        raise RuntimeError(
            f"expected linear_bias shape {tuple(linear_weight.shape[:-1])}, got {tuple(linear_bias.shape)}"
        )
    extra = tuple(linear_weight.shape[1:-1])
    if extra and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input; "
            f"got unbatched input with shape {tuple(input.shape)}"
        )
    return extra


def _by_chunks(
    input: Any,
    linear_weight: Any,
    target: Any,
    bias: Any,
    weight: Any,
    reduction: str,
    ignore_index: int,
    options: LinearCrossEntropyOptions,
) -> Any:
    reduction = _reduction(None, None, reduction)
    batched = input.dim() == 2
    x, t = (input, target) if batched else (input.unsqueeze(0), target.unsqueeze(0))
    rows = options.rows(x.shape[0], x.shape[1], linear_weight.shape[0])
    loss = _Chunked.apply(x, linear_weight, bias, t, weight, ignore_index, rows)
    if reduction == "mean":
        valid = t != ignore_index
        ones = tx.ones((), dtype=loss.dtype, device=loss.device)
        scale = (ones if weight is None else weight[t.masked_fill(~valid, 0)]).expand(t.shape).masked_fill(~valid, 0)
        return _mean(loss, scale)
    return _reduced(loss if batched else loss.squeeze(0), reduction)
