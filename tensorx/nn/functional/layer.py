"""Functions with weights, and dropout."""

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
