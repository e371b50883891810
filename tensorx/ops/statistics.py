"""Statistics and norms: var and std with PyTorch's older arguments, norms, medians, counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import BadIndex, DTypeError
from tensorx.ops import expr as E
from tensorx.ops import reduction as R
from tensorx.ops.families import composite, elementwise
from tensorx.ops.ordering import sort
from tensorx.tensor import Tensor, normalize_dim

Dim = Any


def _std_vjp(g: Any, self: Any, out: Any, self_meta: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """Through the variance; where all values are equal the gradient is 0, not NaN."""
    slope = (g / (out * 2)).masked_fill(out == 0, 0)
    return R._var_vjp(slope, self, self_meta, dim, correction, keepdim)


std = R.reduce("std(Tensor self, int[1]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor", lambda x, *rest: E.sqrt(R._var(x, *rest)), _std_vjp,
               dtypes="f", ref=lambda *a, **k: np.sqrt(R.np_var(*a, **k)),
               samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0), (t((2, 3, 4)), (0, 2), {"correction": 0, "keepdim": True})],
               doc="Standard deviation with Bessel's correction (or another one).")


def _np_unbiased(f: Any) -> Any:
    return lambda x, dim=None, unbiased=True, keepdim=False: f(R.np_var(x, dim, int(unbiased), keepdim))


def _older(name: str, op: Any, f: Any) -> None:
    """``unbiased`` instead of ``correction``: in the order (dim, unbiased, keepdim), or alone."""
    composite(f"{name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", dtypes="f", ref=_np_unbiased(f),
              samples=lambda t: [(t((3, 4)), 0, False), (t((3, 4)), (0, 1), True, True)], doc=f"{op.doc}")(
                  lambda x, dim, unbiased, keepdim: op(x, dim, correction=int(unbiased), keepdim=keepdim))
    composite(f"{name}.unbiased(Tensor self, bool unbiased=True) -> Tensor", dtypes="f", ref=lambda x, unbiased=True: f(R.np_var(x, None, int(unbiased))),
              samples=lambda t: [(t((3, 4)), False)], doc=f"{op.doc}")(lambda x, unbiased: op(x, None, correction=int(unbiased)))


_older("var", R.var, np.positive)
_older("std", std, np.sqrt)


def _with_mean(name: str, op: Any, f: Any) -> None:
    composite(f"{name}_mean(Tensor self, int[1]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> (Tensor {name}, Tensor mean)", dtypes="f",
              ref=lambda x, dim=None, correction=1, keepdim=False: (f(R.np_var(x, dim, correction, keepdim)), np.mean(x, axis=dim, keepdims=keepdim)),
              samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0)], doc=f"{op.doc[:-1]}, and the mean.")(
                  lambda x, dim, correction, keepdim: (op(x, dim, correction=correction, keepdim=keepdim), x.mean(dim, keepdim)))
    composite(f"{name}_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor {name}, Tensor mean)", dtypes="f",
              ref=lambda x, dim, unbiased=True, keepdim=False: (f(R.np_var(x, dim, int(unbiased), keepdim)), np.mean(x, axis=dim, keepdims=keepdim)),
              samples=lambda t: [(t((3, 4)), 0, False), (t((3, 4)), (0, 1), True, True)], doc=f"{op.doc[:-1]}, and the mean.")(
                  lambda x, dim, unbiased, keepdim: (op(x, dim, correction=int(unbiased), keepdim=keepdim), x.mean(dim, keepdim)))
    composite(f"{name}_mean.unbiased(Tensor self, bool unbiased=True) -> (Tensor {name}, Tensor mean)", dtypes="f",
              ref=lambda x, unbiased=True: (f(R.np_var(x, None, int(unbiased))), np.mean(x)), samples=lambda t: [(t((3, 4)), False)],
              doc=f"{op.doc[:-1]}, and the mean.")(lambda x, unbiased: (op(x, None, correction=int(unbiased)), x.mean()))


_with_mean("var", R.var, np.positive)
_with_mean("std", std, np.sqrt)


def _euclid_vjp(g: Any, self: Any, out: Any, self_meta: Any, dim: Any, keepdim: bool) -> Any:
    """x / norm, and 0 at the origin."""
    return self * R.restore((g / out).masked_fill(out == 0, 0), self_meta, dim, keepdim)


def _power_vjp(g: Any, self: Any, p: float, out: Any, self_meta: Any, dim: Any, keepdim: bool) -> Any:
    """sign(x) |x|^(p-1) / norm^(p-1), and 0 where an element or the norm is 0."""
    slope = R.restore((g / out**(p - 1)).masked_fill(out == 0, 0), self_meta, dim, keepdim)
    return slope * (self.sign() * self.abs()**(p - 1)).masked_fill(self == 0, 0)


euclid = R.reduce("_euclid(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor", lambda x, *_: E.sqrt(E.row_sum(x * x)), _euclid_vjp, dtypes="f",
                  ref=R.np_dims(lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims))), public="norm", doc="The Euclidean norm.")
power_norm = R.reduce("_power_norm(Tensor self, float p, int[1]? dim=None, bool keepdim=False) -> Tensor",
                      lambda x, p, *_: E.pow(E.row_sum(E.pow(E.abs(x), p)), 1 / p), _power_vjp, dtypes="f", ulp=16.0,
                      ref=lambda x, p, dim=None, keepdim=False: (abs(x)**p).sum(dim, keepdims=keepdim)**(1 / p),
                      samples=lambda t: [(t((3, 4)), 3.0), (t((3, 4)), 1.5, 0, True)], public="norm", doc="The p-norm for a general p.")


_is_nonzero = elementwise("_is_nonzero(Tensor self) -> Tensor", lambda x: E.where(E.ne(x, 0), E.const(1, x.dtype), 0), lambda g, out, x: E.const(0, g.dtype),
                          dtypes="f", ref=lambda x: (x != 0) * 1.0, doc="1 where self is not 0; its gradient is 0.")


def _check_identity(x: Any, p: Any, dim: Dim) -> None:
    """Norms of negative and of infinite order have no value for an empty row."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(x.dim()))
    if not x.numel() and (len(dims) == x.dim() or not all(x._shape[d] for d in dims)):
        raise BadIndex(f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the operation does not have an identity")


def _vector_norm(x: Any, p: Any, dim: Dim, keepdim: bool, dtype: Any) -> Any:
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype.name}")
    x = x if dtype is None else x.to(dtype)
    if p < 0 or p == math.inf:
        _check_identity(x, p, dim)
    if p == 2 and not x.dtype.is_complex:
        return euclid(x, dim, keepdim)
    x = x.abs()
    dims = () if dim is None else dim
    if p == 2:
        return euclid(x, dim, keepdim)
    if p == 1:
        return x.sum(dims, keepdim)
    if p == 0:
        return _is_nonzero(x).sum(dims, keepdim)
    if math.isinf(p):
        return x.amax(dims, keepdim) if p > 0 else x.amin(dims, keepdim)
    return power_norm(x, float(p), dim, keepdim)


