"""Rows that combine values at indices: scatter_reduce, index_reduce, put, and copies with a view of them replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import dtype as DType
from tensorx.errors import ShapeError
from tensorx.limits import iinfo
from tensorx.ops.families import WRITING, composite
from tensorx.ops.indexing import _ref_at, _scatter, gather, index_put, putting, scatter_add, scatter_value
from tensorx.tensor import Tensor, normalize_dim


def _to_shape(t: Tensor, shape: Sequence[int]) -> Tensor:
    """The part of ``src`` that an index of this shape reads."""
    for d, n in enumerate(shape):
        t = t.narrow(d, 0, n) if t._shape[d] != n else t
    return t


def _widened(g: Tensor, shape: Sequence[int]) -> Tensor:
    """The adjoint of `_to_shape`."""
    if g._shape == tuple(shape):
        return g
    whole = g.new_zeros(shape)
    _to_shape(whole, g._shape).copy_(g)
    return whole


def _product_vjp(g: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor) -> tuple[Any, ...]:
    """Every factor's cotangent is the product of the others: out / factor, and where a factor is 0 the product without it."""
    x, shape, src = self, src._shape, _to_shape(src, index._shape)
    zeros = src == 0
    many = scatter_add((x == 0).long(), dim, index, zeros.long())  # zero factors of each result
    rest = product(x.masked_fill(x == 0, 1), dim, index, src.masked_fill(zeros, 1))  # the product of all others
    alone, none = many == 1, many == 0
    share = g * rest.conj()
    whole, others = share.masked_fill(~none, 0), share.masked_fill(~alone, 0)
    to_self = others.where(x == 0, whole / x.masked_fill(x == 0, 1).conj())
    to_src = gather(others, dim, index).where(zeros, gather(whole, dim, index) / src.masked_fill(zeros, 1).conj())
    return to_self, None, _widened(to_src, shape)


def _extreme_vjp(g: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor) -> tuple[Any, ...]:
    """All that equal the extreme share its cotangent."""
    kept, hit = self == out, _to_shape(src, index._shape) == gather(out, dim, index)
    share = g / scatter_add(kept.to(g.dtype), dim, index, hit.to(g.dtype))
    return share.masked_fill(~kept, 0), None, _widened(gather(share, dim, index).masked_fill(~hit, 0), src._shape)


