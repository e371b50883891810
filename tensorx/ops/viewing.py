"""VIEW rows: geometry in, geometry out; each gradient is another view or its adjoint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import ShapeError
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.view import VIEW
from tensorx.ops.table import NONDIFF, Op
from tensorx.tensor import Tensor, check_supported, contiguous_strides, is_contiguous, normalize_dim

Geometry = tuple[Any, ...]


def viewing(schema: str, body: Any, vjp: Any, **fields: Any) -> Op:
    """A VIEW row; views are exact, so any dtype goes."""
    return row(schema, VIEW, body, vjp, **fields)


def normalize_dims(dims: Sequence[int], ndim: int, op: str) -> tuple[int, ...]:
    """Dims counted from the front, each once."""
    out = tuple(normalize_dim(d, ndim, op) for d in dims)
    if len(set(out)) != len(out):
        raise RuntimeError(f"{op}: argument 'dims' must not repeat a dimension; got {tuple(dims)}")
    return out


def infer_size(size: Sequence[int], numel: int) -> tuple[int, ...]:
    """Replace one -1. RuntimeError, in PyTorch's words, where the number of elements does not fit."""
    size = tuple(size)
    known = math.prod(n for n in size if n != -1)
    if size.count(-1) > 1:
        raise ShapeError("only one dimension can be inferred")
    if any(n < -1 for n in size):
        raise ShapeError(f"invalid shape dimension {min(size)} at index {size.index(min(size))} of shape {list(size)}")
    if -1 in size:
        if known == 0 and numel == 0:
            raise ShapeError(f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 can be any value and is "
                             "ambiguous")
        if known == 0 or numel % known:
            raise ShapeError(f"shape '{list(size)}' is invalid for input of size {numel}")
        return tuple(numel // known if n == -1 else n for n in size)
    if known != numel:
        raise ShapeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    return size


def reshaped_strides(shape: Sequence[int], strides: Sequence[int], size: Sequence[int]) -> tuple[int, ...] | None:
    """Strides of ``size`` over the same memory, or None where that needs a copy."""
    if 0 in shape or is_contiguous(shape, strides):
        return contiguous_strides(size)
    out = [0] * len(size)
    i, block, taken, step = len(size) - 1, 1, 1, strides[-1]
    for d in reversed(range(len(shape))):
        block *= shape[d]
        if d and (shape[d - 1] == 1 or strides[d - 1] == block * step):
            continue
        while i >= 0 and (taken < block or size[i] == 1):  # the old axes so far are one dense block: split it over new axes
            out[i] = taken * step
            taken *= size[i]
            i -= 1
        if taken != block:
            return None
        if d:
            block, taken, step = 1, 1, strides[d - 1]
    return tuple(out) if i < 0 else None


def _view(t: Tensor, size: Sequence[int]) -> Geometry:
    size = infer_size(size, t.numel())
    strides = reshaped_strides(t._shape, t._get_strides(), size)
    if strides is None:
        raise ShapeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). "
                         "Use .reshape(...) instead.")
    return size, strides, t._offset


