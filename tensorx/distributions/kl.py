"""The Kullback-Leibler divergence of pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorx as tx
from tensorx.distributions.continuous import Exponential, Laplace, Normal, Uniform
from tensorx.distributions.discrete import Bernoulli, Categorical, Geometric
from tensorx.distributions.distribution import Distribution
from tensorx.distributions.multivariate import Independent, MultivariateNormal
from tensorx.nn import functional as F

_RULES: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorator: the divergence of a ``type_p`` from a ``type_q``."""

    def decorate(f: Any) -> Any:
        _RULES[type_p, type_q] = f
        return f

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The expectation under ``p`` of ``log p - log q``. NotImplementedError for a pair that has no rule.

    >>> import tensorx as tx
    >>> kl_divergence(tx.distributions.Normal(1.0, 1.0), tx.distributions.Normal(0.0, 1.0))
    tensor(0.5000)
    """
    fits = [(a, b) for a, b in _RULES if isinstance(p, a) and isinstance(q, b)]
    if not fits:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    closest = min(fits, key=lambda pair: (type(p).__mro__.index(pair[0]), type(q).__mro__.index(pair[1])))
    return _RULES[closest](p, q)


@register_kl(Normal, Normal)
def _normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Any:
    inside = (q.low <= p.low) & (q.high >= p.high)
    return tx.where(inside, ((q.high - q.low) / (p.high - p.low)).log(), math.inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    second = (width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)) / (2 * q.scale.pow(2))
    return (math.sqrt(2 * math.pi) * q.scale / width).log() + second


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Any:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    one = tx.where(q.probs == 0, math.inf, one)
    zero = tx.where(q.probs == 1, math.inf, zero)
    return tx.where(p.probs == 0, 0.0, one) + tx.where(p.probs == 1, 0.0, zero)


@register_kl(Geometric, Geometric)
def _geometrics(p: Any, q: Any) -> Any:
    return -p.entropy() - tx.log1p(-q.probs) / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _categoricals(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t = tx.where(q.probs == 0, math.inf, t)
    return tx.where(p.probs == 0, 0.0, t).sum(-1)


@register_kl(Independent, Independent)
def _independents(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    n = p.event_shape[0]
    shape = tx.broadcast_shapes(q._tril.shape[:-2], p._tril.shape[:-2])
    lower = q._tril.expand((*shape, n, n))
    spread = tx.linalg.solve_triangular(lower, p._tril.expand((*shape, n, n)), upper=False).square().sum((-2, -1))
    apart = (q.loc - p.loc).expand((*shape, n)).unsqueeze(-1)
    far = tx.linalg.solve_triangular(lower, apart, upper=False).square().sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + far - n)


__all__ = ["kl_divergence", "register_kl"]
