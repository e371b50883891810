"""Functions with weights, dropout and normalisation."""

from __future__ import annotations

from typing import Any

import tensorx as tx


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
