"""Normalisation rows: standardisation along any axes, with its statistics, and what gradients need of it.

With m the mean, r = 1 / sqrt(var + eps) and h = (x - m) * r along a row, ``_norm`` gives h (scaled and shifted) and m, r, var; its gradient
``_norm_backward`` reads m and r instead of finding them again. All rules treat m and r as the independent operands that they are there, and
``_norm`` has a rule for each of its results: gradients of any order follow.

Batch, instance, group and layer normalisation differ in the axes alone. Rows along one axis of memory are one kernel; others (channels of
images) are a reduction for each statistic and a map (`ops.staged`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops.families import elementwise, row
from tensorx.ops.kinds.rows import REDUCE, ROWWISE
from tensorx.ops.reduction import sum_to
from tensorx.ops.table import KEEP
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


def affine(h: Any, weight: Any, bias: Any) -> Any:
    """``h * weight + bias``, either of them None for none."""
    h = h if weight is None else h * weight
    return h if bias is None else h + bias


def _norm(x, dim, weight, bias, eps):
    """Two passes: the mean, then the squared deviations from it (Chan, Golub, LeVeque 1983)."""
    n = E.count(x.dtype)
    mean = E.row_sum(x) / n
    d = x - mean
    var = E.row_sum(d * d) / n
    r = E.rsqrt(var + eps)
    return affine(d * r, weight, bias), mean, r, var


def _size(shape: Sequence[int], dim: Ints) -> int:
    return math.prod(shape[d] for d in dim)


def _norm_vjp(gs: Any, needs: Any, input: Tensor, dim: Ints, weight: Any, weight_meta: Any, bias_meta: Any, mean: Tensor, rstd: Tensor) -> Any:
    g, gx, gw, gb = gs[0], None, None, None
    if g is not None and weight is not None and _lies_along(weight._shape, input._shape, dim):
        gx = norm_backward_along(g, input, mean, rstd, weight, dim) if needs[0] else None
        gw = _weight_grad(g, input, mean, rstd, weight_meta.shape) if needs[1] else None
    elif g is not None and (needs[0] or needs[1]):
        gx, gw, gb = norm_backward(g, input, mean, rstd, weight, dim)
        gw = gw if weight is None else sum_to(gw, weight_meta.shape)
    if g is not None and needs[2]:
        gb = sum_to(g if gb is None or _lies_along(bias_meta.shape, input._shape, dim) else gb, bias_meta.shape)
    if needs[0]:
        for more in _through_statistics(gs, input, mean, rstd, 1 / max(1, _size(input._shape, dim))):
            gx = more if gx is None else gx + more
    return gx, gw, gb


def _through_statistics(gs: Any, x: Tensor, mean: Tensor, rstd: Tensor, each: float) -> Any:
    """What the mean's, rstd's and variance's cotangents give each element."""
    if gs[1] is not None:
        yield (gs[1] * each).to(x.dtype).expand(x._shape)
    if gs[2] is not None or gs[3] is not None:
        slope = 0 if gs[2] is None else gs[2] * rstd**3 * -each
        slope = slope if gs[3] is None else slope + gs[3] * (2 * each)
        yield ((x - mean) * slope).to(x.dtype)


def _lies_along(shape: Ints, full: Ints, dim: Ints) -> bool:
    """Whether a parameter of ``shape`` differs along rows over the axes ``dim``."""
    lead = len(full) - len(shape)
    return any(d >= lead and shape[d - lead] != 1 for d in dim)


def _weight_grad(g: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, shape: Ints) -> Tensor:
    full = (1,) * (len(x._shape) - len(shape)) + shape
    dims = tuple(i for i, (n, m) in enumerate(zip(full, x._shape, strict=True)) if n == 1 != m)
    return norm_weight(g, x, mean, rstd, dims, True).view(shape) if dims else g * ((x - mean) * rstd)


def _backward(grad, x, mean, rstd, weight, dim):
    n = E.count(x.dtype)
    h = (x - mean) * rstd
    plain, along = E.row_sum(grad), E.row_sum(grad * h)
    return affine(rstd * (grad - plain / n - h * (along / n)), weight, None), along, plain


