"""Sets of values: what parameters and samples of distributions must be in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Constraint:
    """A set; ``check(value)`` says element by element (or event by event) whether a tensor is in it."""

    is_discrete = False
    event_dim = 0

    def __init__(self, name: str, check: Callable[[Any], Any], is_discrete: bool = False, event_dim: int = 0) -> None:
        self.name, self._check, self.is_discrete, self.event_dim = name, check, is_discrete, event_dim

    def check(self, value: Any) -> Any:
        """A bool tensor.

        >>> import tensorx as tx
        >>> positive.check(tx.tensor([1.0, 0.0]))
        tensor([ True, False])
        """
        return self._check(value)

    def __repr__(self) -> str:
        return self.name


def _whole(x: Any) -> Any:
    return x % 1 == 0


def _square(x: Any) -> Any:
    return x.shape[-1] == x.shape[-2]


def _positive_definite(x: Any) -> Any:
    import tensorx as tx

    symmetric = tx.isclose(x, x.mT, atol=1e-6).all(-2).all(-1)
    return symmetric & (tx.linalg.cholesky_ex(x).info == 0)


real = Constraint("Real()", lambda x: x == x)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), event_dim=1)
positive = Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
unit_interval = Constraint("Interval(lower_bound=0.0, upper_bound=1.0)", lambda x: (x >= 0) & (x <= 1))
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), True)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", lambda x: _whole(x) & (x >= 0), True)
simplex = Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), event_dim=1)
one_hot = Constraint("OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), True, 1)
lower_cholesky = Constraint(
    "LowerCholesky()", lambda x: (x.tril() == x).all(-1).all(-1) & (x.diagonal(0, -2, -1) > 0).all(-1), event_dim=2
)
positive_definite = Constraint("PositiveDefinite()", _positive_definite, event_dim=2)


def interval(lower: Any, upper: Any) -> Constraint:
    """From ``lower`` to ``upper``."""
    return Constraint(f"Interval(lower_bound={lower}, upper_bound={upper})", lambda x: (x >= lower) & (x <= upper))


def integer_interval(lower: int, upper: int) -> Constraint:
    """Whole numbers from ``lower`` to ``upper``."""
    name = f"IntegerInterval(lower_bound={lower}, upper_bound={upper})"
    return Constraint(name, lambda x: _whole(x) & (x >= lower) & (x <= upper), True)


def independent(base: Constraint, dims: int) -> Constraint:
    """``base`` for all elements of the last ``dims`` dimensions."""

    def check(x: Any) -> Any:
        inside = base.check(x)
        return inside.flatten(inside.dim() - dims).all(-1) if dims else inside

    return Constraint(f"IndependentConstraint({base}, {dims})", check, base.is_discrete, base.event_dim + dims)


__all__ = [
    "Constraint",
    "boolean",
    "independent",
    "integer_interval",
    "interval",
    "lower_cholesky",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "real",
    "real_vector",
    "simplex",
    "unit_interval",
]
