"""Distribution: what all distributions share."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.distributions.constraints import Constraint

_validate = __debug__


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype and device of the first tensor."""
    like = next((v for v in values if isinstance(v, tx.Tensor)), None)
    dtype = None if like is None else like.dtype
    made = [
        v
        if isinstance(v, tx.Tensor)
        else tx.tensor(v, dtype=dtype or tx.get_default_dtype(), device=like.device if like is not None else None)
        for v in values
    ]
    return tuple(tx.broadcast_tensors(*made))


class Distribution:
    """Base class. A batch of distributions has ``batch_shape``; one draw of one of them has ``event_shape``.

    Args:
        batch_shape: how many, as a shape.
        event_shape: of one draw.
        validate_args: check parameters and the values given to `log_prob`; ValueError for those out of range.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, Constraint] = {}
    support: Any

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = tx.Size(batch_shape), tx.Size(event_shape)
        self._validate_args = _validate if validate_args is None else validate_args
        if self._validate_args:
            self._check_parameters()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments where they are not told."""
        global _validate
        _validate = bool(value)

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if value is None or value.device.type == "meta":
                continue
            if not constraint.check(value.detach()).all().item():
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                    "satisfy the constraint {constraint}, "
                    f"but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one draw."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The mode."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, of shape ``sample_shape + batch_shape + event_shape``, without gradient."""
        with tx.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters; NotImplementedError where that is not possible."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """``sample((n,))``."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or probability) at ``value``."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """``exp(entropy())``."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Any:
        """All possible draws of a discrete distribution."""
        raise NotImplementedError

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to ``batch_shape``."""
        wanted = {name: getattr(self, name) for name in self._parameters}
        new = {name: v.expand((*batch_shape, *v.shape[v.dim() - self._inner(name) :])) for name, v in wanted.items()}
        return type(self)(**new, validate_args=False)

    _parameters: tuple[str, ...] = ()

    def _inner(self, name: str) -> int:
        """How many dimensions of a parameter belong to one distribution."""
        return self.arg_constraints[name].event_dim

    def _extended_shape(self, sample_shape: Any = ()) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _check_value(self, value: Any) -> None:
        if not self._validate_args:
            return
        if not isinstance(value, tx.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if tuple(value.shape[start:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        for i, j in zip(reversed((*value.shape,)), reversed((*self._batch_shape, *self._event_shape))):
            if i not in (1, j) and j != 1:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs "
                    f"{self._extended_shape()}."
                )
        support = self.support
        if not support.check(value.detach()).all().item():
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support}) of the distribution {self!r}"
            )

    def __repr__(self) -> str:
        found = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = ", ".join(f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in found.items())
        return f"{type(self).__name__}({shown})"


__all__ = ["Distribution", "broadcast_all"]