def _np_combine(x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    out = np.array(x)
    at = _ref_at(x, dim, index)
    values = src[tuple(slice(n) for n in index.shape)]
    if not include_self:
        lowest, highest = (-np.inf, np.inf) if out.dtype.kind in "fc" else (False, True) if out.dtype == bool else (np.iinfo(out.dtype).min, np.iinfo(out.dtype).max)
        out[at] = {"sum": 0, "mean": 0, "prod": 1, "amax": lowest, "amin": highest}[reduce]
    how = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    how.at(out, at, values)
    if reduce == "mean":
        count = np.full(x.shape, int(include_self))
        np.add.at(count, at, 1)
        count = np.maximum(count, 1)
        out = out / count if out.dtype.kind in "fc" else out // count
    return out


def _calls(*reductions: str) -> Any:
    return lambda t: [(t((3, 4)), 0, t.index((5, 2), 3), t((5, 4)), r) for r in reductions]


product = putting("_scatter_prod(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", _scatter("scatter_reduce", "mul"), _product_vjp,
                  ref=lambda x, dim, index, src: _np_combine(x, dim, index, src, "prod"), samples=lambda t: [(t((3, 4)), 0, t.index((5, 2), 3), t((5, 4)))], dtypes="bifc", ulp=8,
                  public="scatter_reduce", doc="self multiplied by values at indices along dim.")
extreme = putting("_scatter_extreme(Tensor self, int dim, Tensor index, Tensor src, bool largest) -> Tensor",
                  lambda x, dim, index, src, largest: _scatter("scatter_reduce", "max" if largest else "min")(x, dim, index, src), _extreme_vjp, dtypes="bif",
                  ref=lambda x, dim, index, src, largest: _np_combine(x, dim, index, src, "amax" if largest else "amin"),
                  samples=lambda t: [(t((3, 4)), 0, t.index((5, 2), 3), t((5, 4)), True), (t((3, 4)), 1, t.index((3, 6), 4), t((3, 6)), False)],
                  public="scatter_reduce", doc="The larger (or smaller) of self and values at indices along dim.")


def _limit(d: DType, high: bool) -> Any:
    """The largest or smallest value of a dtype."""
    if d.kind == dtypes.FLOAT:
        return float("inf") if high else -float("inf")
    if d.kind == dtypes.INT:
        return iinfo(d).max if high else iinfo(d).min
    return high


def neutral(reduce: str, d: DType) -> Any:
    """What leaves the other operand of a reduction as it is."""
    return {"sum": 0, "mean": 0, "prod": 1}[reduce] if reduce in ("sum", "mean", "prod") else _limit(d, reduce == "amin")


@composite("scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor", WRITING, ref=_np_combine, dtypes="bif",
           ulp=8, samples=lambda t: [*_calls("sum", "prod", "mean", "amax", "amin")(t), *((*c, {"include_self": False}) for c in _calls("prod", "mean", "amax", "amin")(t))]
           if t.dtype.kind else _calls("sum", "amax")(t), doc="Values combined along dim at the indices given for each position: sum, prod, mean, amax or amin.")
def scatter_reduce(x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    base = x if include_self else scatter_value(x, dim, index, neutral(reduce, x.dtype))
    if reduce not in ("sum", "mean"):
        return product(base, dim, index, src) if reduce == "prod" else extreme(base, dim, index, src, reduce == "amax")
    total = scatter_add(base, dim, index, src)
    if reduce == "sum":
        return total
    ones = x.new_full((), 1, dtype=dtypes.int64).expand(index._shape)
    count = scatter_add(x.new_full(x._shape, int(include_self), dtype=dtypes.int64), dim, index, ones)
    count = count if include_self else count.clamp_min(1)
    return total / count.to(x.dtype) if x.dtype.kind >= dtypes.FLOAT else total.div(count.to(x.dtype), rounding_mode="floor")


@composite("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", ref=lambda x, dim, index, src, *, reduce: _np_combine(
    x, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce]), dtypes="if", ulp=8, samples=lambda t: [(t((3, 4)), 0, t.index((5, 2), 3), t((5, 4)), {"reduce": "add"})],
    doc="Values added or multiplied along dim at the indices given for each position.")
def scatter_with(x: Any, dim: int, index: Any, src: Any, reduce: str) -> Any:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return scatter_add(x, dim, index, src) if reduce == "add" else product(x, dim, index, src)


@composite("scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor", ref=lambda x, dim, index, value, *, reduce: _np_combine(
    x, dim, index, np.full(index.shape, value), {"add": "sum", "multiply": "prod"}[reduce]), dtypes="if", ulp=8,
    samples=lambda t: [(t((3, 4)), 0, t.index((5, 2), 3), 2, {"reduce": "multiply"})], doc="One value added or multiplied along dim at the given indices.")
def scatter_value_with(x: Any, dim: int, index: Any, value: Any, reduce: str) -> Any:
    return scatter_with(x, dim, index, x.new_full((), value).expand(index._shape), reduce=reduce)


def _np_index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    wide = np.broadcast_to(index.reshape([-1 if i == dim else 1 for i in range(x.ndim)]), source.shape)
    return _np_combine(x, dim, wide, source, reduce, include_self=include_self)


@composite("index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor", WRITING, ref=_np_index_reduce, dtypes="if",
           ulp=8, samples=lambda t: [(t((3, 4)), 0, t.index((5,), 3), t((5, 4)), "prod"), (t((3, 4)), 1, t.index((5,), 4), t((3, 5)), "amax", {"include_self": False})],
           doc="Slices combined into dim at a vector of indices: prod, mean, amax or amin.")
def index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> Any:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    d = normalize_dim(dim, x.dim(), "index_reduce")
    if index.dim() > 1 or (source.dim() and source._shape[d] != index.numel()):
        raise IndexError(f"index_reduce(): Index is supposed to be a vector with as many elements as source has along dim {dim}; got {list(index._shape)}")
    wide = index.reshape([-1 if i == d else 1 for i in range(x.dim())]).expand(source._shape) if x.dim() else index.reshape(())
    return scatter_reduce(x, dim, wide, source.reshape(()) if not x.dim() else source, reduce, include_self=include_self)


def _np_put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    out = np.array(x).reshape(-1)
    if accumulate:
        np.add.at(out, index.reshape(-1), source.reshape(-1))
    else:
        out[index.reshape(-1)] = source.reshape(-1)
    return out.reshape(x.shape)


@composite("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", WRITING, ref=_np_put,
           samples=lambda t: [(t((3, 4)), t.unique(6, 12).reshape(2, 3), t((2, 3))), (t((3, 4)), t.index((5,), 12), t((5,)), True)],
           doc="Elements written (or added) by their place in the flattened tensor.")
def put(x: Any, index: Any, source: Any, accumulate: bool) -> Any:
    if source.numel() != index.numel():
        raise IndexError(f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {source.numel()}, index.numel() = "
                         f"{index.numel()}")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got self.dtype = {x.dtype.name} and source.dtype = {source.dtype.name}")
    return index_put(x.reshape(-1), (index.reshape(-1),), source.reshape(-1), accumulate).reshape(x._shape)


def _replaced(x: Any, view: Any, src: Any, name: str) -> Any:
    """A copy of ``x`` with ``src`` in a view of it."""
    out = x.clone()
    part = view(out)
    if part._shape != src._shape:
        raise ShapeError(f"expected src to have a size equal to the slice of self. src size = {list(src._shape)}, slice size = {list(part._shape)} ({name})")
    part.copy_(src)
    return out


def _np_replaced(x: Any, at: Any, src: Any) -> Any:
    out = np.array(x)
    out[at] = src
    return out


def _np_at(x: Any, dim: int, where: Any) -> Any:
    return (slice(None),) * (dim % x.ndim) + (where,)


@composite("slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
           ref=lambda x, src, dim=0, start=None, end=None, step=1: _np_replaced(x, _np_at(x, dim, slice(start, end, step)), src),
           samples=lambda t: [(t((5, 4)), t((2, 4)), 0, 1, 5, 2)], doc="A copy with src in a range of a dimension.")
def slice_scatter(x: Any, src: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return _replaced(x, lambda t: t.slice(dim, start, end, step), src, "slice_scatter")


@composite("select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", ref=lambda x, src, dim, index: _np_replaced(x, _np_at(x, dim, index), src),
           samples=lambda t: [(t((3, 4)), t((3,)), 1, -1)], doc="A copy with src at one index of a dimension.")
def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    return _replaced(x, lambda t: t.select(dim, index), src, "select_scatter")


def _np_diagonal(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    out = np.array(x)
    view = np.diagonal(out, offset, dim1, dim2)
    view.flags.writeable = True
    view[...] = src
    return out


@composite("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", ref=_np_diagonal,
           samples=lambda t: [(t((3, 4)), t((3,))), (t((2, 3, 4)), t((3, 2)), -1, 2, 0)], doc="A copy with src on a diagonal.")
def diagonal_scatter(x: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    return _replaced(x, lambda t: t.diagonal(offset, dim1, dim2), src, "diagonal_scatter")


def _np_strided(x: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    out = np.array(x)
    flat = out.reshape(-1)[storage_offset or 0:]
    np.lib.stride_tricks.as_strided(flat, size, [s * flat.itemsize for s in stride])[...] = src
    return out


@composite("as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor", ref=_np_strided,
           samples=lambda t: [(t((4, 4)), t((3, 2)), (3, 2), (1, 4), 1)], doc="A copy with src in a view of any shape and strides.")
def as_strided_scatter(x: Any, src: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    return _replaced(x, lambda t: t.as_strided(size, stride, storage_offset), src, "as_strided_scatter")


__all__ = ["as_strided_scatter", "diagonal_scatter", "index_reduce", "put", "scatter_reduce", "select_scatter", "slice_scatter"]
