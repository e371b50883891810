"""Distributions of vectors."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.distributions import constraints
from tensorx.distributions.distribution import Distribution


class Independent(Distribution):
    """Another distribution, the last ``reinterpreted_batch_ndims`` dimensions of whose batch are one event.

    Example:
        >>> import tensorx as tx
        >>> d = tx.distributions.Independent(tx.distributions.Normal(tx.zeros(3), tx.ones(3)), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(tx.zeros(3))
        (tensorx.Size([]), tensorx.Size([3]), tensor(-2.7568))
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        n = reinterpreted_batch_ndims
        if n > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {n} vs {len(base_distribution.batch_shape)}"
            )
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        inner = n + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        super().__init__(shape[: len(shape) - inner], shape[len(shape) - inner :], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the other distribution."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """That of the other distribution, for all elements of an event."""
        return constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The mode."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws with gradient."""
        return self.base_dist.rsample(sample_shape)

    def _summed(self, x: Any) -> Any:
        n = self.reinterpreted_batch_ndims
        return x.sum(tuple(range(-n, 0))) if n else x

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        """The entropy."""
        return self._summed(self.base_dist.entropy())

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        inner = self._event_shape[: self.reinterpreted_batch_ndims]
        return Independent(
            self.base_dist.expand((*batch_shape, *inner)), self.reinterpreted_batch_ndims, validate_args=False
        )

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MultivariateNormal(Distribution):
    """Normal vectors with mean ``loc`` and a covariance, given as one of three matrices.

    Example:
        >>> import tensorx as tx
        >>> d = tx.distributions.MultivariateNormal(tx.zeros(2), tx.eye(2))
        >>> d.log_prob(tx.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = tx.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        matrix = matrix.expand((*batch, -1, -1))
        self.__dict__[name] = matrix
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._tril = matrix
        elif name == "covariance_matrix":
            self._tril = tx.linalg.cholesky(matrix)
        else:
            flipped = tx.linalg.cholesky(matrix.flip(-2, -1)).flip(-2, -1).mT
            unit = tx.eye(loc.shape[-1], dtype=loc.dtype, device=loc.device)
            self._tril = tx.linalg.solve_triangular(flipped, unit.expand_as(flipped), upper=False)

    def __getattr__(self, name: str) -> Any:
        if name == "scale_tril":
            return self._tril
        if name == "covariance_matrix":
            return self._tril @ self._tril.mT
        if name == "precision_matrix":
            return tx.linalg.inv(self._tril @ self._tril.mT)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return self._tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        noise = tx.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return self._tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._check_value(value)
        apart = (value - self.loc).unsqueeze(-1)
        shape = tx.broadcast_shapes(apart.shape[:-2], self._tril.shape[:-2])
        tril = self._tril.expand((*shape, *self._tril.shape[-2:]))
        z = tx.linalg.solve_triangular(tril, apart.expand((*shape, *apart.shape[-2:])), upper=False).squeeze(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + z.square().sum(-1)) - self._half_log_det()

    def entropy(self) -> Any:
        """The entropy."""
        return (0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()).expand(
            self._batch_shape
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch."""
        loc, tril = self.loc.expand((*batch_shape, -1)), self._tril.expand((*batch_shape, -1, -1))
        return type(self)(loc, scale_tril=tril, validate_args=False)


__all__ = ["Independent", "MultivariateNormal"]