def _backward_vjp(gs: Any, needs: Any, grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Any, dim: Ints) -> Any:
    """With L = sum(G gx) + a . along + b . plain: the partial derivatives of L, h between as the variable of x, mean and rstd."""
    each = 1 / max(1, _size(input._shape, dim))
    G, a, b = gs
    h = (input - mean) * rstd
    g_grad = None if a is None else a * h
    g_grad = g_grad if b is None else b.expand(h._shape) if g_grad is None else g_grad + b
    g_h = None if a is None else a * grad
    g_rstd = g_weight = None
    if G is not None:
        if weight is not None:
            core = rstd * (grad - grad.mean(dim, True) - h * (grad * h).mean(dim, True))
            g_weight = sum_to(G * core, weight._shape)
            G = G * weight
        back, _, _ = norm_backward(G, input, mean, rstd, None, dim)
        g_grad = back if g_grad is None else g_grad + back
        q, p = (grad * h).sum(dim, True) * each, (G * h).sum(dim, True) * each
        more = -rstd * (q * G + p * grad)
        g_h = more if g_h is None else g_h + more
        g_rstd = (G * (grad - grad.mean(dim, True) - h * q)).sum(dim, True)
    g_x = g_mean = None
    if g_h is not None:
        g_x = rstd * g_h
        g_mean = -g_x.sum(dim, True)
        scale = ((input - mean) * g_h).sum(dim, True)
        g_rstd = scale if g_rstd is None else g_rstd + scale
    return g_grad, g_x, g_mean, g_rstd, g_weight


def _backward_along(grad, x, mean, rstd, weight, dim):
    return _backward(grad * weight, x, mean, rstd, None, dim)[0]


def _backward_along_vjp(g: Tensor, needs: Any, grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor, dim: Ints) -> Any:
    g_weighted, *rest = _backward_vjp((g, None, None), needs, grad * weight, input, mean, rstd, None, dim)
    return g_weighted * weight, *rest[:3], g_weighted * grad


def _np_stats(x: Any, dim: Ints, eps: float) -> Any:
    mean, var = x.mean(dim, keepdims=True), x.var(dim, keepdims=True)
    return mean, 1 / np.sqrt(var + eps), var


def _np_norm(x, dim, weight, bias, eps):
    mean, r, var = _np_stats(x, dim, eps)
    return affine((x - mean) * r, weight, bias), mean, r, var


def _np_backward(g, x, mean, r, weight, dim):
    h = (x - mean) * r
    plain, along = g.sum(dim, keepdims=True), (g * h).sum(dim, keepdims=True)
    n = np.ones_like(x).sum(dim, keepdims=True)
    return affine(r * (g - plain / n - h * along / n), weight, None), along, plain


norm = row("_norm(Tensor input, int[] dim, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, Tensor mean, Tensor rstd, Tensor var)", ROWWISE, _norm,
           _norm_vjp, promote=KEEP, dtypes="f", ref=_np_norm, ulp=16.0,
           samples=lambda t: [(t((3, 4)), (1,), None, None, 1e-5), (t((2, 3, 4)), (0, 2), t((1, 3, 1)), t((1, 3, 1)), 1e-5), (t((2, 3, 4)), (1, 2), t((3, 4)), t((3, 4)), 0.1),
                              (t((2, 3, 4)), (1, 2), t((1, 3, 1)), None, 0.1)],
           public="layer_norm", doc="Rows with mean 0 and variance 1, scaled and shifted, with the rows' statistics.")
norm_backward = row("_norm_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int[] dim) -> (Tensor out, Tensor along, Tensor plain)",
                    ROWWISE, _backward, _backward_vjp, promote=KEEP, dtypes="f", ref=_np_backward, ulp=16.0,
                    samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 1)), t((3, 1)), None, (1,)),
                                       (t((2, 3, 4)), t((2, 3, 4)), t((1, 3, 1)), t((1, 3, 1)), t((1, 3, 1)), (0, 2))],
                    doc="The gradient of _norm in its input, with the row sums that are those in weight and bias.")
norm_backward_along = row("_norm_backward_along(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor weight, int[] dim) -> Tensor", ROWWISE, _backward_along,
                          _backward_along_vjp, promote=KEEP, dtypes="f", ref=lambda g, x, mean, r, weight, dim: _np_backward(g * weight, x, mean, r, None, dim)[0],
                          samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 1)), t((3, 1)), t((4,)), (1,)),
                                             (t((2, 3, 4)), t((2, 3, 4)), t((2, 1, 1)), t((2, 1, 1)), t((1, 3, 1)), (1, 2))], ulp=16.0,
                          doc="The gradient of _norm in its input, with weights that lie along the row.")
