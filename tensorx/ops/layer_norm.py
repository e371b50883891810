"""Normalisation over the trailing axes (layer_norm, rms_norm) and over groups of channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops import normalization as N
from tensorx.ops.batch_norm import along, check_input
from tensorx.ops.dispatch import call
from tensorx.ops.families import composite
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


def trailing(x: Tensor, normalized_shape: Ints, parameters: dict[str, Tensor | None]) -> Ints:
    """The axes that ``normalized_shape`` names. RuntimeError, in PyTorch's words, where they do not fit."""
    wanted = tuple(normalized_shape)
    if not wanted:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []")
    for key, p in parameters.items():
        if p is not None and p._shape != wanted:
            raise RuntimeError(f"Expected {key} to be of same shape as normalized_shape, but got {key} of shape {list(p._shape)} and normalized_shape = {list(wanted)}")
    n = len(x._shape)
    if len(wanted) > n or x._shape[n - len(wanted):] != wanted:
        raise RuntimeError(f"Given normalized_shape={list(wanted)}, expected input with shape [*, {', '.join(map(str, wanted))}], but got input of "
                           f"size{list(x._shape)}")
    return tuple(range(n - len(wanted), n))


def _np_axes(x: Any, normalized_shape: Ints) -> Ints:
    return tuple(range(x.ndim - len(normalized_shape), x.ndim))


def _np_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    axes = _np_axes(x, normalized_shape)
    return N.affine((x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps), weight, bias)


def _np_native_layer_norm(x, normalized_shape, weight, bias, eps):
    axes = _np_axes(x, normalized_shape)
    return _np_layer_norm(x, normalized_shape, weight, bias, eps), x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True) + eps)


def _layer_norm(x: Tensor, normalized_shape: Ints, weight: Any, bias: Any, eps: float) -> Any:
    parameters = {"weight": weight, "bias": bias}
    dim = trailing(x, normalized_shape, parameters)
    check_input("layer_norm", x, parameters)
    return call(N.norm, (x, dim, weight, bias, float(eps)))


@composite("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor", dtypes="f",
           ref=_np_layer_norm, ulp=16.0, samples=lambda t: [(t((3, 4)), (4,)), (t((2, 3, 4)), (3, 4), t((3, 4)), t((3, 4))), (t((3, 4)), (4,), t((4,)))],
           doc="Rows with mean 0 and variance 1, scaled and shifted by element.")
def layer_norm(x: Tensor, normalized_shape: Ints, weight: Any, bias: Any, eps: float, cudnn_enable: bool) -> Tensor:
    return _layer_norm(x, normalized_shape, weight, bias, eps)[0]


@composite("native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, Tensor mean, Tensor rstd)", dtypes="f",
           ref=_np_native_layer_norm, ulp=16.0, samples=lambda t: [(t((3, 4)), (4,), None, None, 0.1), (t((2, 3, 4)), (3, 4), t((3, 4)), t((3, 4)), 0.1)],
           doc="layer_norm, with the statistics of the rows.")
def native_layer_norm(x: Tensor, normalized_shape: Ints, weight: Any, bias: Any, eps: float) -> Any:
    out, mean, rstd, _ = _layer_norm(x, normalized_shape, weight, bias, eps)
    d = x.dtype if weight is None and bias is None else (weight if weight is not None else bias).dtype
    return out, mean.to(d), rstd.to(d)


def _np_rms_norm(x, normalized_shape, weight=None, eps=None):
    eps = np.finfo(np.float32).eps if eps is None else eps
    return N.affine(x / np.sqrt((x * x).mean(_np_axes(x, normalized_shape), keepdims=True) + eps), weight, None)


@composite("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", dtypes="f", ref=_np_rms_norm, ulp=16.0,
           samples=lambda t: [(t((3, 4)), (4,), None, 0.1), (t((2, 3, 4)), (3, 4), t((3, 4)), 0.1)], doc="Rows divided by their root mean square, scaled.")
def rms_norm(x: Tensor, normalized_shape: Ints, weight: Any, eps: float | None) -> Tensor:
    dim = trailing(x, normalized_shape, {"weight": weight})
    check_input("rms_norm", x, {})
    eps = float(np.finfo(x.dtype.compute.np).eps) if eps is None else float(eps)
    return call(N.rms, (x, dim, weight, eps))[0]


def _groups(x: Tensor, groups: int, parameters: dict[str, Tensor | None]) -> None:
    if len(x._shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(x._shape)}")
    if groups <= 0 or x._shape[1] % groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(x._shape)} and num_groups={groups}")
    for key, p in parameters.items():
        if p is not None and p._shape != (x._shape[1],):
            raise RuntimeError(f"Expected {key} to be a vector of size equal to the number of channels in input, but got {key} of shape {list(p._shape)} and input "
                               f"of shape {list(x._shape)}")
    check_input("group_norm", x, parameters)


def _group_norm(x: Tensor, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """The result in x's shape, and mean and 1 / sqrt(var + eps) of shape (N, groups)."""
    _groups(x, groups, {"weight": weight, "bias": bias})
    n, c = x._shape[:2]
    space = math.prod(x._shape[2:])
    inside = (1, groups, c // groups, 1)
    out, mean, rstd, _ = call(N.norm, (x.reshape(n, groups, c // groups, space), (2, 3), along(weight, inside), along(bias, inside), float(eps)))
    return out.reshape(x._shape), mean.view(n, groups), rstd.view(n, groups)


def _np_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    rows = x.reshape(x.shape[0], num_groups, -1)
    h = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + eps)
    shape = (1, -1, *(1,) * (x.ndim - 2))
    return N.affine(h.reshape(x.shape), *(None if p is None else p.reshape(shape) for p in (weight, bias)))


def _np_native_group_norm(x, weight, bias, N, C, HxW, group, eps):
    rows = x.reshape(N, group, -1)
    return _np_group_norm(x, group, weight, bias, eps), rows.mean(2), 1 / np.sqrt(rows.var(2) + eps)


@composite("group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor", dtypes="f",
           ref=_np_group_norm, ulp=16.0, samples=lambda t: [(t((2, 4)), 2), (t((2, 4, 3)), 2, t((4,)), t((4,))), (t((2, 4, 3, 2)), 4, t((4,)))],
           doc="Groups of each sample's channels with mean 0 and variance 1, scaled and shifted by channel.")
def group_norm(x: Tensor, num_groups: int, weight: Any, bias: Any, eps: float, cudnn_enabled: bool) -> Tensor:
    return _group_norm(x, num_groups, weight, bias, eps)[0]


@composite("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor out, Tensor mean, Tensor rstd)",
           dtypes="f", ref=_np_native_group_norm, ulp=16.0, samples=lambda t: [(t((2, 4, 3)), t((4,)), t((4,)), 2, 4, 3, 2, 0.1)],
           doc="group_norm, with the statistics of the groups.")
def native_group_norm(x: Tensor, weight: Any, bias: Any, n: int, c: int, space: int, group: int, eps: float) -> Any:
    if x.numel() not in (0, n * c * space):
        raise RuntimeError(f"native_group_norm: argument 'input' must have N * C * HxW = {n * c * space} elements; got {x.numel()}")
    out, mean, rstd = _group_norm(x if x._shape[:2] == (n, c) else x.reshape(n, c, space), group, weight, bias, eps)
    d = x.dtype if weight is None and bias is None else (weight if weight is not None else bias).dtype
    return out.reshape(x._shape), mean.to(d), rstd.to(d)
