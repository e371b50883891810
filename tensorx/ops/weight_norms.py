"""Weights as a direction and a length: norms over all axes but one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.ops.families import composite
from tensorx.tensor import Tensor, normalize_dim


def _others(ndim: int, dim: int) -> tuple[int, ...]:
    """The axes that the norm runs over; ``dim`` -1 means all of them."""
    return tuple(i for i in range(ndim) if dim == -1 or i != normalize_dim(dim, ndim, "norm_except_dim"))


def _np_except(v: Any, pow: int = 2, dim: int = 0) -> Any:
    return (np.abs(v)**pow).sum(_others(v.ndim, dim), keepdims=dim != -1)**(1 / pow)


@composite("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", ref=_np_except, dtypes="f", ulp=16.0,
           samples=lambda t: [(t((3, 4)),), (t((2, 3, 4)), 2, 1), (t((2, 3)), 2, -1)], doc="The norm over all dimensions but one; over all of them for dim -1.")
def norm_except_dim(v: Tensor, pow: int, dim: int) -> Tensor:
    others = _others(len(v._shape), dim)
    return v.norm(pow, others, keepdim=dim != -1) if others else v.abs()  # type: ignore[attr-defined]  # of the table


@composite("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", ref=lambda v, g, dim=0: v * (g / _np_except(v, 2, dim)), dtypes="f", ulp=16.0, domain=(0.5, 3.0),
           samples=lambda t: [(t((3, 4)), t((3, 1))), (t((2, 3, 4)), t((1, 3, 1)), 1)], doc="v with its norms (see norm_except_dim) replaced by g.")
def weight_norm(v: Tensor, g: Tensor, dim: int) -> Tensor:
    return v * (g / norm_except_dim(v, 2, dim))
