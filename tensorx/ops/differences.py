"""Differences and integrals along a dimension: diff, gradient, trapezoid, vander."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops.families import composite
from tensorx.ops.joining import cat
from tensorx.tensor import Tensor, normalize_dim


def _np_diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    parts = [a for a in (prepend, x, append) if a is not None]
    return np.diff(np.concatenate(parts, dim), n, dim)


@composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", ref=_np_diff,
           samples=lambda t: [(t((3, 4)),), (t((3, 5)), 2, 1), (t((3, 4)), 1, 0, t((2, 4)), t((1, 4)))], doc="Differences of neighbours along dim, n times over.")
def diff(x: Any, n: int, dim: int, prepend: Any, append: Any) -> Any:
    if not x.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = normalize_dim(dim, x.dim(), "diff")
    if n == 0:
        return x.clone()
    parts = tuple(t for t in (prepend, x, append) if t is not None)
    for t in parts:
        if t.dim() != x.dim():
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        if any(a != b for i, (a, b) in enumerate(zip(t._shape, x._shape, strict=True)) if i != d):
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension")
    x = cat(parts, d) if len(parts) > 1 else x
    for _ in range(min(n, x._shape[d])):
        m = max(x._shape[d] - 1, 0)
        after, before = x.narrow(d, x._shape[d] - m, m), x.narrow(d, 0, m)
        x = after.logical_xor(before) if x.dtype is dtypes.bool_ else after - before
    return x


def _steps(y: Any, x: Any, d: int) -> Any:
    """Differences of the abscissae ``x``, a vector along ``d`` or of y's shape, ready to multiply with y's."""
    if x.dtype is dtypes.bool_ or y.dtype is dtypes.bool_:
        raise RuntimeError("trapezoid: received a bool input for `x` or `y`, but bool is not supported")
    if x.dim() == 1:
        if x._shape[0] != y._shape[d]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        x = x.reshape([-1 if i == d else 1 for i in range(y.dim())])
    while x.dim() < y.dim():
        x = x.unsqueeze(0)
    return diff(x, 1, d)


def _areas(y: Any, d: int) -> Any:
    """Sums of neighbours along ``d``."""
    m = max(y._shape[d] - 1, 0)
    return y.narrow(d, 0, m) + y.narrow(d, y._shape[d] - m, m)


def _check_trapezoid(y: Any) -> None:
    if y.dtype is dtypes.bool_:
        raise RuntimeError("trapezoid: received a bool input for `y`, but bool is not supported")


def _np_cumulative(y: Any, x: Any = None, *, dx: float = 1, dim: int = -1) -> Any:
    y = np.moveaxis(np.asarray(y), dim, -1)
    width = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum(width * (y[..., 1:] + y[..., :-1]) / 2, -1), -1, dim)


POINTS = {"dtypes": "ifc", "samples": lambda t: [(t((3, 4)), t.unique(4, 4)), (t((3, 5)), t((3,)) if t.dtype.kind >= dtypes.FLOAT else t.unique(3, 3), {"dim": 0})]}
EVEN = {"dtypes": "ifc", "samples": lambda t: [(t((3, 4)),), (t((3, 4)), {"dx": 2, "dim": 0})]}


def _np_trapezoid(y: Any, x: Any = None, *, dx: float = 1, dim: int = -1) -> Any:
    return np.trapezoid(y, x, dx, dim)


for _name in ("trapezoid", "trapz"):
    composite(f"{_name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", ref=_np_trapezoid, ulp=16, doc="The integral over points along dim, by the trapezoidal rule.", **POINTS)(
        lambda y, x, dim: (_steps(y, x, normalize_dim(dim, y.dim(), "trapezoid")) * _areas(y, normalize_dim(dim, y.dim(), "trapezoid"))).sum(dim) / 2)
    composite(f"{_name}.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", ref=_np_trapezoid, ulp=16, doc="The integral over points dx apart along dim, by the trapezoidal rule.", **EVEN)(
        lambda y, dx, dim: _even(y, dx, dim))


def _even(y: Any, dx: Any, dim: int) -> Any:
    _check_trapezoid(y)
    return _areas(y, normalize_dim(dim, y.dim(), "trapezoid")).sum(dim) * (dx / 2)


@composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", ref=_np_cumulative, ulp=16, doc="Running integrals over points along dim.", **POINTS)
def cumulative_trapezoid(y: Any, x: Any, dim: int) -> Any:
    d = normalize_dim(dim, y.dim(), "cumulative_trapezoid")
    return (_steps(y, x, d) * _areas(y, d)).cumsum(d) / 2


@composite("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", ref=_np_cumulative, ulp=16, doc="Running integrals over points dx apart along dim.", **EVEN)
def cumulative_trapezoid_even(y: Any, dx: Any, dim: int) -> Any:
    _check_trapezoid(y)
    d = normalize_dim(dim, y.dim(), "cumulative_trapezoid")
    return _areas(y, d).cumsum(d) * (dx / 2)


def _np_vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    return np.vander(x, N, increasing)


@composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", ref=_np_vander, dtypes="ifc", ulp=16, samples=lambda t: [(t((4,)),), (t((3,)), 5, True)],
           doc="Powers of a vector's elements as rows: a Vandermonde matrix.")
def vander(x: Any, N: int | None, increasing: bool) -> Any:
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._shape[0] if N is None else N
    if n < 0:
        raise RuntimeError(f"vander: argument 'N' must not be negative; got {n}")
    if not n:
        return x.new_zeros((x._shape[0], 0))
    x = x.long() if x.dtype.kind <= dtypes.INT else x
    powers = cat((x.new_full((x._shape[0], 1), 1), x.unsqueeze(1).expand(x._shape[0], n - 1).cumprod(1)), 1)
    return powers if increasing else powers.flip(1)


def _slope_even(x: Any, d: int, h: Any, edge_order: int) -> Any:
    """Central differences of points ``h`` apart, one-sided ones at the ends."""
    n = x._shape[d]

    def at(i: int, m: int = 1) -> Any:
        return x.narrow(d, i, m)
    middle = (at(2, n - 2) - at(0, n - 2)) / (2 * h)
    if edge_order == 1:
        return cat(((at(1) - at(0)) / h, middle, (at(n - 1) - at(n - 2)) / h), d)
    return cat(((at(1) * 4 - at(0) * 3 - at(2)) / (2 * h), middle, (at(n - 1) * 3 - at(n - 2) * 4 + at(n - 3)) / (2 * h)), d)


def _slope(x: Any, d: int, points: Any, edge_order: int) -> Any:
    """Second-order differences over points at ``points`` (Fornberg's weights for three neighbours), one-sided ones at the ends."""
    n = x._shape[d]
    h = diff(points, 1, 0).reshape([-1 if i == d else 1 for i in range(x.dim())])

    def at(i: int, m: int = 1) -> Any:
        return x.narrow(d, i, m)

    def step(i: int, m: int = 1) -> Any:
        return h.narrow(d, i, m)
    a, b = step(0, n - 2), step(1, n - 2)
    middle = at(0, n - 2) * (-b / (a * (a + b))) + at(1, n - 2) * ((b - a) / (a * b)) + at(2, n - 2) * (a / (b * (a + b)))
    if edge_order == 1:
        return cat(((at(1) - at(0)) / step(0), middle, (at(n - 1) - at(n - 2)) / step(n - 2)), d)
    a, b = step(0), step(1)
    first = at(0) * (-(a * 2 + b) / (a * (a + b))) + at(1) * ((a + b) / (a * b)) + at(2) * (-a / (b * (a + b)))
    a, b = step(n - 3), step(n - 2)
    last = at(n - 3) * (b / (a * (a + b))) + at(n - 2) * (-(b + a) / (a * b)) + at(n - 1) * ((b * 2 + a) / (b * (a + b)))
    return cat((first, middle, last), d)


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slope along each dimension of ``dim`` (all, by default), from neighbours' differences.

    ``spacing`` is the distance of points, one distance a dimension, or one tensor of coordinates a dimension. RuntimeError where these do not
    fit, or where there are too few points.

    >>> import tensorx
    >>> tensorx.gradient(tensorx.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    given = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [normalize_dim(d, input.dim(), "gradient") for d in given]
    if len(set(dims)) != len(dims):
        raise RuntimeError("torch.gradient expects dim to be unique")
    several = isinstance(spacing, list | tuple) or (isinstance(spacing, Tensor) and spacing.dim())
    spaces: Sequence[Any] = list(spacing) if isinstance(spacing, list | tuple) else [spacing] * (1 if several else len(dims))
    if len(spaces) != len(dims):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length {len(dims)}, but got a list of length {len(spaces)}")
    for d in dims:
        if input._shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    x = input if input.dtype.is_floating_point or input.dtype.is_complex else input.to(dtypes.get_default_dtype())
    return tuple(_slope(x, d, s, edge_order) if isinstance(s, Tensor) and s.dim() else _slope_even(x, d, s, edge_order) for d, s in zip(dims, spaces, strict=True))


__all__ = ["cumulative_trapezoid", "diff", "gradient", "vander"]
