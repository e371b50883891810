"""Normalisation rows: layer_norm, and the standardisation that its gradient is written with.

With h = (x - mean) * r and r = 1 / sqrt(var + eps), the Jacobian of h is the symmetric J = r * (I - 1 1^T / n - h h^T / n): the gradient and
its own gradient are products with J, each one row kernel that recomputes mean and variance from x, so nothing but x is saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops.families import row
from tensorx.ops.kinds.rows import ROWWISE
from tensorx.ops.reduction import sum_to
from tensorx.tensor import Tensor


def _moments(x, eps):
    """(h, r). Two passes: the mean, then the squared deviations from it."""
    n = E.count(x.dtype)
    d = x - E.row_sum(x) / n
    r = E.rsqrt(E.row_sum(d * d) / n + eps)
    return d * r, r


def _layer_norm(x, normalized_shape, weight, bias, eps):
    h, _ = _moments(x, eps)
    h = h if weight is None else h * weight
    return h if bias is None else h + bias


def _backward(grad, x, normalized_shape, eps):
    h, r = _moments(x, eps)
    n = E.count(x.dtype)
    return r * (grad - E.row_sum(grad) / n - h * (E.row_sum(grad * h) / n))


def _layer_norm_vjp(g: Any, needs: Any, input: Any, normalized_shape: Any, weight: Any, weight_meta: Any, bias_meta: Any, eps: Any) -> Any:
    grads: list[Any] = [None, None, None]
    if needs[0]:
        grads[0] = standardize_backward(g if weight is None else g * weight, input, normalized_shape, eps)
    if needs[1]:
        grads[1] = sum_to(g * standardize(input, normalized_shape, eps), weight_meta.shape)
    if needs[2]:
        grads[2] = sum_to(g, bias_meta.shape)
    return tuple(grads)


def _backward_vjp(g: Tensor, needs: Any, grad: Any, self: Any, normalized_shape: Any, eps: Any) -> Any:
    """Of J grad, in the direction g. ``(g * J grad).sum() = r * s``, whose derivative by x holds J g and J grad again."""
    through = standardize_backward(g, self, normalized_shape, eps)
    if not needs[1]:
        return through, None
    dims = tuple(range(-len(normalized_shape), 0))
    h, along = standardize(self, normalized_shape, eps), standardize_backward(grad, self, normalized_shape, eps)
    r = (self.var(dims, correction=0, keepdim=True) + eps).rsqrt()
    second = h * (g * along).mean(dims, True) + (grad * h).mean(dims, True) * through + (g * h).mean(dims, True) * along
    return (through if needs[0] else None), -r * second


def _np_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    h = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return h * (1 if weight is None else weight) + (0 if bias is None else bias)


def _np_backward(g, x, normalized_shape, eps):
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    h = _np_layer_norm(x, normalized_shape, eps=eps)
    r = 1 / np.sqrt(x.var(axes, keepdims=True) + eps)
    return r * (g - g.mean(axes, keepdims=True) - h * (g * h).mean(axes, keepdims=True))


standardize = row("_standardize(Tensor self, int[] normalized_shape, float eps) -> Tensor", ROWWISE, lambda x, normalized_shape, eps: _moments(x, eps)[0],
                  lambda g, self, normalized_shape, eps: standardize_backward(g, self, normalized_shape, eps), dtypes="f",
                  ref=lambda x, normalized_shape, eps: _np_layer_norm(x, normalized_shape, eps=eps),
                  samples=lambda t: [(t((3, 4)), (4,), 1e-5), (t((2, 3, 4)), (3, 4), 1e-5)], doc="Rows with mean 0 and variance 1.")
standardize_backward = row("_standardize_backward(Tensor grad, Tensor self, int[] normalized_shape, float eps) -> Tensor", ROWWISE, _backward, _backward_vjp,
                           ref=_np_backward, dtypes="f", samples=lambda t: [(t((3, 4)), t((3, 4)), (4,), 1e-5), (t((2, 3, 4)), t((2, 3, 4)), (3, 4), 1e-5)],
                           doc="The gradient of _standardize, as one row kernel.")
layer_norm = row("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor", ROWWISE, _layer_norm,
                 _layer_norm_vjp, ref=_np_layer_norm, dtypes="f", ulp=8.0,
                 samples=lambda t: [(t((3, 4)), (4,)), (t((2, 3, 4)), (3, 4), t((3, 4)), t((3, 4))), (t((3, 4)), (4,), t((4,)))],
                 doc="Rows with mean 0 and variance 1, scaled and shifted by element.")
