"""Distributions of whole numbers and classes."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.distributions import constraints
from tensorx.distributions.distribution import Distribution, broadcast_all
from tensorx.nn import functional as F


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept off 0 and 1, so that their logarithms are finite."""
    eps = tx.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class _Either(Distribution):
    """Given by ``probs`` or by ``logits``; the other is computed when it is asked for."""

    probs: Any
    logits: Any

    def _take(self, probs: Any, logits: Any) -> Any:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        return logits if probs is None else probs

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameter expanded to ``batch_shape``."""
        name = "probs" if "probs" in self.__dict__ else "logits"
        value = self.__dict__[name]
        inner = (
            value.shape[value.dim() - len(self._event_shape or self._inside) :]
            if self._event_shape or self._inside
            else ()
        )
        return type(self)(**{name: value.expand((*batch_shape, *inner))}, validate_args=False)

    _inside: tuple[int, ...] = ()

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._given.shape

    @property
    def _given(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]


class Bernoulli(_Either):
    """1 with probability ``probs`` (or with log-odds ``logits``), else 0.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Bernoulli(probs=0.25).variance
        tensor(0.1875)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (value,) = broadcast_all(self._take(probs, logits))
        self.__dict__["logits" if probs is None else "probs"] = value
        super().__init__(value.shape, validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            self.probs = self.logits.sigmoid()
        elif name == "logits":
            p = clamp_probs(self.probs)
            self.logits = p.log() - tx.log1p(-p)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.__dict__[name]

    @property
    def mean(self) -> Any:
        """``probs``."""
        return self.probs

    @property
    def mode(self) -> Any:
        """1 where that is the likelier, NaN where both are equally likely."""
        return tx.where(self.probs == 0.5, float("nan"), (self.probs >= 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Any:
        """``probs * (1 - probs)``."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        with tx.no_grad():
            return tx.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The entropy."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1."""
        like = self._given
        values = tx.arange(2, dtype=like.dtype, device=like.device).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(_Either):
    """How often one fails before the first success, which has probability ``probs``.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (value,) = broadcast_all(self._take(probs, logits))
        self.__dict__["logits" if probs is None else "probs"] = value
        super().__init__(value.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (value.detach() > 0).all().item():
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found invalid values"
            )

    __getattr__ = Bernoulli.__getattr__

    @property
    def mean(self) -> Any:
        """``1 / probs - 1``."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        """0."""
        return tx.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """``(1 / probs - 1) / probs``."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        with tx.no_grad():
            u = tx.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
            return (u.clamp(min=tx.finfo(u.dtype).tiny).log() / tx.log1p(-self.probs)).floor()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        self._check_value(value)
        value, probs = broadcast_all(value, self.probs)
        fails = tx.where((probs == 1) & (value == 0), 0.0, value * tx.log1p(-tx.where(probs == 1, 0.0, probs)))
        return fails + probs.log()

    def entropy(self) -> Any:
        """The entropy."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Categorical(_Either):
    """One of n classes; the last dimension of ``probs`` (normalised) or ``logits`` is that of the classes.

    Example:
        >>> import tensorx as tx
        >>> d = tx.distributions.Categorical(probs=tx.tensor([1.0, 3.0]))
        >>> d.log_prob(tx.tensor(1)).exp()
        tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._take(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = value - value.logsumexp(-1, True)
        else:
            self.probs = value / value.sum(-1, True)
        self._num_events, self._inside = value.shape[-1], tuple(value.shape[-1:])
        super().__init__(value.shape[:-1], validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            self.probs = F.softmax(self.logits, -1)
        elif name == "logits":
            self.logits = clamp_probs(self.probs).log()
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.__dict__[name]

    @property
    def support(self) -> Any:
        """0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        """NaN: classes have no order."""
        return tx.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    variance = mean

    @property
    def mode(self) -> Any:
        """The likeliest class."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws: int64."""
        shape = self._extended_shape(sample_shape)
        count = tx.Size(sample_shape).numel()
        with tx.no_grad():
            drawn = tx.multinomial(self.probs.reshape(-1, self._num_events), count, True).t()
            return drawn.reshape(shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        self._check_value(value)
        value = value.long().unsqueeze(-1)
        shape = tx.broadcast_shapes(value.shape[:-1], self.logits.shape[:-1])
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, value.expand(*shape, 1)).squeeze(-1)

    def entropy(self) -> Any:
        """The entropy."""
        least = tx.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 to n - 1."""
        device = self._given.device
        values = tx.arange(self._num_events, device=device).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(Categorical):
    """`Categorical` whose draws are rows with a single 1.

    Example:
        >>> import tensorx as tx
        >>> tx.distributions.OneHotCategorical(tx.ones(4)).sample().sum()
        tensor(1.)
    """

    support: Any = constraints.one_hot

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        self._event_shape = tx.Size(self._inside)

    @property
    def mean(self) -> Any:
        """``probs``."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The likeliest class."""
        return F.one_hot(self.probs.argmax(-1), self._num_events).to(self.probs.dtype)

    @property
    def variance(self) -> Any:
        """``probs * (1 - probs)``."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        with tx.no_grad():
            count = tx.Size(sample_shape).numel()
            drawn = tx.multinomial(self.probs.reshape(-1, self._num_events), count, True).t()
            chosen = drawn.reshape((*sample_shape, *self._batch_shape))
            return F.one_hot(chosen, self._num_events).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        self._check_value(value)
        value, logits = broadcast_all(value, self.logits)
        return logits.gather(-1, value.argmax(-1, keepdim=True)).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All rows with a single 1."""
        n = self._num_events
        values = tx.eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose draws pass their gradient to ``probs``.

    Example:
        >>> import tensorx as tx
        >>> p = tx.tensor([0.5, 0.5], requires_grad=True)
        >>> tx.distributions.OneHotCategoricalStraightThrough(p).rsample().requires_grad
        True
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


__all__ = [
    "Bernoulli",
    "Categorical",
    "Geometric",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
]
