"""Cross entropy as row kernels: log-softmax, pick, weight and smoothing in one pass over a row of classes, and one for the gradient.

With p = softmax(x) and the row's loss a sum of (norm - x_j) over classes with fixed coefficients c_j, the gradient is p * sum(c) - c. Both kernels
recompute p from the logits, so nothing but these is saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops import expr as E
from tensorx.ops.families import row
from tensorx.ops.kinds.rows import REDUCE, ROWWISE
from tensorx.ops.reduction import log_softmax, softmax, softmax_backward, sum_to
from tensorx.tensor import Tensor


def _raw(target):
    """Class indices as they are stored, not as promotion made them."""
    return E.cast(target.args[0] if target.op == "cast" else target, dtypes.int64)


def _shifted(x):
    """(x - max, log of the sum of its exp)."""
    d = x - E.row_max(x)
    return d, E.log(E.row_sum(E.exp(d)))


def _row_weight(x, hit, weight):
    """The weight of the row's class."""
    return E.const(1, x.dtype) if weight is None else E.row_sum(E.where(hit, weight, 0.0))


def _cross_entropy(x, target, weight, dim, smoothing, ignore_index):
    """(loss, weight of the row's class, class or 0) a row; an ignored row is selected away, so that an infinite loss there is no NaN."""
    label = _raw(target)
    valid, hit = E.ne(label, E.cast(ignore_index, dtypes.int64)), E.eq(E.place(), label)
    d, norm = _shifted(x)
    scale = _row_weight(x, hit, weight)
    loss = (norm - E.row_sum(E.where(hit, d, 0.0))) * scale
    if smoothing is not None:
        n = E.count(x.dtype)
        spread = norm * n - E.row_sum(d) if weight is None else E.row_sum(weight * (norm - d))
        loss = loss * (1 - smoothing) + spread * (smoothing / n)
    return E.where(valid, loss, 0.0), E.where(valid, scale, 0.0), E.where(valid, label, 0)


def _cross_entropy_slope(grad, x, target, weight, dim, smoothing, ignore_index):
    label = _raw(target)
    valid, hit = E.ne(label, E.cast(ignore_index, dtypes.int64)), E.eq(E.place(), label)
    e = E.exp(x - E.row_max(x))
    p = e / E.row_sum(e)
    scale = _row_weight(x, hit, weight)
    if smoothing is None:
        slope = scale * p - E.where(hit, scale, 0.0)
    else:
        n = E.count(x.dtype)
        total = n if weight is None else E.row_sum(weight)
        picked, rest = scale * (1 - smoothing), smoothing / n
        slope = (picked + rest * total) * p - E.where(hit, picked, 0.0) - (rest if weight is None else rest * weight)
    return E.where(valid, grad * slope, 0.0)


def _chosen(like: Tensor, target: Tensor, dim: int, smoothing: Any, ignore_index: int) -> tuple[Tensor, Tensor]:
    """(one-hot of the classes, what multiplies each class's weight): zero in ignored rows."""
    ignored = target == ignore_index
    hit = like.new_zeros(like._shape).scatter(dim, target.masked_fill(ignored, 0), 1.0).masked_fill(ignored, 0)
    return hit, hit if smoothing is None else (hit * (1 - smoothing) + smoothing / like._shape[dim]).masked_fill(ignored, 0)


def _cross_entropy_vjp(gs: Any, needs: Any, self: Any, target: Any, weight: Any, dim: Any, smoothing: Any, ignore_index: Any) -> Any:
    g_loss, g_scale, _ = gs
    by_x = by_weight = None
    if needs[0] and g_loss is not None:
        by_x = cross_entropy_backward(g_loss.unsqueeze(dim), self, target, weight, dim, smoothing, ignore_index)
    if needs[2]:
        hit, k = _chosen(self, target, dim, smoothing, ignore_index)
        parts = ([] if g_loss is None else [-(g_loss.unsqueeze(dim) * k * log_softmax(self, dim))]) + ([] if g_scale is None else [g_scale.unsqueeze(dim) * hit])
        by_weight = sum_to(parts[0] if len(parts) == 1 else parts[0] + parts[1], weight._shape)
    return by_x, None, by_weight