def _view_dtype(t: Tensor, d: dtypes.dtype) -> Geometry:
    """Elements of another size split or join along the last dimension, which must then be dense."""
    check_supported(d, t.device, "view")
    shape, strides, old, new = t._shape, t._get_strides(), t.dtype.itemsize, d.itemsize
    if old == new:
        return shape, strides, t._offset, d
    if not shape or strides[-1] != 1:
        raise ShapeError("self.dim() cannot be 0, and self.stride(-1) must be 1, to view as a dtype of another size")
    if new < old:
        k = old // new
        return (*shape[:-1], shape[-1] * k), (*(s * k for s in strides[:-1]), 1), t._offset * k, d
    k = new // old
    if shape[-1] % k or t._offset % k or any(s % k for s in strides[:-1]):
        raise ShapeError(f"self.size(-1), storage_offset and strides must be divisible by {k} to view {t.dtype.name} as {d.name} (different element sizes)")
    return (*shape[:-1], shape[-1] // k), (*(s // k for s in strides[:-1]), 1), t._offset // k, d


def _expand(t: Tensor, size: Sequence[int]) -> Geometry:
    lead = len(size) - len(t._shape)
    if lead < 0:
        raise ShapeError(f"expand: the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor "
                         f"({len(t._shape)})")
    shape, strides = [], []
    for i in reversed(range(lead, len(size))):  # PyTorch blames the last one
        if size[i] not in (-1, t._shape[i - lead]) and t._shape[i - lead] != 1:
            raise ShapeError(f"expand: The expanded size of the tensor ({size[i]}) must match the existing size ({t._shape[i - lead]}) at non-singleton "
                             f"dimension {i}. Target sizes: {list(size)}. Tensor sizes: {list(t._shape)}")
    for i, n in enumerate(size):
        old = t._shape[i - lead] if i >= lead else None
        if n == -1 and old is None:
            raise ShapeError(f"expand: The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}")
        if old is None or (old == 1 and n != -1):
            shape.append(n)
            strides.append(0 if n != 1 or old is None else t._get_strides()[i - lead])
        else:
            shape.append(old)
            strides.append(t._get_strides()[i - lead])
    return tuple(shape), tuple(strides), t._offset


def _permute(t: Tensor, dims: Sequence[int]) -> Geometry:
    if len(dims) != len(t._shape):
        raise ShapeError(f"permute: number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
                         f"input.dim() = {len(t._shape)} is not equal to len(dims) = {len(dims)}")
    order = normalize_dims(dims, len(t._shape), "permute")
    strides = t._get_strides()
    return tuple(t._shape[i] for i in order), tuple(strides[i] for i in order), t._offset


def _transpose(t: Tensor, dim0: int, dim1: int) -> Geometry:
    a, b = normalize_dim(dim0, len(t._shape), "transpose"), normalize_dim(dim1, len(t._shape), "transpose")
    order = list(range(len(t._shape)))
    if order:
        order[a], order[b] = order[b], order[a]
    return _permute(t, order)


def _squeeze(t: Tensor, dim: Sequence[int] | None) -> Geometry:
    if dim is None:
        drop = {i for i, n in enumerate(t._shape) if n == 1}
    else:
        drop = {i for i in normalize_dims(dim, len(t._shape), "squeeze") if t._shape and t._shape[i] == 1}
    keep = [i for i in range(len(t._shape)) if i not in drop]
    strides = t._get_strides()
    return tuple(t._shape[i] for i in keep), tuple(strides[i] for i in keep), t._offset


def _unsqueeze(t: Tensor, dim: int) -> Geometry:
    n = len(t._shape) + 1
    d = normalize_dim(dim, n, "unsqueeze")
    strides = t._get_strides()
    step = strides[d] * t._shape[d] if d < n - 1 else 1
    return (*t._shape[:d], 1, *t._shape[d:]), (*strides[:d], step, *strides[d:]), t._offset


def _select(t: Tensor, dim: int, index: int) -> Geometry:
    if not t._shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = normalize_dim(dim, len(t._shape), "select")
    n = t._shape[d]
    if not -n <= index < n:
        raise IndexError(f"select: index {index} is out of bounds for dimension {d} with size {n}")
    strides = t._get_strides()
    return (*t._shape[:d], *t._shape[d + 1:]), (*strides[:d], *strides[d + 1:]), t._offset + (index % n) * strides[d]


def _slice(t: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Geometry:
    if not t._shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise ValueError("step must be greater than zero")
    d = normalize_dim(dim, len(t._shape), "slice")
    first, last, _ = slice(start, end, step).indices(t._shape[d])
    n = len(range(first, last, step))
    strides = t._get_strides()
    return (*t._shape[:d], n, *t._shape[d + 1:]), (*strides[:d], strides[d] * step, *strides[d + 1:]), t._offset + (first * strides[d] if n else 0)


def _diagonal(t: Tensor, offset: int, dim1: int, dim2: int) -> Geometry:
    a, b = normalize_dims((dim1, dim2), len(t._shape), "diagonal")
    strides = t._get_strides()
    n = max(min(t._shape[a], t._shape[b] - offset) if offset >= 0 else min(t._shape[a] + offset, t._shape[b]), 0)
    start = t._offset + (offset * strides[b] if offset >= 0 else -offset * strides[a]) if n else t._offset
    rest = [i for i in range(len(t._shape)) if i not in (a, b)]
    return (*(t._shape[i] for i in rest), n), (*(strides[i] for i in rest), strides[a] + strides[b]), start


def _unfold(t: Tensor, dimension: int, size: int, step: int) -> Geometry:
    d = normalize_dim(dimension, len(t._shape), "unfold")
    n, stride = (t._shape[d], t._get_strides()[d]) if t._shape else (1, 1)
    if size > n or size < 0 or step <= 0:
        raise ShapeError(f"unfold: maximum size for tensor at dimension {d} is {n} but size is {size} (step {step} must be positive)")
    shape, strides = list(t._shape), list(t._get_strides())
    if shape:
        shape[d], strides[d] = (n - size) // step + 1, stride * step
    return (*shape, size), (*strides, stride), t._offset


def _as_strided(t: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> Geometry:
    offset = t._offset if storage_offset is None else storage_offset
    need = 0 if 0 in size else offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if need * t.dtype.itemsize > t._storage.length or any(s < 0 for s in stride):
        raise ShapeError(f"as_strided: setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are out of bounds for storage of size "
                         f"{t._storage.length}")
    return tuple(size), tuple(stride), offset


def _unbind(t: Tensor, dim: int) -> list[Geometry]:
    d = normalize_dim(dim, len(t._shape), "unbind")
    return [_select(t, d, i) for i in range(t._shape[d])]


def _split(t: Tensor, split_size: Sequence[int], dim: int) -> list[Geometry]:
    d = normalize_dim(dim, len(t._shape), "split")
    n = t._shape[d]
    sizes = list(split_size)
    if sum(sizes) != n or any(s < 0 for s in sizes):
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {d}), but got split_sizes={sizes}")
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    return [_slice(t, d, a, a + s, 1) for a, s in zip(starts, sizes, strict=True)]


def _zeros(meta: Any) -> Tensor:
    from tensorx.ops import factories
    return factories.zeros(meta.shape, dtype=meta.dtype, device=meta.device)


def _embed(view: Any) -> Any:
    """The adjoint of taking a view: zeros with ``g`` in that view."""
    def vjp(g: Tensor, meta: Any, *rest: Any) -> Tensor:
        whole = _zeros(meta._replace(dtype=g.dtype))
        view(whole, *rest).copy_(g)
        return whole
    return vjp


def _as_strided_vjp(g: Tensor, meta: Any, size: Any, stride: Any, offset: Any) -> Tensor:
    """Add each element into a buffer in the storage's geometry, then read the input's elements from it."""
    from tensorx.ops import factories, indexing
    base = factories.arange(math.prod(meta.shape), device=g.device).view(*meta.shape) if meta.shape else factories.zeros((), dtype=dtypes.int64, device=g.device)
    index = base.as_strided(size, stride, offset or 0)
    flat = factories.zeros((math.prod(meta.shape),), dtype=g.dtype, device=g.device)
    return indexing.index_put(flat, (index.contiguous(),), g.contiguous(), True).view(meta.shape)


M = {"samples": lambda t: [(t((2, 3, 4)),)]}
view = viewing("view(Tensor self, int[] size) -> Tensor", _view, lambda g, self_meta: g.reshape(self_meta.shape), ref=np.reshape,
               samples=lambda t: [(t((2, 3, 4)), (6, 4)), (t((2, 3, 4)), (-1,))], doc="The same elements in another shape, without a copy.")
view_dtype = viewing("view.dtype(Tensor self, ScalarType dtype) -> Tensor", _view_dtype, NONDIFF, ref=lambda x, dtype: x,
                     samples=lambda t: [(t((3, 4)), t((1,)).dtype)], doc="The same bytes read as another dtype.")
expand = viewing("expand(Tensor self, int[] size) -> Tensor", _expand, lambda g: g, ref=np.broadcast_to, samples=lambda t: [(t((3, 1)), (2, 3, 4))],
                 doc="Extents of one repeated without a copy.")
permute = viewing("permute(Tensor self, int[] dims) -> Tensor", _permute, lambda g, dims: permute(g, tuple(np.argsort([d % len(dims) for d in dims]).tolist())),
                  ref=np.transpose, samples=lambda t: [(t((2, 3, 4)), (2, 0, 1))], doc="Dimensions in another order.")
transpose = viewing("transpose(Tensor self, int dim0, int dim1) -> Tensor", _transpose, lambda g, dim0, dim1: g.transpose(dim0, dim1), ref=np.swapaxes,
                    samples=lambda t: [(t((2, 3, 4)), 0, 2), (t((2, 3, 4)), -1, -2)], doc="Two dimensions swapped.")
squeeze = viewing("squeeze(Tensor self, int[1]? dim=None) -> Tensor", _squeeze, lambda g, self_meta: g.reshape(self_meta.shape),
                  ref=lambda x, dim=None: x.reshape([n for i, n in enumerate(x.shape) if n != 1 or (dim is not None and i != dim % x.ndim)]),
                  samples=lambda t: [(t((1, 3, 1)),), (t((1, 3, 1)), 0)], doc="Dimensions of extent one removed.")
unsqueeze = viewing("unsqueeze(Tensor self, int dim) -> Tensor", _unsqueeze, lambda g, self_meta: g.reshape(self_meta.shape), ref=np.expand_dims,
                    samples=lambda t: [(t((2, 3)), 1), (t((2, 3)), -1)], doc="A dimension of extent one inserted.")
select = viewing("select(Tensor self, int dim, int index) -> Tensor", _select,
                 lambda g, self_meta, dim, index: _embed(lambda w: w.select(dim, index))(g, self_meta), ref=lambda x, dim, index: np.take(x, index, dim),
                 samples=lambda t: [(t((2, 3, 4)), 1, -1)], doc="One index of a dimension.")
slice_ = viewing("slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor", _slice,
                 lambda g, self_meta, dim, start, end, step: _embed(lambda w: w.slice(dim, start, end, step))(g, self_meta),
                 ref=lambda x, dim=0, start=None, end=None, step=1: np.take(x, range(x.shape[dim])[start:end:step], dim),
                 samples=lambda t: [(t((5, 4)), 0, 1, 5, 2), (t((5, 4)), 1, -3)], doc="A range of a dimension.")
diagonal = viewing("diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", _diagonal,
                   lambda g, self_meta, offset, dim1, dim2: _embed(lambda w: w.diagonal(offset, dim1, dim2))(g, self_meta), ref=np.diagonal,
                   samples=lambda t: [(t((3, 4)),), (t((2, 3, 4)), -1, 2, 1)], doc="A diagonal of two dimensions, as the last dimension.")
unfold = viewing("unfold(Tensor self, int dimension, int size, int step) -> Tensor", _unfold,
                 lambda g, self_meta, dimension, size, step: _as_strided_vjp(g, self_meta, *_unfolded(self_meta, dimension, size, step)),
                 ref=lambda x, dimension, size, step: np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, dimension)[
                     tuple(slice(None, None, step) if i == dimension % x.ndim else slice(None) for i in range(x.ndim))], -1, -1),
                 samples=lambda t: [(t((7, 2)), 0, 3, 2)], doc="Sliding windows of a dimension, as a new last dimension.")
