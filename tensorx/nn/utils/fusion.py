"""Folding batch normalisation in evaluation mode into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

from tensorx.nn.parameter import Parameter


def _factors(weight: Any, mean: Any, var: Any, eps: float, gain: Any, shift: Any) -> tuple[Any, Any]:
    """(scale, offset) by channel, so that normalising y is ``y * scale + offset``."""
    scale = (var + eps).rsqrt()
    scale = scale if gain is None else scale * gain
    offset = -mean * scale
    return scale.to(weight.dtype), (offset if shift is None else offset + shift).to(weight.dtype)


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the convolution that does both: running mean and variance, gain and shift folded in.

    Example:
        >>> import tensorx as tx
        >>> one = tx.ones(1)
        >>> w, b = tx.nn.utils.fuse_conv_bn_weights(tx.ones(1, 1, 1), one, one, one * 4, 0.0, one, one)
        >>> w.item(), b.item()
        (0.5, 1.0)
    """
    scale, offset = _factors(conv_w, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    bias = offset if conv_b is None else conv_b * scale + offset
    weight = Parameter((conv_w * scale.reshape(shape)).detach(), conv_w.requires_grad)
    return weight, Parameter(bias.detach(), conv_b is not None and conv_b.requires_grad)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of ``conv`` that also does what ``bn``, in evaluation mode, does after it.

    Example:
        >>> import tensorx as tx
        >>> conv, bn = tx.nn.Conv2d(1, 2, 3).eval(), tx.nn.BatchNorm2d(2).eval()
        >>> x = tx.ones(1, 1, 4, 4)
        >>> tx.allclose(tx.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
        True
    """
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    numbers = (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, *numbers, transpose)
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """(weight, bias) of the linear layer that does both.

    Example:
        >>> import tensorx as tx
        >>> one = tx.ones(1)
        >>> w, b = tx.nn.utils.fuse_linear_bn_weights(tx.ones(1, 1), None, one, one * 4, 0.0, one, one)
        >>> w.item(), b.item()
        (0.5, 0.5)
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of ``linear`` that also does what ``bn``, in evaluation mode, does after it.

    Example:
        >>> import tensorx as tx
        >>> linear, bn = tx.nn.Linear(3, 2).eval(), tx.nn.BatchNorm1d(2).eval()
        >>> x = tx.ones(4, 3)
        >>> tx.allclose(tx.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
        True
    """
    _check_eval(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise ValueError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    numbers = (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *numbers)
    return fused


def _check_eval(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("fuse: argument 'bn' must have running statistics. Hint: track_running_stats=True")
