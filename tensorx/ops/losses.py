"""Elementwise losses as rows: one kernel forward, one backward with the gradients of all operands. Reductions are applied by nn.functional."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes, faults
from tensorx.ops import domain
from tensorx.ops import expr as E
from tensorx.ops.activations import logistic
from tensorx.ops.arithmetic import zero
from tensorx.ops.entropy import cross_entropy
from tensorx.ops.families import elementwise
from tensorx.ops.kinds.index import Index
from tensorx.tensor import Tensor


def _pair(t: Any, *rest: Any) -> list[Any]:
    return [(t((3, 4)), t((3, 4)), *rest), (t((2, 1, 4)), t((3, 1)), *rest)]


def _signs(t: Any) -> Any:
    """1 and -1."""
    from tensorx.ops.arithmetic import where
    return where(t.mask((3, 4)), t((3, 4), 1, 1), t((3, 4), -1, -1))


# regression


def _both(g):
    """The cotangents of a function of the difference."""
    return g, -g


def _l1_vjp(g, out, x, y):
    d = x - y
    if not d.dtype.is_complex:
        return _both(g * E.sign(d))
    unit = E.where(E.eq(out, 0), 0.0, g / out)
    return _both(E.complex(unit * E.real(d), unit * E.imag(d)))


l1 = elementwise("_l1_loss(Tensor self, Tensor target) -> Tensor", lambda x, y: E.abs(x - y), _l1_vjp, dtypes="fc", ref=lambda x, y: np.abs(x - y), samples=_pair,
                 doc="abs(self - target).")
mse = elementwise("_mse_loss(Tensor self, Tensor target) -> Tensor", lambda x, y: (x - y) * (x - y), lambda g, out, x, y: _both(g * ((x - y) * 2)), dtypes="f", ulp=8.0,
                  ref=lambda x, y: (x - y)**2, samples=_pair, doc="The square of self - target.")


def _smooth_l1(x, y, beta):
    a = E.abs(x - y)
    return E.where(a < beta, a * a * 0.5 / beta, a - beta * 0.5)


smooth_l1 = elementwise("_smooth_l1_loss(Tensor self, Tensor target, float beta) -> Tensor", _smooth_l1,
                        lambda g, out, x, y, beta: _both(g * E.where(E.abs(x - y) < beta, (x - y) / beta, E.sign(x - y))), dtypes="f", ulp=16.0,
                        ref=lambda x, y, beta: np.where(abs(x - y) < beta, (x - y)**2 / (2 * beta), abs(x - y) - beta / 2), samples=lambda t: _pair(t, 1.0),
                        doc="The square of self - target over 2 beta, and abs(self - target) - beta / 2 where that is above beta.")


def _huber(x, y, delta):
    a = E.abs(x - y)
    return E.where(a <= delta, a * a * 0.5, delta * (a - delta * 0.5))


huber = elementwise("_huber_loss(Tensor self, Tensor target, float delta) -> Tensor", _huber,
                    lambda g, out, x, y, delta: _both(g * E.where(E.abs(x - y) <= delta, x - y, delta * E.sign(x - y))), dtypes="f", ulp=16.0,
                    ref=lambda x, y, delta: np.where(abs(x - y) <= delta, (x - y)**2 / 2, delta * (abs(x - y) - delta / 2)), samples=lambda t: _pair(t, 1.5),
                    doc="Half the square of self - target, and delta * (abs(self - target) - delta / 2) where that is above delta.")


# probabilities


def _times(loss, weight):
    return loss if weight is None else loss * weight


def _bce(x, y, weight):
    return _times((y - 1) * E.max(E.log1p(-x), -100.0) - y * E.max(E.log(x), -100.0), weight)


def _bce_vjp(g, out, x, y, weight):
    """The slope's denominator is kept from 0, as the logarithms are kept above -100."""
    h = _times(g, weight)
    by_weight = None if weight is None else g * _bce(x, y, None)
    return h * ((x - y) / E.max((1 - x) * x, 1e-12)), h * (E.log1p(-x) - E.log(x)), by_weight