as_strided = viewing("as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor", _as_strided,
                     lambda g, self_meta, size, stride, storage_offset: _as_strided_vjp(g, self_meta, size, stride, storage_offset),
                     ref=lambda x, size, stride, storage_offset=None: np.lib.stride_tricks.as_strided(
                         x.ravel()[storage_offset or 0:], size, [s * x.itemsize for s in stride]),
                     samples=lambda t: [(t((4, 4)), (3, 2), (1, 4), 1)], doc="Any shape and strides over the same storage.")
unbind = viewing("unbind(Tensor self, int dim=0) -> Tensor[]", _unbind, lambda g, self_meta, dim: _stack_or_zero(g, self_meta, dim),
                 ref=lambda x, dim=0: [np.take(x, i, dim) for i in range(x.shape[dim])], samples=lambda t: [(t((2, 3)),), (t((2, 3)), 1)],
                 doc="Every index of a dimension, as a tuple of views.")
split_with_sizes = viewing("split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", _split, lambda g, dim: _cat(g, dim),
                           ref=lambda x, split_sizes, dim=0: np.split(x, np.cumsum(split_sizes)[:-1], dim),
                           samples=lambda t: [(t((5, 2)), (2, 3)), (t((2, 6)), (1, 2, 3), 1)], doc="Pieces of given sizes, as a tuple of views.")