def _slope_vjp(g: Tensor, needs: Any, grad: Tensor, self: Tensor, target: Tensor, weight: Any, dim: int, smoothing: Any, ignore_index: int) -> Any:
    """Of grad * (p * sum(c) - c), where c = k * weight does not depend on x."""
    k = _chosen(self, target, dim, smoothing, ignore_index)[1]
    p, c = softmax(self, dim), k if weight is None else k * weight
    total = c.sum(dim, True)
    by_weight = grad * ((g * p).sum(dim, True) - g) * k if needs[3] else None
    return (sum_to(g * (p * total - c), grad._shape) if needs[0] else None, softmax_backward(g * (grad * total), p, dim) if needs[1] else None, None,
            None if by_weight is None else sum_to(by_weight, weight._shape))


def _np_parts(x, target, weight, dim, smoothing, ignore_index):
    """(coefficients c, valid, label) over rows of NumPy arrays."""
    n = x.shape[dim]
    valid = target != ignore_index
    label = np.where(valid, target, 0)
    w = np.ones(n) if weight is None else np.ravel(weight)
    shape = [n if i == dim % x.ndim else 1 for i in range(x.ndim)]
    w = w.reshape(shape)
    hit = np.arange(n).reshape(shape) == label
    s = 0.0 if smoothing is None else smoothing
    return np.where(valid, hit * w * (1 - s) + s / n * w, 0), valid, label, np.where(valid, (hit * w).sum(dim, keepdims=True), 0)


def _np_cross_entropy(x, target, weight, dim, smoothing, ignore_index):
    c, _, label, scale = _np_parts(x, target, weight, dim, smoothing, ignore_index)
    logp = x - np.log(np.exp(x).sum(dim, keepdims=True))
    return -(c * logp).sum(dim), scale.squeeze(dim), label.squeeze(dim)


def _np_slope(grad, x, target, weight, dim, smoothing, ignore_index):
    c = _np_parts(x, target, weight, dim, smoothing, ignore_index)[0]
    p = np.exp(x) / np.exp(x).sum(dim, keepdims=True)
    return grad * (p * c.sum(dim, keepdims=True) - c)


_ARGS = "Tensor target, Tensor? weight, int dim, float? smoothing, Seed ignore_index"
cross_entropy = row(f"_cross_entropy(Tensor self, {_ARGS}) -> (Tensor loss, Tensor scale, Tensor label)", REDUCE, _cross_entropy, _cross_entropy_vjp, dtypes="f",
                    ref=_np_cross_entropy, ulp=64.0, samples=lambda t: [
                        (t((5, 4)), t.index((5, 1), 4), None, 1, None, 2), (t((5, 4)), t.index((5, 1), 4), None, 1, 0.25, 1),
                        (t((2, 5, 3)), t.index((2, 1, 3), 5), t((5, 1), 0.1, 2), 1, None, -100), (t((3, 4)), t.index((3, 1), 4), t((4,), 0.1, 2), -1, 0.1, 2)],
                    doc="The cross entropy of each row of logits with a class, the class's weight, and the class.")
cross_entropy_backward = row(f"_cross_entropy_backward(Tensor grad, Tensor self, {_ARGS}) -> Tensor", ROWWISE, _cross_entropy_slope, _slope_vjp, dtypes="f",
                             ref=_np_slope, ulp=64.0, samples=lambda t: [
                                 (t((5, 1)), t((5, 4)), t.index((5, 1), 4), None, 1, None, 2), (t((5, 1)), t((5, 4)), t.index((5, 1), 4), None, 1, 0.25, 1),
                                 (t((2, 1, 3)), t((2, 5, 3)), t.index((2, 1, 3), 5), t((5, 1), 0.1, 2), 1, None, -100),
                                 (t((3, 1)), t((3, 4)), t.index((3, 1), 4), t((4,), 0.1, 2), -1, 0.1, 2)],
                             doc="The gradient of _cross_entropy, as one row kernel.")


# class probabilities


def _coefficients(target, weight, smoothing, n):
    c = target if smoothing is None else target * (1 - smoothing) + smoothing / n
    return c if weight is None else c * weight


def _soft(x, target, weight, dim, smoothing):
    """A class of probability 0 adds nothing, however small its logit."""
    d, norm = _shifted(x)
    c = _coefficients(target, weight, smoothing, E.count(x.dtype))
    return E.row_sum(E.where(E.eq(c, 0), 0.0, c * (norm - d)))


def _soft_slope(grad, x, target, weight, dim, smoothing):
    e = E.exp(x - E.row_max(x))
    c = _coefficients(target, weight, smoothing, E.count(x.dtype))
    return grad * (e / E.row_sum(e) * E.row_sum(c) - c)


