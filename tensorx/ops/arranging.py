"""Rows that arrange elements: repeat, roll, triangles, writes at masks and indices, coordinates as a tuple."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import ShapeError
from tensorx.ops import expr as E
from tensorx.ops.families import WRITING, composite, elementwise
from tensorx.ops.indexing import index_put, masked_positions
from tensorx.tensor import Tensor, normalize_dim

Ints = tuple[int, ...]


@composite("expand_as(Tensor self, Tensor other) -> Tensor", ref=lambda x, o: np.broadcast_to(x, o.shape), samples=lambda t: [(t((3, 1)), t((2, 3, 4)))],
           doc="self expanded to other's shape.")
def expand_as(x: Any, other: Tensor) -> Any:
    return x.expand(other._shape)


@composite("view_as(Tensor self, Tensor other) -> Tensor", ref=lambda x, o: x.reshape(o.shape), samples=lambda t: [(t((3,)), t((3, 1)))],
           doc="self viewed in other's shape.")
def view_as(x: Any, other: Tensor) -> Any:
    return x.view(other._shape)


@composite("reshape_as(Tensor self, Tensor other) -> Tensor", ref=lambda x, o: x.reshape(o.shape), samples=lambda t: [(t((2, 6)), t((3, 4)))],
           doc="self reshaped to other's shape.")
def reshape_as(x: Any, other: Tensor) -> Any:
    return x.reshape(other._shape)


@composite("repeat(Tensor self, int[] repeats) -> Tensor", ref=lambda x, repeats: np.tile(x, repeats), samples=lambda t: [(t((2, 3)), (2, 1)), (t((3,)), (2, 2))],
           doc="Copies of the whole side by side along each dimension.")
def repeat(x: Any, repeats: Sequence[int]) -> Any:
    lead = len(repeats) - x.dim()
    if lead < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(r < 0 for r in repeats):
        raise ShapeError(f"repeat: argument 'repeats' must not be negative; got {tuple(repeats)}")
    shape = (1,) * lead + tuple(x._shape)
    wide = x.reshape([m for n in shape for m in (1, n)]).expand([m for r, n in zip(repeats, shape, strict=True) for m in (r, n)])
    out = wide.reshape([r * n for r, n in zip(repeats, shape, strict=True)])
    return out.clone() if out._storage is x._storage else out


@composite("tile(Tensor self, int[] dims) -> Tensor", ref=lambda x, dims: np.tile(x, dims), samples=lambda t: [(t((2, 3)), (2,)), (t((3,)), (2, 2))],
           doc="Copies of the whole side by side; missing counts are 1.")
def tile(x: Any, dims: Sequence[int]) -> Any:
    return repeat(x, (1,) * (x.dim() - len(dims)) + tuple(dims))


@composite("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", ref=lambda x, shifts, dims=(): np.roll(x, shifts, dims or None),
           samples=lambda t: [(t((2, 3)), 1), (t((3, 4)), (1, -2), (0, 1))], doc="Elements moved along dims, those pushed out coming back at the front.")
def roll(x: Any, shifts: Sequence[int], dims: Sequence[int]) -> Any:
    from tensorx.ops.joining import cat
    if not dims and len(shifts) == 1:
        return roll(x.reshape(-1), shifts, (0,)).reshape(x._shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not x.dim():
        raise IndexError(f"roll: Dimension specified as {dims[0]} but tensor has no dimensions")
    if not x.numel():
        return x.clone()
    out = x
    for shift, dim in zip(shifts, dims, strict=True):
        d = normalize_dim(dim, out.dim(), "roll")
        n = out._shape[d] if out.dim() else 0
        if n and shift % n:
            out = cat((out.narrow(d, n - shift % n, shift % n), out.narrow(d, 0, n - shift % n)), d)
    return out.clone() if out is x else out


def _kept(x: E.Expr, rows: E.Expr, cols: E.Expr, shift: E.Expr, upper: bool) -> E.Expr:
    """``x`` where column - row is at most (``upper``: at least) shift - rows. All of it counts without a sign."""
    i, j = E.remainder(E.floordiv(E.index(), cols), rows), E.remainder(E.index(), cols)
    left, right = j + rows, i + shift
    return E.where(left >= right if upper else left <= right, x, E.const(0, x.dtype))


triangle = elementwise("_triangle(Tensor self, Seed rows, Seed cols, Seed shift, bool upper) -> Tensor", _kept,
                       lambda g, out, x, rows, cols, shift, upper: _kept(g, rows, cols, shift, upper),
                       ref=lambda x, rows, cols, shift, upper: (np.triu if upper else np.tril)(x, shift - rows),
                       samples=lambda t: [(t((3, 4)), 3, 4, 3, False), (t((2, 3, 3)), 3, 3, 4, True)], doc="One side of a diagonal; the rest is 0.")


def _triangle(name: str, upper: bool) -> Any:
    def body(x: Any, diagonal: int) -> Any:
        if x.dim() < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        rows, cols = x._shape[-2:]
        return triangle(x, max(rows, 1), max(cols, 1), max(max(rows, 1) + min(diagonal, cols), 0), upper)
    return body


TRIANGLES = {"samples": lambda t: [(t((3, 4)),), (t((2, 3, 3)), 1), (t((3, 4)), -1)]}
tril = composite("tril(Tensor self, int diagonal=0) -> Tensor", WRITING, ref=lambda x, diagonal=0: np.tril(x, diagonal), doc="The lower triangle; the rest is 0.",
                 **TRIANGLES)(_triangle("tril", False))
triu = composite("triu(Tensor self, int diagonal=0) -> Tensor", WRITING, ref=lambda x, diagonal=0: np.triu(x, diagonal), doc="The upper triangle; the rest is 0.",
                 **TRIANGLES)(_triangle("triu", True))


@composite("nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor[]", ref=lambda x, as_tuple: np.nonzero(x) if as_tuple else np.argwhere(x),
           samples=lambda t: [(t.mask((3, 4)), {"as_tuple": True})], doc="The coordinates of nonzero elements, one tensor a dimension.")
def nonzero_tuple(x: Any, as_tuple: bool) -> Any:
    if not as_tuple:
        return x.nonzero()
    return (x if x.dim() else x.unsqueeze(0)).nonzero().unbind(1)


@composite("where.condition(Tensor condition) -> Tensor[]", ref=np.nonzero, samples=lambda t: [(t.mask((3, 4)),)],
           doc="The coordinates where condition is true, one tensor a dimension.")
def where_condition(condition: Any) -> Any:
    return nonzero_tuple(condition, as_tuple=True)


def _ref_masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    out = np.array(x)
    mask = np.broadcast_to(mask, x.shape)
    out[mask] = np.ravel(source)[: mask.sum()]
    return out


@composite("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", WRITING, ref=_ref_masked_scatter, samples=lambda t: [(t((3, 4)), t.mask((3, 4)), t((12,)))],
           doc="Elements where mask is true replaced by source's, in order.")
def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {x.dtype.name} and {source.dtype.name}")
    at = masked_positions(mask.expand(x._shape))
    count = at[0].numel() if at else int(mask.item())
    if count > source.numel():
        raise RuntimeError(f"masked_scatter: expected 'source' to have at least {count} elements; got {source.numel()}")
    return index_put(x, at, source.reshape(-1).narrow(0, 0, count), False) if at else x.clone()


def _ref_index(fill: bool) -> Any:
    def ref(x: Any, dim: int, index: Any, value: Any) -> Any:
        out = np.array(x)
        out[(slice(None),) * (dim % max(x.ndim, 1)) + (index,)] = value
        return out
    return ref


@composite("index_fill(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", WRITING, ref=_ref_index(True), samples=lambda t: [(t((3, 4)), 1, t.unique(2, 4), 2)],
           doc="Slices of dim at a vector of indices filled with a number.")
def index_fill(x: Any, dim: int, index: Tensor, value: Any) -> Any:
    if isinstance(value, complex) and not x.dtype.is_complex:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    return _filled(x, dim, index, x.new_full((), value))


@composite("index_fill.Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", WRITING, ref=_ref_index(True),
           samples=lambda t: [(t((3, 4)), 1, t.unique(2, 4), t(()))], doc="Slices of dim at a vector of indices filled with the value of a zero-dim tensor.")
def index_fill_tensor(x: Any, dim: int, index: Tensor, value: Any) -> Any:
    if value.dim():
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
    return _filled(x, dim, index, value.to(x.dtype))


def _filled(x: Any, dim: int, index: Tensor, value: Any) -> Any:
    """``value`` (of fewer dimensions than x has) at a vector of indices along ``dim``."""
    d = normalize_dim(dim, x.dim(), "index_fill")
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not x.dim():  # one element, however often it is named
        return index_put(x.reshape(1), (index.reshape(-1),), value, False).reshape(())
    return index_put(x, (*(None,) * d, index.reshape(-1)), value, False)


@composite("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", WRITING, ref=_ref_index(False),
           samples=lambda t: [(t((3, 4)), 1, t.unique(2, 4), t((3, 2)))], doc="Slices of dim at a vector of indices replaced by source's.")
def index_copy(x: Any, dim: int, index: Tensor, source: Any) -> Any:
    d = normalize_dim(dim, x.dim(), "index_copy")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got (self) {x.dtype.name} and (source) {source.dtype.name}")
    if index.dim() > 1 or (source.dim() and index.numel() != source._shape[d]) or (not source.dim() and index.numel() != 1):
        raise IndexError(f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
                         f"({source._shape[d] if source.dim() else 1})")
    if not x.dim():
        return index_put(x.reshape(1), (index.reshape(-1),), source.reshape(-1), False).reshape(())
    return index_put(x, (*(None,) * d, index.reshape(-1)), source, False)


@composite("take(Tensor self, Tensor index) -> Tensor", ref=lambda x, index: np.take(x, index), samples=lambda t: [(t((3, 4)), t.index((2, 3), 12))],
           doc="Elements by their place in the flattened tensor.")
def take(x: Any, index: Any) -> Any:
    return x.reshape(-1)[index]


@composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", ref=lambda x, i, dim=None: np.take_along_axis(x, i, dim),
           samples=lambda t: [(t((3, 4)), t.index((3, 1), 4), 1)], doc="Elements along dim at the indices given for each position; other dimensions broadcast.")
def take_along_dim(x: Any, indices: Any, dim: int | None) -> Any:
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"take_along_dim: argument 'indices' must be int64; got {indices.dtype.name}")
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    if len(x._shape) != len(indices._shape):
        raise RuntimeError(f"take_along_dim: argument 'indices' must have as many dimensions as the input; got {len(indices._shape)} and {len(x._shape)}")
    d = normalize_dim(dim, x.dim(), "take_along_dim")
    if n := x._shape[d] if x._shape else 1:
        indices = indices.remainder(n)  # they count around, as in PyTorch
    rest = [math.prod(()) if i == d else max(a, b) for i, (a, b) in enumerate(zip(x._shape, indices._shape, strict=True))]
    shapes = [[n if i == d else r for i, (n, r) in enumerate(zip(t._shape, rest, strict=True))] for t in (x, indices)]
    return x.expand(shapes[0]).gather(d, indices.expand(shapes[1]))