def _unfolded(meta: Any, dimension: int, size: int, step: int) -> tuple[Any, Any, int]:
    if not meta.shape:
        return (size,), (1,), 0
    d = dimension % len(meta.shape)
    strides = contiguous_strides(meta.shape)
    shape = [*meta.shape, size]
    shape[d] = (meta.shape[d] - size) // step + 1
    return tuple(shape), (*strides[:d], strides[d] * step, *strides[d + 1:], strides[d]), 0


def _stack_or_zero(g: tuple[Tensor, ...], meta: Any, dim: int) -> Tensor:
    from tensorx.ops import joining
    return joining.stack(g, dim) if g else _zeros(meta)


def _cat(g: tuple[Tensor, ...], dim: int) -> Tensor:
    from tensorx.ops import joining
    return joining.cat(g, dim)


@composite("reshape(Tensor self, int[] shape) -> Tensor", ref=np.reshape, samples=lambda t: [(t((2, 3, 4)), (4, -1)), (t((2, 3, 4)).transpose(0, 2), (4, 6))],
           doc="The same elements in another shape; a view where possible.")
def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    size = infer_size(shape, x.numel())
    if reshaped_strides(x._shape, x._get_strides(), size) is None:
        x = x.contiguous()
    return x.view(size)


@composite("flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
           ref=lambda x, start_dim=0, end_dim=-1: x.reshape(*x.shape[:start_dim], -1, *x.shape[end_dim % x.ndim + 1:]),
           samples=lambda t: [(t((2, 3, 4)),), (t((2, 3, 4)), 1), (t((2, 3, 4)), 0, 1)], doc="A range of dimensions joined into one.")