def _np_bce(x, y, weight):
    return -(y * np.log(x) + (1 - y) * np.log(1 - x)) * (1 if weight is None else weight)


bce = elementwise("_binary_cross_entropy(Tensor self, Tensor target, Tensor? weight) -> Tensor", _bce, _bce_vjp, dtypes="f", ref=_np_bce, ulp=32.0,
                  samples=lambda t: [(t((3, 4), 0.1, 1), t((3, 4), 0, 1), None), (t((3, 4), 0.1, 1), t((3, 4), 0, 1), t((4,)))],
                  doc="The binary cross entropy of probabilities; logarithms stay above -100.")


def _tail(x):
    """log(1 + exp(-x)) without overflow."""
    return E.max(-x, 0.0) + E.log1p(E.exp(-E.abs(x)))


def _kept(factor, x):
    """``factor * x``; 0 where the factor is 0, also of an infinity."""
    return E.where(E.eq(factor, 0) & E.isinf(x), 0.0, factor * x)


def _bce_logits(x, y, weight, pos_weight):
    return _times(_kept(_times(y, pos_weight), _tail(x)) + _kept(1 - y, _tail(-x)), weight)


def _bce_logits_vjp(g, out, x, y, weight, pos_weight):
    h = _times(g, weight)
    t = y if pos_weight is None else y * pos_weight
    by_weight = None if weight is None else g * _bce_logits(x, y, None, pos_weight)
    by_pos = None if pos_weight is None else h * y * _tail(x)
    by_x = logistic(x) - y if pos_weight is None else (t + 1 - y) * logistic(x) - t
    return h * by_x, h * (-x if pos_weight is None else pos_weight * _tail(x) - _tail(-x)), by_weight, by_pos


def _np_bce_logits(x, y, weight, pos_weight):
    scale = 1 if pos_weight is None else 1 + (pos_weight - 1) * y
    return ((1 - y) * x + scale * np.logaddexp(0, -x)) * (1 if weight is None else weight)


bce_logits = elementwise("_bce_with_logits(Tensor self, Tensor target, Tensor? weight, Tensor? pos_weight) -> Tensor", _bce_logits, _bce_logits_vjp, dtypes="f",
                         ref=_np_bce_logits, ulp=32.0, samples=lambda t: [
                             (t((3, 4)), t((3, 4), 0, 1), None, None), (t((3, 4)), t((3, 4), 0, 1), t((4,)), None), (t((3, 4)), t((3, 4), 0, 1), None, t((4,), 0.5, 2)),
                             (t((3, 4)), t((3, 4), 0, 1), t((3, 1)), t((4,), 0.5, 2))],
                         public="binary_cross_entropy_with_logits", doc="The binary cross entropy of logits without overflow.")


def _kl_div(x, y, log_target):
    if log_target:
        return E.exp(y) * (y - x)
    return E.where(E.eq(y, 0), 0.0, y * E.log(E.where(E.eq(y, 0), 1.0, y))) - _kept(y, x)


def _kl_div_vjp(g, out, x, y, log_target):
    if log_target:
        return -(g * E.exp(y)), g * (E.exp(y) * (y - x + 1))
    return -(g * y), g * (E.where(E.eq(y, 0), 0.0, E.log(E.where(E.eq(y, 0), 1.0, y)) + 1) - x)


kl_div = elementwise("_kl_div(Tensor self, Tensor target, bool log_target) -> Tensor", _kl_div, _kl_div_vjp, dtypes="f", ulp=16.0,
                     ref=lambda x, y, log_target: np.exp(y) * (y - x) if log_target else y * (np.log(y) - x),
                     samples=lambda t: [(t((3, 4)), t((3, 4), 0.1, 1), False), (t((3, 4)), t((3, 1), 0.1, 1), False), (t((3, 4)), t((3, 4)), True)],
                     doc="target * (log(target) - self), the term of the Kullback-Leibler divergence.")


