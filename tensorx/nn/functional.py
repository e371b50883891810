"""Functions behind the layers: PyTorch's signatures, composed from the ops of the table."""

from __future__ import annotations

import warnings
from typing import Any

import tensorx as tx

# Activations ----------------------------------------------------------------------------------------------------------


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``; NaN stays NaN.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.relu(tx.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else tx.relu(input)


def relu_(input: Any) -> Any:
    """:func:`relu` in place.

    Example:
        >>> import tensorx as tx
        >>> x = tx.tensor([-1.0, 2.0])
        >>> tx.nn.functional.relu_(x)
        tensor([0., 2.])
    """
    return input.relu_()


def tanh(input: Any) -> Any:
    """Hyperbolic tangent.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.tanh(tx.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return tx.tanh(input)


def sigmoid(input: Any) -> Any:
    """``1 / (1 + exp(-input))``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.sigmoid(tx.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return tx.sigmoid(input)


def gelu(input: Any, approximate: str = "none") -> Any:
    """``input * Phi(input)``; ``approximate`` is 'none' or 'tanh'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.gelu(tx.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.1587,  0.0000,  1.9545])
    """
    return tx.gelu(input, approximate=approximate)


def silu(input: Any, inplace: bool = False) -> Any:
    """``input * sigmoid(input)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.silu(tx.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """
    return input.silu_() if inplace else tx.silu(input)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``exp(input) / sum(exp(input))`` along ``dim``; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softmax(tx.tensor([[0.0, 0.0], [0.0, 1.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])
    """
    dim = _implicit_dim("softmax", input.dim(), _stacklevel) if dim is None else dim
    return tx.softmax(input, dim) if dtype is None else tx.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``log(softmax(input, dim))`` without overflow; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.log_softmax(tx.tensor([0.0, 1.0]), dim=0)
        tensor([-1.3133, -0.3133])
    """
    dim = _implicit_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return tx.log_softmax(input, dim) if dtype is None else tx.log_softmax(input, dim, dtype=dtype)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    message = f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
    warnings.warn(message + "argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1


# Layers ---------------------------------------------------------------------------------------------------------------


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``; input (..., in), weight (out, in) or (in,), bias (out).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.linear(tx.ones(1, 2), tx.tensor([[1.0, 2.0], [3.0, 4.0]]), tx.tensor([0.5, -0.5]))
        tensor([[3.5000, 6.5000]])
    """
    if weight.dim() == 2 and input.dim() == 2 and bias is not None:
        return tx.addmm(bias, input, weight.t())
    out = tx.matmul(input, weight.t() if weight.dim() == 2 else weight)
    return out if bias is None else out + bias


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """With ``training``: each element becomes zero with probability ``p``, the others are divided by ``1 - p``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.dropout(tx.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return tx.dropout(input, p, training, inplace=inplace)


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of ``weight`` (rows, dim) chosen by the integers ``input``; the result has shape (*input.shape, dim).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.embedding(tx.tensor([2, 0]), tx.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        tensor([[5., 6.],
                [1., 2.]])
    """
    if sparse:
        raise NotImplementedError("embedding: argument 'sparse' must be False; there are no sparse gradients yet.")
    row = _padding_row(padding_idx, weight.size(0))
    if max_norm is not None:
        with tx.no_grad():
            _renorm_rows(weight, input, max_norm, norm_type)
    return tx.embedding(weight, input, -1 if row is None else row, scale_grad_by_freq, False)


def _padding_row(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _renorm_rows(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    """Shrink the rows that ``input`` names to ``max_norm``, in place. A row named twice is written twice with the
    same value.
    """
    rows = input.reshape(-1)
    found = weight[rows]
    norm = found.abs().pow(norm_type).sum(1, keepdim=True).pow(1 / norm_type)
    weight[rows] = tx.where(norm > max_norm, found * (max_norm / (norm + 1e-7)), found)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalise the last dimensions (of sizes ``normalized_shape``) to mean 0 and variance 1, then scale and shift.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.layer_norm(tx.tensor([[1.0, 2.0, 4.0]]), (3,))
        tensor([[-1.0690, -0.2673,  1.3363]])
    """
    return tx.layer_norm(input, normalized_shape, weight, bias, eps)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlate (N, C, H, W) or (C, H, W) with weight (out, C / groups, kh, kw).

    ``padding`` is a number, one for each dimension, 'valid' (none) or 'same' (as large an output as the input).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.conv2d(tx.ones(1, 1, 3, 3), tx.ones(1, 1, 2, 2), padding="same")
        tensor([[[[4., 4., 2.],
                  [4., 4., 2.],
                  [2., 2., 1.]]]])
    """
    return _convolve(tx.conv2d, 2, input, weight, bias, stride, padding, dilation, groups)


def _convolve(
    op: Any, ndim: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """``op`` with 'same' and 'valid' spelled out."""
    if not isinstance(padding, str):
        return op(input, weight, bias, stride, padding, dilation, groups)
    if padding == "valid":
        return op(input, weight, bias, stride, 0, dilation, groups)
    strides, dilations = (tuple(v) if isinstance(v, (tuple, list)) else (v,) * ndim for v in (stride, dilation))
    if padding != "same":
        raise RuntimeError(f"conv{ndim}d: argument 'padding' must be a number, 'same' or 'valid'; got '{padding}'.")
    if any(s != 1 for s in strides):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:])]
    out = op(input, weight, bias, 1, [total - total // 2 for total in totals], dilation, groups)
    for dim, total in enumerate(totals, start=-ndim):
        if total % 2:  # an odd total pads one more behind than before: padded alike, the first output is one too many
            out = out.narrow(dim, 1, out.size(dim) - 1)
    return out


# Losses ---------------------------------------------------------------------------------------------------------------


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