def _np_norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    a, p = np.abs(x), 2 if p in (None, "fro") else p
    if np.isinf(p):
        return (a.max if p > 0 else a.min)(axis=dim, keepdims=keepdim)
    return (a != 0).sum(dim, keepdims=keepdim) * 1.0 if p == 0 else (a**p).sum(dim, keepdims=keepdim)**(1 / p)


@composite("linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="fc", ref=_np_norm,
           ulp=16.0, samples=lambda t: [(t((3, 4)),), (t((3, 4)), 1, 0), (t((3, 4)), 3, 1, True)], doc="The norm of all elements, or along dim.")
def vector_norm(x: Any, ord: Any, dim: Dim, keepdim: bool, dtype: Any) -> Any:
    return _vector_norm(x, ord, dim, keepdim, dtype)


@composite("norm(Tensor self, Any p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="fc", ref=_np_norm, ulp=16.0,
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 1, 0), (t((3, 4)), math.inf, 1, True), (t((3, 4)), "fro")],
           doc="The norm of order p (2 where p is 'fro' or None) of all elements, or along dim.")
def norm(x: Any, p: Any, dim: Dim, keepdim: bool, dtype: Any) -> Any:
    if p == "nuc":
        from tensorx.ops.matrices import nuclear
        return nuclear(x, dim, keepdim, dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: argument 'p' must be a number, 'fro' or 'nuc'; got {p!r}")
    return _vector_norm(x, 2 if p is None or p == "fro" else float(p), dim, keepdim, dtype)


@composite("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dtypes="fc", ref=lambda a, b, p=2: _np_norm(a - b, p), ulp=16.0,
           samples=lambda t: [(t((3, 4)), t((4,)))], doc="The norm of self - other.")
def dist(a: Any, b: Any, p: Any) -> Any:
    return _vector_norm(a - b, p, None, False, None)


count_nonzero = R.reduce("count_nonzero(Tensor self, int[1]? dim=None) -> Tensor", lambda x, *_: E.row_sum(E.cast(E.ne(x, 0), dtypes.int64)),
                         ref=lambda x, dim=None: np.count_nonzero(x, dim), samples=lambda t: [(t((3, 4)),), (t((2, 3, 4)), 1), (t((2, 3, 4)), (0, 2))],
                         doc="The number of nonzero elements.")


@composite("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="bif", ref=R.np_dims(np.nansum),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0)], doc="Sum of the elements that are not NaN.")
def nansum(x: Any, dim: Dim, keepdim: bool, dtype: Any) -> Any:
    return (x.masked_fill(x.isnan(), 0) if x.dtype.is_floating_point else x).sum(() if dim is None else dim, keepdim, dtype=dtype)


@composite("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="f", ref=R.np_dims(np.nanmean),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0)], doc="Mean of the elements that are not NaN.")
def nanmean(x: Any, dim: Dim, keepdim: bool, dtype: Any) -> Any:
    dims, d = () if dim is None else dim, dtype or x.dtype
    return (nansum(x, dim, keepdim, dtype=d.compute) / (~x.isnan()).sum(dims, keepdim)).to(d)  # rounded once


@composite("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", dtypes="bif",
           ref=lambda x, dim=None, keepdim=False: (x.min(axis=dim, keepdims=keepdim), x.max(axis=dim, keepdims=keepdim)),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), {"dim": 1})], doc="Smallest and largest value.")