def _poisson(x, y, log_input, full, eps):
    loss = E.exp(x) - y * x if log_input else x - y * E.log(x + eps)
    if not full:
        return loss
    safe = E.where(y > 1, y, 1.0)
    return loss + E.where(y > 1, safe * E.log(safe) - safe + E.log(safe * (2 * math.pi)) * 0.5, 0.0)


def _poisson_vjp(g, out, x, y, log_input, full, eps):
    by_x = E.exp(x) - y if log_input else 1 - y / (x + eps)
    by_y = -x if log_input else -E.log(x + eps)
    if full:
        safe = E.where(y > 1, y, 1.0)
        by_y = by_y + E.where(y > 1, E.log(safe) + 0.5 / safe, 0.0)
    return g * by_x, g * by_y


def _np_poisson(x, y, log_input, full, eps):
    loss = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    return loss + np.where(y > 1, y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y), 0) if full else loss


poisson_nll = elementwise("_poisson_nll(Tensor self, Tensor target, bool log_input, bool full, float eps) -> Tensor", _poisson, _poisson_vjp, dtypes="f", ulp=32.0,
                          ref=_np_poisson, samples=lambda t: [(t((3, 4)), t((3, 4), 0.1, 3), True, True, 1e-8), (t((3, 4), 0.5, 3), t((3, 4), 0.1, 3), False, False, 1e-8)],
                          public="poisson_nll_loss", doc="The negative log likelihood of Poisson counts; full adds Stirling's approximation.")


def _gaussian(x, y, var, full, eps):
    v = E.max(var, eps)
    loss = (E.log(v) + (x - y) * (x - y) / v) * 0.5
    return loss + 0.5 * math.log(2 * math.pi) if full else loss


def _gaussian_vjp(g, out, x, y, var, full, eps):
    """The variance's gradient is that of the raised one: PyTorch raises it outside of the graph."""
    v = E.max(var, eps)
    r = (x - y) / v
    return g * r, -(g * r), g * ((1 / v - r * r) * 0.5)


gaussian_nll = elementwise("_gaussian_nll(Tensor self, Tensor target, Tensor var, bool full, float eps) -> Tensor", _gaussian, _gaussian_vjp, dtypes="f", ulp=32.0,
                           ref=lambda x, y, var, full, eps: 0.5 * (np.log(var) + (x - y)**2 / var + (np.log(2 * np.pi) if full else 0)),
                           samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 4), 0.5, 2), False, 1e-6), (t((3, 4)), t((3, 4)), t((3, 1), 0.5, 2), True, 1e-6)],
                           public="gaussian_nll_loss", doc="The negative log likelihood of normal numbers with a variance of at least eps.")


def _nll(x, target, weight, ignore_index):
    label = E.cast(target.args[0] if target.op == "cast" else target, dtypes.int64)
    valid = E.ne(label, E.cast(ignore_index, dtypes.int64))
    scale = E.const(1, x.dtype) if weight is None else weight
    return E.where(valid, -x if weight is None else -(x * weight), 0.0), E.where(valid, scale, 0.0)


def _nll_vjp(g, out, x, target, weight, ignore_index):
    label = E.cast(target.args[0] if target.op == "cast" else target, dtypes.int64)
    valid = E.ne(label, E.cast(ignore_index, dtypes.int64))
    return E.where(valid, -_times(g[0], weight), 0.0), None, None if weight is None else E.where(valid, g[1] - g[0] * x, 0.0)


def _np_nll(x, target, weight, ignore_index):
    w = np.ones_like(x) if weight is None else weight
    return np.where(target == ignore_index, 0, -x * w), np.where(target == ignore_index, 0, w)


