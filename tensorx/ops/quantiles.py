"""Order statistics and covariance: quantile, mode, msort, nanmedian, cov, corrcoef, renorm."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops.families import WRITING, composite
from tensorx.ops.joining import cat
from tensorx.ops.ordering import sort
from tensorx.tensor import Tensor, normalize_dim

HOW = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(name: str, x: Any, q: Any, how: str) -> None:
    if not x.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if how not in HOW:
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {how}")
    if isinstance(q, Tensor):
        if q.dim() > 1:
            raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
        if q.dtype is not x.dtype:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
        if q.device is not x.device:
            raise RuntimeError(f"{name}() q tensor must be on the same device as the input tensor")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")


def _ranks(ordered: Any, q: Any, ignore_nan: bool) -> Any:
    """Where quantiles lie in each sorted row (its NaN last): [..., number of q]."""
    n = ordered._shape[-1]
    if ignore_nan:
        valid = (~ordered.isnan()).sum(-1, True)
        return (q * (valid - 1)).clamp_min(0)
    spoilt = ordered.narrow(-1, n - 1, 1).isnan()
    return (q * (n - 1)).expand((*ordered._shape[:-1], q._shape[0])).masked_fill(spoilt, n - 1)


def _quantile(name: str, x: Any, q: Any, dim: int | None, keepdim: bool, how: str, ignore_nan: bool) -> Any:
    _check_quantile(name, x, q, how)
    shape = x._shape
    d = None if dim is None else normalize_dim(dim, x.dim(), name)
    rows = x.reshape(-1) if d is None else x.movedim(d, -1) if x.dim() else x.reshape(1)
    vector = (q if isinstance(q, Tensor) else x.new_full((), q)).reshape(-1)
    ordered = sort(rows, -1)[0]
    rank = _ranks(ordered, vector, ignore_nan)
    low = rank.ceil() if how == "higher" else rank.round() if how == "nearest" else rank.floor()
    found = ordered.gather(-1, low.long())
    if how in ("linear", "midpoint"):
        upper = ordered.gather(-1, rank.ceil().long())
        found = found.lerp(upper, rank - low) if how == "linear" else found.lerp(upper, 0.5)
    if keepdim:
        ones = (1,) * len(shape) if d is None else tuple(1 if i == d else n for i, n in enumerate(shape))
    else:
        ones = () if d is None else tuple(n for i, n in enumerate(shape) if i != d)
    found = found.movedim(-1, 0).reshape((vector._shape[0], *ones))
    return found if isinstance(q, Tensor) and q.dim() else found.squeeze(0)


def _np_quantile(f: Any) -> Any:
    def ref(x: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
        if not x.size:
            raise ValueError("no elements")
        return f(x, q, axis=dim, keepdims=keepdim, method=interpolation)
    return ref


def _quantiles(name: str, ignore_nan: bool, ref: Any, doc: str) -> None:
    for overload, kind in (("", "Tensor"), (".scalar", "float")):
        def samples(t: Any, scalar: bool = kind == "float") -> Any:
            if t.dtype.itemsize < 4 or t.dtype.kind != dtypes.FLOAT:
                return [] if scalar or t.dtype.kind == dtypes.FLOAT else [(t((3, 4)), t((2,)))]
            return [(t((3, 5)), 0.3), (t((3, 5)), 0.5, 0, True, {"interpolation": "midpoint"}), (t((3, 5)), 0.3, 1, {"interpolation": "nearest"})] if scalar else [
                (t((3, 5)), t((4,), 0, 1)), (t((3, 5)), t((4,), 0, 1), 1, True, {"interpolation": "lower"}), (t((3, 5)), t((4,), 0, 1), 0, {"interpolation": "higher"})]
        composite(f"{name}{overload}(Tensor self, {kind} q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", dtypes="f", ulp=16,
                  ref=_np_quantile(ref), samples=samples, doc=doc)(
                      lambda x, q, dim, keepdim, interpolation: _quantile(name, x, q, dim, keepdim, interpolation, ignore_nan))


_quantiles("quantile", False, np.quantile, "The values below which the given parts of the elements (of each row along dim) lie.")
_quantiles("nanquantile", True, np.nanquantile, "The values below which the given parts of the elements that are not NaN lie.")


def _np_mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    rows = np.moveaxis(x, dim, -1)
    values, places = np.empty(rows.shape[:-1], x.dtype), np.empty(rows.shape[:-1], np.int64)
    for at in np.ndindex(*rows.shape[:-1]):
        found, counts = np.unique(rows[at], return_counts=True)
        values[at] = found[counts.argmax()]
        places[at] = np.flatnonzero(rows[at] == values[at])[-1]
    return (np.expand_dims(values, dim), np.expand_dims(places, dim)) if keepdim else (values, places)


@composite("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", ref=_np_mode, dtypes="bif", domain=(0, 3),
           samples=lambda t: [(t((3, 6)),), (t((6, 2)), 0, True)],
           doc="The value that occurs most often along dim, the smallest of several, and its last place.")
def mode(x: Any, dim: int, keepdim: bool) -> Any:
    from tensorx.ops import factories
    if not x.dim():
        return x.clone(), x.new_zeros((), dtype=dtypes.int64)
    d = normalize_dim(dim, x.dim(), "mode")
    n = x._shape[d]
    if not n:
        raise IndexError(f"mode(): Expected reduction dim {d} to have non-zero size.")
    values, order = sort(x.movedim(d, -1), -1)
    place = factories.arange(n, device=x.device)
    same = values.narrow(-1, 1, n - 1) == values.narrow(-1, 0, n - 1)
    begins = cat((same.new_full((*same._shape[:-1], 1), True), ~same), -1)
    run = place - place.expand(values._shape).masked_fill(~begins, 0).cummax(-1)[0]  # how many equal ones came before
    at = run.argmax(-1, True)
    values, indices = values.gather(-1, at).movedim(-1, d), order.gather(-1, at).movedim(-1, d)
    return (values, indices) if keepdim else (values.squeeze(d), indices.squeeze(d))


@composite("msort(Tensor self) -> Tensor", ref=lambda x: np.sort(x, 0), dtypes="bif", samples=lambda t: [(t((4, 3)),)], doc="Values in order along the first dimension.")
def msort(x: Any) -> Any:
    return sort(x, 0)[0]


def _np_nanmedian(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    if not x.size and dim is None:
        return np.nan
    rows = x.reshape(-1) if dim is None else np.moveaxis(x, dim, -1)
    order = np.argsort(rows, -1, kind="stable")
    valid = (~np.isnan(rows.astype(np.float64))).sum(-1, keepdims=True)
    at = np.take_along_axis(order, np.maximum(valid - 1, 0) // 2, -1)
    values = np.take_along_axis(rows, at, -1)
    if dim is None:
        return values[0]
    return (np.moveaxis(values, -1, dim), np.moveaxis(at, -1, dim)) if keepdim else (values[..., 0], at[..., 0])


def _ordered_kinds(name: str, x: Any) -> None:
    if x.dtype.kind not in (dtypes.INT, dtypes.FLOAT):
        raise NotImplementedError(f'"{name}" not implemented for \'{x.dtype.name}\'')


@composite("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", dtypes="if", ref=_np_nanmedian,
           samples=lambda t: [(t((3, 5)), 0), (t((3, 4)), 1, True)], doc="The lower of the middle values that are not NaN along dim, and where it is.")
def nanmedian_dim(x: Any, dim: int, keepdim: bool) -> Any:
    _ordered_kinds("nanmedian", x)
    if not x.dim():
        return x.clone(), x.new_zeros((), dtype=dtypes.int64)
    d = normalize_dim(dim, x.dim(), "nanmedian")
    if not x._shape[d]:
        raise IndexError(f"median(): Expected reduction dim {d} to have non-zero size.")
    values, indices = sort(x, d)
    valid = (~values.isnan()).sum(d, True)
    at = (valid - 1).clamp_min(0).div(2, rounding_mode="floor")
    values, indices = values.gather(d, at), indices.gather(d, at)
    return (values, indices) if keepdim else (values.squeeze(d), indices.squeeze(d))


@composite("nanmedian(Tensor self) -> Tensor", dtypes="if", ref=_np_nanmedian, samples=lambda t: [(t((3, 4)),)], doc="The lower of the middle values that are not NaN.")
def nanmedian(x: Any) -> Any:
    return nanmedian_dim(x.reshape(-1), 0)[0] if x.numel() else x.new_full((), float("nan") if x.dtype.is_floating_point else 0)


def _np_cov(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


@composite("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor", ref=_np_cov, dtypes="ifc", ulp=128,
           samples=lambda t: [(t((3, 5)),), (t((5,)),), (t((3, 5)), {"correction": 0, "fweights": t.index((5,), 4) + 1})],
           doc="The covariance matrix of variables, the rows, over observations, the columns.")
def cov(x: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    if x.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {x.dim()} dimensions")
    if x.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    weights, total = _weights(x, fweights, aweights)
    rows = x.reshape(1, -1) if x.dim() < 2 else x
    n = rows._shape[1]
    rows = rows if rows.dtype.kind >= dtypes.FLOAT else rows.to(dtypes.get_default_dtype())
    if weights is None:
        centred, norm = rows - rows.mean(1, True) if n else rows, max(n - correction, 0)
        product = (centred @ centred.mH) / norm if norm else (centred @ centred.mH) * float("inf")
    else:
        centred = rows - (rows * weights).sum(1, True) / total
        if aweights is None or not correction:
            norm = total - correction
        else:
            norm = total - correction * (weights * aweights).sum() / total
        product = ((centred * weights) @ centred.mH) / norm.clamp_min(0)
    return product.squeeze()


def _weights(x: Any, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    """The product of both kinds of weights, and its sum."""
    found = None
    n = x.numel() if x.dim() < 2 else x._shape[1]
    for name, w, kinds in (("fweights", fweights, (dtypes.BOOL, dtypes.INT)), ("aweights", aweights, (dtypes.FLOAT,))):
        if w is None:
            continue
        if w.dim() > 1:
            raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.dim()} dimensions")
        if w.dtype.kind not in kinds:
            raise RuntimeError(f"cov(): expected {name} to have {'floating point' if name == 'aweights' else 'integral'} dtype but got {name} with {w.dtype.name} dtype")
        if w.numel() != n:
            raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got {w.numel()} != {n}")
        found = w if found is None else found * w
    if found is not None:
        found = found.to(dtypes.promote([x.dtype.real, dtypes.get_default_dtype()], [], []) if x.dtype.kind < dtypes.FLOAT else x.dtype.real)
    return found, None if found is None else found.sum()


@composite("corrcoef(Tensor self) -> Tensor", ref=np.corrcoef, dtypes="ifc", ulp=256, samples=lambda t: [(t((3, 5)),)] if t.dtype.kind >= dtypes.FLOAT else [(t((3, 9)),)],
           doc="The matrix of correlation coefficients of variables, the rows.")
def corrcoef(x: Any) -> Any:
    if x.dim() > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {x.dim()} dimensions")
    c = cov(x)
    if not c.dim():
        return c / c
    spread = c.diagonal().real.sqrt() if c.dtype.is_complex else c.diagonal().sqrt()
    c = c / spread.unsqueeze(1) / spread
    if c.dtype.is_complex:
        return c
    return c.clamp(-1, 1)


def _np_renorm(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != dim % x.ndim)
    size = (abs(x)**p).sum(axes, keepdims=True)**(1 / p)
    return x * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)


@composite("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", WRITING, ref=_np_renorm, dtypes="fc", ulp=64,
           samples=lambda t: [(t((3, 4)), 2, 0, 1.0), (t((3, 4)), 1, 1, 2.0)], doc="Slices of dim whose p-norm exceeds maxnorm scaled down to it.")
def renorm(x: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    from tensorx.ops.statistics import vector_norm
    if x.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.dim()} dimensions")
    if x.dtype.kind < dtypes.FLOAT:
        raise RuntimeError(f"renorm: argument 'self' must be floating-point or complex; got {x.dtype.name}")
    if p <= 0 or maxnorm < 0:
        raise RuntimeError("renorm: non-positive norm not supported" if p <= 0 else f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    d = normalize_dim(dim, x.dim(), "renorm")
    wide = x if x.dtype.itemsize > 2 else x.to(dtypes.float32)
    size = vector_norm(wide, p, tuple(i for i in range(x.dim()) if i != d), True)
    return x * (maxnorm / (size + 1e-7)).where(size > maxnorm, 1.0).to(x.dtype)


__all__ = ["corrcoef", "cov", "mode", "msort", "nanmedian", "renorm"]