def _soft_vjp(g: Tensor, needs: Any, self: Any, target: Any, weight: Any, dim: int, smoothing: Any) -> Any:
    g = g.unsqueeze(dim)
    grads = [soft_cross_entropy_backward(g, self, target, weight, dim, smoothing) if needs[0] else None, None, None]
    if needs[1] or needs[2]:
        loss = -(g * log_softmax(self, dim))
        share = 1.0 if smoothing is None else 1 - smoothing
        grads[1] = (loss if weight is None else loss * weight) * share if needs[1] else None
        grads[2] = sum_to(loss * (target * share + (1 - share) / self._shape[dim]), weight._shape) if needs[2] else None
    return tuple(grads)


def _soft_slope_vjp(g: Tensor, needs: Any, grad: Tensor, self: Tensor, target: Tensor, weight: Any, dim: int, smoothing: Any) -> Any:
    p = softmax(self, dim)
    share, n = (1.0 if smoothing is None else 1 - smoothing), self._shape[dim]
    spread = target * share + (1 - share) / n
    c = spread if weight is None else spread * weight
    total = c.sum(dim, True)
    by_c = grad * ((g * p).sum(dim, True) - g)  # the derivative by c
    return (sum_to(g * (p * total - c), grad._shape) if needs[0] else None, softmax_backward(g * (grad * total), p, dim) if needs[1] else None,
            (by_c if weight is None else by_c * weight) * share if needs[2] else None, sum_to(by_c * spread, weight._shape) if needs[3] else None)


def _np_soft(x, target, weight, dim, smoothing):
    c = (target if smoothing is None else target * (1 - smoothing) + smoothing / x.shape[dim]) * (1 if weight is None else weight)
    return -(c * (x - np.log(np.exp(x).sum(dim, keepdims=True)))).sum(dim)


def _np_soft_slope(grad, x, target, weight, dim, smoothing):
    c = (target if smoothing is None else target * (1 - smoothing) + smoothing / x.shape[dim]) * (1 if weight is None else weight)
    return grad * (np.exp(x) / np.exp(x).sum(dim, keepdims=True) * c.sum(dim, keepdims=True) - c)


_SOFT = "Tensor target, Tensor? weight, int dim, float? smoothing"
soft_cross_entropy = row(f"_soft_cross_entropy(Tensor self, {_SOFT}) -> Tensor", REDUCE, _soft, _soft_vjp, dtypes="f", ref=_np_soft, ulp=64.0,
                         samples=lambda t: [(t((3, 4)), t((3, 4), 0.1, 1), None, 1, None), (t((2, 5, 3)), t((2, 5, 3), 0.1, 1), t((5, 1), 0.1, 2), 1, 0.25)],
                         public="cross_entropy", doc="The cross entropy of each row of logits with class probabilities.")
soft_cross_entropy_backward = row(f"_soft_cross_entropy_backward(Tensor grad, Tensor self, {_SOFT}) -> Tensor", ROWWISE, _soft_slope, _soft_slope_vjp, dtypes="f",
                                  ref=_np_soft_slope, ulp=64.0,
                                  samples=lambda t: [(t((3, 1)), t((3, 4)), t((3, 4), 0.1, 1), None, 1, None),
                                                     (t((2, 1, 3)), t((2, 5, 3)), t((2, 5, 3), 0.1, 1), t((5, 1), 0.1, 2), 1, 0.25)],
                                  doc="The gradient of _soft_cross_entropy, as one row kernel.")


def _weighted_mean_vjp(gs: Any, needs: Any, mean: Tensor, total: Tensor, self_meta: Any, scale_meta: Any) -> Any:
    g_mean, g_total = gs
    by_x = None if g_mean is None else g_mean / total
    by_scale = g_total
    if needs[1] and by_x is not None:
        by_scale = -(by_x * mean) if g_total is None else g_total - by_x * mean
    return (by_x.expand(self_meta.shape) if needs[0] and by_x is not None else None), (by_scale.expand(scale_meta.shape) if needs[1] else None)


weighted_mean = row("_weighted_mean(Tensor self, Tensor scale) -> (Tensor mean, Tensor total)", REDUCE, lambda x, w: (E.row_sum(x) / E.row_sum(w), E.row_sum(w)),
                    _weighted_mean_vjp, dtypes="f", ref=lambda x, w: (x.sum() / w.sum(), w.sum()), samples=lambda t: [(t((7,)), t((7,), 0.5, 2))], ulp=16.0,
                    public="cross_entropy", doc="The sum of self over the sum of scale, and that sum.")
