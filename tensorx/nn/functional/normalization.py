"""Normalisation."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Give every channel (dimension 1) mean 0 and variance 1, then scale and shift by channel.

    Args:
        input: (N, C) or (N, C, ...), floating point.
        running_mean: (C) or None; used without ``training``, else moved towards the batch's mean in place.
        running_var: (C) or None, as ``running_mean``.
        weight: (C) or None.
        bias: (C) or None.
        training: take the statistics of this batch; ValueError for a single value a channel.
        momentum: weight of the new value in the running averages.
        eps: added to the variance.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.batch_norm(tx.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    if training:
        _check_batch(input.shape)
    if training and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    return tx.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def _check_batch(size: Any) -> None:
    if math.prod(size[:1]) * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Give every channel of every sample mean 0 and variance 1 over space, then scale and shift by channel.

    Input is (N, C, ...); without ``use_input_stats`` the running statistics are used, else they are moved in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.instance_norm(tx.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    return tx.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalise the last dimensions (of sizes ``normalized_shape``) to mean 0 and variance 1, then scale and shift.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.layer_norm(tx.tensor([[1.0, 2.0, 4.0]]), (3,))
        tensor([[-1.0690, -0.2673,  1.3363]])
    """
    return tx.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Normalise each of ``num_groups`` groups of a sample's channels to mean 0 and variance 1, then scale and shift by
    channel.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.group_norm(tx.tensor([[1.0, 3.0, 5.0, 9.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    per_group = [input.size(0) * input.size(1) // num_groups, num_groups, *input.shape[2:]]
    if per_group[0] * math.prod(per_group[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(input.shape)}")
    return tx.group_norm(input, num_groups, weight, bias, eps)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Divide the last dimensions (of sizes ``normalized_shape``) by their root mean square, then scale.

    ``eps`` is added to the mean square; by default the machine epsilon of the dtype that is computed in.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.rms_norm(tx.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])
    """
    return tx.rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Divide by ``(k + alpha * m) ** beta``, m the mean square of ``size`` neighbouring channels (zeros outside).

    Input is (N, C, ...), of at least three dimensions.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.local_response_norm(tx.ones(1, 2, 1), 2, alpha=1.0, beta=1.0)
        tensor([[[0.6667],
                 [0.5000]]])
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = tx.nn.functional.pad(input * input, (0, 0) * (input.dim() - 2) + (size // 2, (size - 1) // 2))
    mean = squares.unfold(1, size, 1).mean(-1)
    return input / (mean * alpha + k).pow(beta)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """``input / max(norm(input, p, dim), eps)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.normalize(tx.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else tx.div(input, norm, out=out)