norm_weight = row("_norm_weight(Tensor grad, Tensor input, Tensor mean, Tensor rstd, int[1] dim, bool keepdim) -> Tensor", REDUCE,
                  lambda grad, x, mean, rstd, dim, keepdim: E.row_sum(grad * ((x - mean) * rstd)),
                  lambda g, grad, input, mean, rstd, dim, keepdim: _weight_vjp(g, grad, input, mean, rstd), promote=KEEP, dtypes="f", ulp=16.0,
                  ref=lambda g, x, mean, r, dim, keepdim: (g * (x - mean) * r).sum(dim, keepdims=keepdim),
                  samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 1)), t((3, 1)), (0,), True), (t((2, 3, 4)), t((2, 3, 4)), t((2, 1, 1)), t((2, 1, 1)), (0, 2), True)],
                  doc="The gradient of _norm in weights that lie along the row.")


def _weight_vjp(g: Tensor, grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor) -> Any:
    d = g * grad
    return g * ((x - mean) * rstd), d * rstd, -d * rstd, d * (x - mean)


def _eval_vjp(g, out, x, mean, var, weight, bias, eps):
    r = E.rsqrt(var + eps)
    h, gw = (x - mean) * r, affine(g, weight, None)
    return gw * r, -(gw * r), gw * h * r * r * -0.5, g * h, g


norm_given = elementwise("_norm_given(Tensor input, Tensor mean, Tensor var, Tensor? weight, Tensor? bias, float eps) -> Tensor",
                         lambda x, mean, var, weight, bias, eps: affine((x - mean) * E.rsqrt(var + eps), weight, bias), _eval_vjp, promote=KEEP, dtypes="f", ulp=16.0,
                         ref=lambda x, mean, var, weight, bias, eps: affine((x - mean) / np.sqrt(var + eps), weight, bias), domain=(0.5, 4.0),
                         samples=lambda t: [(t((2, 3, 4)), t((1, 3, 1)), t((1, 3, 1)), None, None, 1e-5), (t((2, 3)), t((1, 3)), t((1, 3)), t((1, 3)), t((1, 3)), 0.1)],
                         public="batch_norm", doc="Standardisation with given statistics, scaled and shifted.")


def _rms(x, dim, weight, eps):
    r = E.rsqrt(E.row_sum(x * x) / E.count(x.dtype) + eps)
    return affine(x * r, weight, None), r


def _rms_vjp(gs: Any, needs: Any, input: Tensor, dim: Ints, weight: Any, weight_meta: Any, rstd: Tensor) -> Any:
    g, gx, gw = gs[0], None, None
    if g is not None and needs[0]:
        gx = rms_backward(g if weight is None else g * weight, input, rstd, dim)
    if g is not None and needs[1]:
        gw = sum_to(g * (input * rstd), weight_meta.shape)
    if gs[1] is not None and needs[0]:
        more = (input * (gs[1] * rstd**3 * (-1 / max(1, _size(input._shape, dim))))).to(input.dtype)
        gx = more if gx is None else gx + more
    return gx, gw


def _rms_backward(grad, x, rstd, dim):
    return rstd * (grad - x * (rstd * rstd * (E.row_sum(grad * x) / E.count(x.dtype))))


def _rms_backward_vjp(g: Tensor, needs: Any, grad: Tensor, input: Tensor, rstd: Tensor, dim: Ints) -> Any:
    q, p = (grad * input).mean(dim, True), (g * input).mean(dim, True)
    return (rms_backward(g, input, rstd, dim), -rstd**3 * (g * q + grad * p),
            (g * (grad - 3 * input * (rstd * rstd * q))).sum(dim, True) if needs[2] else None)


def _np_rms(x, dim, weight, eps):
    r = 1 / np.sqrt((x * x).mean(dim, keepdims=True) + eps)
    return affine(x * r, weight, None), r


rms = row("_rms(Tensor input, int[] dim, Tensor? weight, float eps) -> (Tensor out, Tensor rstd)", ROWWISE, _rms, _rms_vjp, promote=KEEP, dtypes="f", ulp=16.0,
          ref=_np_rms,
          samples=lambda t: [(t((3, 4)), (1,), None, 1e-5), (t((2, 3, 4)), (1, 2), t((3, 4)), 0.1)], public="rms_norm", doc="Rows divided by their root mean square, scaled.")
rms_backward = row("_rms_backward(Tensor grad, Tensor input, Tensor rstd, int[] dim) -> Tensor", ROWWISE, _rms_backward, _rms_backward_vjp, promote=KEEP,
                   dtypes="f", ulp=16.0, ref=lambda g, x, r, dim: r * (g - x * r * r * (g * x).mean(dim, keepdims=True)),
                   samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 1)), (1,)), (t((2, 3, 4)), t((2, 3, 4)), t((2, 1, 1)), (1, 2))],
                   doc="The gradient of _rms in its input.")
