"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.distributions import constraints
from tensorx.distributions.distribution import Distribution, broadcast_all


class _LocScale(Distribution):
    """Moved by ``loc`` and stretched by ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _standard(self, value: Any) -> Any:
        self._check_value(value)
        return (value - self.loc) / self.scale

    def _uniform(self, sample_shape: Any) -> Any:
        """In (0, 1): draws in [0, 1) moved off the end."""
        shape = self._extended_shape(sample_shape)
        return tx.rand(shape, dtype=self.loc.dtype, device=self.loc.device).clamp(tx.finfo(self.loc.dtype).tiny)


class Normal(_LocScale):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    Example:
        >>> import tensorx as tx
        >>> d = tx.distributions.Normal(0.0, 1.0)
        >>> d.log_prob(tx.tensor(0.0))
        tensor(-0.9189)
    """

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    mode = mean

    @property
    def stddev(self) -> Any:
        """``scale``."""
        return self.scale

    @property
    def variance(self) -> Any:
        """``scale ** 2``."""
        return self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        noise = tx.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        z = self._standard(value)
        return -0.5 * z * z - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        return 0.5 * (1 + tx.erf(self._standard(value) / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return self.loc + self.scale * tx.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        """The entropy."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class LogNormal(Normal):
    """What has a normal logarithm.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    support = constraints.positive

    @property
    def mean(self) -> Any:
        """``exp(loc + scale ** 2 / 2)``."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        """``exp(loc - scale ** 2)``."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        """The variance."""
        s = self.scale.pow(2)
        return s.expm1() * (2 * self.loc + s).exp()

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        return super().rsample(sample_shape).exp()

    def _standard(self, value: Any) -> Any:
        self._check_value(value)
        return (value.log() - self.loc) / self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        return super().log_prob(value) - value.log()

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return super().icdf(value).exp()

    def entropy(self) -> Any:
        """The entropy."""
        return super().entropy() + self.loc


class Laplace(_LocScale):
    """The double exponential distribution around ``loc``.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Laplace(0.0, 1.0).log_prob(tx.tensor(2.0))
        tensor(-2.6931)
    """

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Any:
        """``2 * scale ** 2``."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        u = 2 * self._uniform(sample_shape) - 1
        return self.loc - self.scale * u.sign() * tx.log1p(-u.abs().clamp(max=1 - tx.finfo(u.dtype).eps / 2))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        return -(2 * self.scale).log() - self._standard(value).abs()

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * tx.expm1(-z.abs())

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * tx.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        """The entropy."""
        return 1 + (2 * self.scale).log()


class Cauchy(_LocScale):
    """The Cauchy distribution: it has neither mean nor variance.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Cauchy(0.0, 1.0).cdf(tx.tensor(0.0))
        tensor(0.5000)
    """

    @property
    def mean(self) -> Any:
        """NaN."""
        return tx.full_like(self.loc, math.nan)

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Infinity."""
        return tx.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - self._standard(value).square().log1p()

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        return tx.atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return tx.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        """The entropy."""
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_LocScale):
    """The Gumbel distribution, of the largest of many draws.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    @property
    def mean(self) -> Any:
        """``loc + 0.5772 * scale``."""
        return self.loc + self.scale * 0.57721566490153286060

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """``(pi * scale) ** 2 / 6``."""
        return (math.pi / math.sqrt(6) * self.scale).pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        u = self._uniform(sample_shape).clamp(max=1 - tx.finfo(self.loc.dtype).eps / 2)
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        y = -self._standard(value)
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        return (-(-self._standard(value)).exp()).exp()

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        """The entropy."""
        return self.scale.log() + (1 + 0.57721566490153286060)


class Uniform(Distribution):
    """Equally dense in [low, high).

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Uniform(0.0, 4.0).entropy()
        tensor(1.3863)
    """

    arg_constraints = {"low": constraints.real, "high": constraints.real}
    has_rsample = True
    _parameters = ("low", "high")

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not (self.low < self.high).all().item():
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Any:
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Any:
        """``(high - low) ** 2 / 12``."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        u = tx.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._check_value(value)
        inside = (self.low <= value) & (self.high > value)
        return tx.where(inside, 0.0, -math.inf) - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """The entropy."""
        return (self.high - self.low).log()


class Exponential(Distribution):
    """The exponential distribution with ``rate``.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _parameters = ("rate",)

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """``1 / rate``."""
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Any:
        """0."""
        return tx.zeros_like(self.rate)

    @property
    def variance(self) -> Any:
        """``1 / rate ** 2``."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        shape = self._extended_shape(sample_shape)
        return tx.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        self._check_value(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        return -tx.log1p(-value) / self.rate

    def entropy(self) -> Any:
        """The entropy."""
        return 1 - self.rate.log()


__all__ = ["Cauchy", "Exponential", "Gumbel", "Laplace", "LogNormal", "Normal", "Uniform"]