nll = elementwise("_nll(Tensor self, Tensor target, Tensor? weight, Seed ignore_index) -> (Tensor loss, Tensor scale)", _nll, _nll_vjp, dtypes="f", ref=_np_nll,
                  samples=lambda t: [(t((5, 4)), t.index((5, 4), 4), None, 2), (t((5, 4)), t.index((5, 4), 4), t((5, 4)), 1)],
                  public="nll_loss", doc="Minus the picked log-probability, weighted, and the weight; both 0 where target is ignore_index.")


# margins


def _hinge(x, y, margin):
    return E.where(E.ne(y, 1), E.max(margin - x, 0.0), 0.0) + E.where(E.ne(y, -1), x, 0.0)


def _hinge_vjp(g, out, x, y, margin):
    return E.where(E.ne(y, 1) & (margin - x >= 0), -g, 0.0) + E.where(E.ne(y, -1), g, 0.0), zero(g)


hinge_embedding = elementwise("_hinge_embedding(Tensor self, Tensor target, float margin) -> Tensor", _hinge, _hinge_vjp, dtypes="f",
                              ref=lambda x, y, margin: np.where(y == 1, x, np.maximum(0, margin - x)), samples=lambda t: [(t((3, 4)), _signs(t), 1.0)],
                              public="hinge_embedding_loss", doc="self where target is 1, max(0, margin - self) where it is -1.")


def _ranking(a, b, y, margin):
    return E.max(margin - y * (a - b), 0.0)


def _ranking_vjp(g, out, a, b, y, margin):
    slope = E.where(margin - y * (a - b) >= 0, g, 0.0)
    return -(slope * y), slope * y, -(slope * (a - b))


margin_ranking = elementwise("_margin_ranking(Tensor input1, Tensor input2, Tensor target, float margin) -> Tensor", _ranking, _ranking_vjp, dtypes="f",
                             ref=lambda a, b, y, margin: np.maximum(0, margin - y * (a - b)), samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 4)), 0.5)],
                             public="margin_ranking_loss", doc="max(0, margin - target * (input1 - input2)).")
soft_margin = elementwise("_soft_margin(Tensor self, Tensor target) -> Tensor", lambda x, y: _tail(x * y),
                          lambda g, out, x, y: (-(g * y * logistic(-(x * y))), -(g * x * logistic(-(x * y)))), dtypes="f", ulp=16.0,
                          ref=lambda x, y: np.logaddexp(0, -x * y), samples=lambda t: [(t((3, 4)), t((3, 4)))], public="soft_margin_loss", doc="log(1 + exp(-self * target)) without overflow.")


# values that a loss is not defined for


outside_unit = elementwise("_outside_unit(Tensor self) -> Tensor", lambda x: E.where((x >= 0) & (x <= 1), E.const(0, dtypes.int32), 1), dtypes="f",
                           ref=lambda x: np.where((x >= 0) & (x <= 1), 0, 1), special=(0.0, 1.0, np.nan, np.inf), public="binary_cross_entropy", doc="1 where self is outside of [0, 1] or NaN, else 0.")


def check_unit(name: str, t: Tensor) -> None:
    """BadValue (at the next wait, on other devices than the cpu) unless all elements are in [0, 1]."""
    if t.numel() and t.device.type != "meta":
        domain.report(outside_unit, outside_unit(t.detach()), f"{name}: all elements of input should be between 0 and 1")


def check_classes(name: str, label: Tensor, classes: int) -> None:
    """IndexError (at the next wait, on other devices than the cpu) unless all class indices are in [0, classes)."""
    if not label.numel() or label.device.type == "meta":
        return
    meaning = faults.Classes(classes, name)
    if label.device.type != "cpu":
        domain.walk(cross_entropy, Index(label, label._get_strides(), classes, 0, meaning=meaning))
        return
    found = label._array()
    bad = (found < 0) | (found >= classes)
    if bad.any():
        at = int(bad.argmax())
        raise meaning.error(name, at, int(found.flat[at]))