def aminmax(x: Any, dim: int | None, keepdim: bool) -> Any:
    dims = () if dim is None else (dim,)
    return x.amin(dims, keepdim), x.amax(dims, keepdim)


def _middle(x: Any, d: int, n: int) -> tuple[Any, Any]:
    """Values and indices at the lower middle of each row; a row with a NaN (sorted last) gives that."""
    values, indices = sort(x, d)
    at = (n - 1) // 2
    if not x.dtype.is_floating_point:
        return values.narrow(d, at, 1), indices.narrow(d, at, 1)
    bad = values.narrow(d, n - 1, 1).isnan()
    first = values.isnan().to(dtypes.uint8).argmax(d, True)
    place = first.where(bad, at)
    return values.gather(d, place), indices.gather(d, place)


def _check_ordered(name: str, x: Any) -> None:
    if x.dtype.kind not in (dtypes.INT, dtypes.FLOAT):
        raise DTypeError(f'"{name}" not implemented for \'{x.dtype.name}\'')


def _np_median(x: Any, dim: int, keepdim: bool = False) -> Any:
    order = np.argsort(x, axis=dim, kind="stable")
    at = np.take(order, [(x.shape[dim] - 1) // 2], dim)
    values = np.take_along_axis(x, at, dim)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


@composite("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", dtypes="if", ref=_np_median,
           samples=lambda t: [(t((3, 5)), 0), (t((3, 4)), 1, True)], doc="The lower of the middle values along dim and where it is; NaN if there is one.")
def median_dim(x: Any, dim: int, keepdim: bool) -> Any:
    _check_ordered("median", x)
    d = normalize_dim(dim, x.dim(), "median")
    if not x.dim():
        return x.clone(), x.new_zeros((), dtype=dtypes.int64)
    if not x.shape[d]:
        raise IndexError(f"median(): Expected reduction dim {d} to have non-zero size.")
    values, indices = _middle(x, d, x.shape[d])
    return (values, indices) if keepdim else (values.squeeze(d), indices.squeeze(d))


@composite("median(Tensor self) -> Tensor", dtypes="if", ref=lambda x: np.sort(x, None)[(x.size - 1) // 2] if x.size else np.nan, samples=lambda t: [(t((3, 4)),)],
           doc="The lower of the middle values; NaN if there is one.")
def median(x: Any) -> Any:
    _check_ordered("median", x)
    flat = x.reshape(-1)
    if not flat.numel():
        return x.new_full((), math.nan)
    return _middle(flat, 0, flat.numel())[0].squeeze(0)


@composite("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", dtypes="if",
           ref=lambda x, k, dim=-1, keepdim=False: tuple(np.take(a, k - 1, dim) for a in (np.sort(x, dim), np.argsort(x, dim, kind="stable"))),
           samples=lambda t: [(t((3, 5)), 2), (t((3, 5)), 1, 0)], doc="The k-th smallest value along dim and where it is.")
def kthvalue(x: Any, k: int, dim: int, keepdim: bool) -> Any:
    _check_ordered("kthvalue", x)
    n = x.shape[normalize_dim(dim, x.dim(), "kthvalue")] if x.dim() else 1
    if not n:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim % x.dim()} to have non-zero size.")
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    values, indices = sort(x, dim)
    if not x.dim():
        return values, indices
    values, indices = values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


__all__ = ["Tensor", "aminmax", "count_nonzero", "dist", "kthvalue", "median", "nanmean", "nansum", "norm", "std", "vector_norm"]
