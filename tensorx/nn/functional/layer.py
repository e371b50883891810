"""Linear and bilinear maps."""

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


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """``input1 @ weight[k] @ input2 + bias[k]`` for every k.

    Args:
        input1: (..., in1).
        input2: (..., in2), with the same leading dimensions.
        weight: (out, in1, in2).
        bias: (out).

    RuntimeError where the sizes do not fit.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.bilinear(tx.ones(1, 2), tx.ones(1, 3), tx.ones(4, 2, 3))
        tensor([[6., 6., 6., 6.]])
    """
    if input1.dim() != input2.dim() or tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {tuple(input1.shape)} and {tuple(input2.shape)}"
        )
    if weight.dim() != 3 or (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise RuntimeError(
            f"bilinear(): input sizes do not match weight size: got {input1.shape[-1]} and {input2.shape[-1]} for "
            f"weight of shape {tuple(weight.shape)}"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {tuple(bias.shape)}")
    out, in1, in2 = weight.shape
    first, second = input1.reshape(-1, in1), input2.reshape(-1, in2, 1)
    half = (first @ weight.permute(1, 0, 2).reshape(in1, out * in2)).view(-1, out, in2)
    result = (half @ second).view(*input1.shape[:-1], out)
    return result if bias is None else result + bias
