"""Batch and instance normalisation: statistics of channels, running averages of them, and normalisation with either."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.autograd.modes import no_grad
from tensorx.errors import DTypeError
from tensorx.ops import normalization as N
from tensorx.ops.dispatch import call
from tensorx.ops.families import composite
from tensorx.ops.fused import step
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


def check_input(name: str, x: Tensor, parameters: dict[str, Tensor | None]) -> None:
    """DTypeError unless ``x`` is floating-point and the parameters have its dtype (or float32)."""
    if not x.dtype.is_floating_point:
        raise DTypeError(f'"{name}" not implemented for \'{x.dtype.name}\'')
    for key, p in parameters.items():
        if p is not None and p.dtype is not x.dtype and not (p.dtype is dtypes.float32 and x.dtype.itemsize == 2):
            raise DTypeError(f"{name}: argument '{key}' must be of the input's dtype (or float32, for a 16-bit input); got {p.dtype.name} for {x.dtype.name}")


def check_channels(parameters: dict[str, Tensor | None], n: int) -> None:
    """RuntimeError unless each parameter has one value a channel."""
    for key, p in parameters.items():
        if p is not None and p.numel() != n:
            raise RuntimeError(f"{key} should contain {n} elements not {p.numel()}")


def along(p: Tensor | None, shape: Ints) -> Tensor | None:
    """A vector of channels in a shape that broadcasts with the input."""
    return None if p is None else p.view(shape)


def flat(t: Tensor, d: Any = None) -> Tensor:
    """Row statistics as a vector."""
    t = t.reshape(-1)
    return t if d is None or t.dtype is d else t.to(d)


def _averaged(running: Any, fresh: Any, *, momentum: Any) -> Any:
    return momentum * fresh + (1 - momentum) * running


def _update(running_mean: Any, running_var: Any, mean: Any, var: Any, *, momentum: Any, unbias: Any) -> tuple[Any, ...]:
    return _averaged(running_mean, mean, momentum=momentum), _averaged(running_var, var * unbias, momentum=momentum)


def _update_var(running_var: Any, var: Any, *, momentum: Any, unbias: Any) -> tuple[Any, ...]:
    return (_averaged(running_var, var * unbias, momentum=momentum),)


def _update_mean(running_mean: Any, mean: Any, *, momentum: Any) -> tuple[Any, ...]:
    return (_averaged(running_mean, mean, momentum=momentum),)


def update_running(running_mean: Tensor | None, running_var: Tensor | None, mean: Tensor, var: Tensor, momentum: float, n: int) -> None:
    """Move the running averages towards the statistics of ``n`` values a channel, in one kernel; the variance is the unbiased one."""
    numbers = {"momentum": momentum, "unbias": n / (n - 1) if n > 1 else math.nan}
    with no_grad():
        if running_mean is not None and running_var is not None:
            step(_update, [running_mean, running_var, mean, var], numbers, [running_mean, running_var])
        elif running_mean is not None:
            step(_update_mean, [running_mean, mean], {"momentum": momentum}, [running_mean])
        elif running_var is not None:
            step(_update_var, [running_var, var], numbers, [running_var])


def normalized(x: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float,
               eps: float) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """The result, and in training mean and 1 / sqrt(var + eps) of each channel, kept dims."""
    if len(x._shape) < 2:
        raise IndexError(f"batch_norm: Dimension out of range (expected to be in range of [{-len(x._shape)}, {len(x._shape) - 1}], but got 1)")
    channels = x._shape[1]
    if not training:
        for key, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is None:
                raise RuntimeError(f"{key} must be defined in evaluation mode")
    check_channels({"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}, channels)
    check_input("batch_norm", x, {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var})
    shape = (1, channels, *(1,) * (len(x._shape) - 2))
    w, b = along(weight, shape), along(bias, shape)
    if not training:
        return call(N.norm_given, (x, along(running_mean, shape), along(running_var, shape), w, b, float(eps))), None, None
    out, mean, rstd, var = call(N.norm, (x, (0, *range(2, len(x._shape))), w, b, float(eps)))
    n = x.numel() // channels if channels else 0
    if n:
        update_running(running_mean, running_var, flat(mean.detach()), flat(var.detach()), momentum, n)
    return out, mean, rstd


def _np_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    shape, dims = (1, -1, *(1,) * (x.ndim - 2)), (0, *range(2, x.ndim))
    mean, var = (x.mean(dims), x.var(dims)) if training else (running_mean, running_var)
    w, b = (None if p is None else p.reshape(shape) for p in (weight, bias))
    return N.affine((x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps), w, b)


def _np_native(x, weight, bias, running_mean, running_var, training, momentum, eps):
    dims = (0, *range(2, x.ndim))
    out = _np_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps)
    return out, x.mean(dims) if training else np.zeros(0), 1 / np.sqrt(x.var(dims) + eps) if training else np.zeros(0)


STATISTICS = "Tensor? running_mean, Tensor? running_var"


@composite(f"batch_norm(Tensor input, Tensor? weight, Tensor? bias, {STATISTICS}, bool training, float momentum, float eps, bool cudnn_enabled=True) -> Tensor",
           dtypes="f", ref=_np_batch_norm, ulp=32.0, domain=(0.5, 3.0),
           samples=lambda t: [(t((4, 3)), None, None, None, None, True, 0.1, 1e-5), (t((2, 3, 4)), t((3,)), t((3,)), t((3,)), t((3,)), False, 0.1, 0.1),
                              (t((2, 3, 2, 2)), t((3,)), t((3,)), None, None, True, 0.1, 0.1)],
           doc="Channels with mean 0 and variance 1 (of the batch in training, else the running ones), scaled and shifted.")
def batch_norm(x: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float, cudnn: bool) -> Tensor:
    return normalized(x, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@composite(f"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, {STATISTICS}, bool training, float momentum, float eps) -> (Tensor out, Tensor mean, Tensor rstd)",
           dtypes="f", ref=_np_native, ulp=32.0, domain=(0.5, 3.0),
           samples=lambda t: [(t((4, 3)), None, None, None, None, True, 0.1, 0.1), (t((2, 3, 4)), t((3,)), t((3,)), None, None, True, 0.1, 0.1)],
           doc="batch_norm, with the statistics that it used in training.")
def native_batch_norm(x: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float) -> Any:
    out, mean, rstd = normalized(x, weight, bias, running_mean, running_var, training, momentum, eps)
    d = next((p.dtype for p in (weight, bias, running_mean, running_var) if p is not None), x.dtype)
    if mean is None or rstd is None:
        return out, x.new_empty((0,), dtype=d), x.new_empty((0,), dtype=d)
    return out, flat(mean, d), flat(rstd, d)


def _np_instance_norm(x, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    shape, dims = (1, -1, *(1,) * (x.ndim - 2)), tuple(range(2, x.ndim))
    mean, var = (x.mean(dims, keepdims=True), x.var(dims, keepdims=True)) if use_input_stats else (running_mean.reshape(shape), running_var.reshape(shape))
    w, b = (None if p is None else p.reshape(shape) for p in (weight, bias))
    return N.affine((x - mean) / np.sqrt(var + eps), w, b)


@composite(f"instance_norm(Tensor input, Tensor? weight, Tensor? bias, {STATISTICS}, bool use_input_stats, float momentum, float eps, bool cudnn_enabled=True) -> Tensor",
           dtypes="f", ref=_np_instance_norm, ulp=32.0, domain=(0.5, 3.0),
           samples=lambda t: [(t((2, 3, 4)), None, None, None, None, True, 0.1, 0.1), (t((2, 3, 2, 2)), t((3,)), t((3,)), t((3,)), t((3,)), False, 0.1, 0.1)],
           doc="Each sample's channels with mean 0 and variance 1, scaled and shifted.")
def instance_norm(x: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool, momentum: float, eps: float,
                  cudnn: bool) -> Tensor:
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    if not use_input_stats:
        return normalized(x, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    batch, channels = x._shape[:2]
    for key, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is not None and p.numel() != channels:
            raise RuntimeError(f"{key} should contain {batch * channels} elements not {batch * p.numel()}")
    check_input("instance_norm", x, {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var})
    shape = (1, channels, *(1,) * (len(x._shape) - 2))
    out, mean, _, var = call(N.norm, (x, tuple(range(2, len(x._shape))), along(weight, shape), along(bias, shape), float(eps)))
    if x.numel() and (running_mean is not None or running_var is not None):
        means, variances = (t.detach().reshape(batch, channels).mean(0) for t in (mean, var))
        update_running(running_mean, running_var, means, variances, momentum, x.numel() // (batch * channels))
    return out