def flatten(x: Tensor, start_dim: int, end_dim: int) -> Tensor:
    n = len(x._shape)
    a, b = normalize_dim(start_dim, n, "flatten"), normalize_dim(end_dim, n, "flatten")
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return x.reshape((*x._shape[:a], math.prod(x._shape[a:b + 1]), *x._shape[b + 1:]))


@composite("t(Tensor self) -> Tensor", ref=np.transpose, samples=lambda t: [(t((2, 3)),), (t((3,)),)], doc="The transpose of a matrix.")
def t(x: Tensor) -> Tensor:
    if len(x._shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(x._shape)}D")
    return x.transpose(0, 1) if len(x._shape) == 2 else x.permute(*range(len(x._shape)))


@composite("narrow(Tensor self, int dim, int start, int length) -> Tensor",
           ref=lambda x, dim, start, length: np.take(x, range(start % x.shape[dim], start % x.shape[dim] + length), dim),
           samples=lambda t: [(t((5, 2)), 0, 1, 3)], doc="A range of a dimension by start and length.")
def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    n = x._shape[normalize_dim(dim, len(x._shape), "narrow")]
    first = start + n if start < 0 else start
    if length < 0 or not 0 <= first <= n - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return x.slice(dim, first, first + length)


@composite("split(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
           ref=lambda x, split_size, dim=0: np.split(x, range(split_size, x.shape[dim], split_size), dim),
           samples=lambda t: [(t((5, 2)), 2)], doc="Pieces of one size (the last may be smaller) or of given sizes.")
def split(x: Tensor, split_size: Sequence[int], dim: int) -> Any:
    if not x._shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    n = x._shape[normalize_dim(dim, len(x._shape), "split")]
    if len(split_size) == 1:
        step = split_size[0]
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        split_size = [min(step, n - i) for i in range(0, n, step)] if n else [0]
    return x.split_with_sizes(tuple(split_size), dim)


@composite("chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", ref=lambda x, chunks, dim=0: np.split(
    x, range(-(-x.shape[dim] // chunks), x.shape[dim], -(-x.shape[dim] // chunks)), dim), samples=lambda t: [(t((5, 2)), 2)],
    doc="At most so many pieces of equal size.")
def chunk(x: Tensor, chunks: int, dim: int) -> Any:
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not x._shape:
        raise ShapeError("chunk expects at least a 1-dimensional tensor")
    n = x._shape[normalize_dim(dim, len(x._shape), "chunk")]
    return x.split((-(-n // chunks),), dim) if n else x.split_with_sizes((0,) * chunks, dim)
