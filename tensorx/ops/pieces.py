"""Splitting, stacking and joining as NumPy does: tensor_split, column_stack, block_diag, combinations, rot90, ..."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import ShapeError
from tensorx.ops.families import composite
from tensorx.ops.joining import cat, stack
from tensorx.ops.shaping import diag, grid
from tensorx.tensor import Tensor, from_host, normalize_dim


def _cuts(x: Any, indices: Sequence[int], dim: int) -> Any:
    """Slices between the indices, which may repeat, fall back or lie outside."""
    n = x._shape[dim]
    bounds = [slice(i, None).indices(n)[0] for i in indices]
    return tuple(x.slice(dim, a, max(a, b), 1) for a, b in zip([0, *bounds], [*bounds, n], strict=True))


@composite("tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]", ref=lambda x, sections, dim=0: np.array_split(x, sections, dim),
           samples=lambda t: [(t((7, 2)), 3), (t((2, 5)), 2, 1)], doc="So many pieces, the first ones one longer where the dimension does not divide.")
def tensor_split(x: Any, sections: int, dim: int) -> Any:
    if not x.dim():
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    d = normalize_dim(dim, x.dim(), "tensor_split")
    least, more = divmod(x._shape[d], sections)
    return _cuts(x, [(least + 1) * i if i <= more else least * i + more for i in range(1, sections)], d)


@composite("tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]", ref=lambda x, indices, dim=0: np.split(x, indices, dim),
           samples=lambda t: [(t((7, 2)), (1, 4)), (t((2, 5)), (3, 2), 1)], doc="Pieces that end at the given indices.")
def tensor_split_at(x: Any, indices: Sequence[int], dim: int) -> Any:
    if not x.dim():
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    return _cuts(x, indices, normalize_dim(dim, x.dim(), "tensor_split"))


def _splits(name: str, least: int, ref: Any, shape: Any) -> None:
    """hsplit, vsplit and dsplit: equal pieces, or pieces that end at indices, along the dimension that the name says."""
    def dim_of(x: Any) -> int:
        if x.dim() < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, but got a tensor with {x.dim()} dimensions!")
        return {"hsplit": min(1, x.dim() - 1), "vsplit": 0, "dsplit": 2}[name]

    def even(x: Any, sections: int) -> Any:
        d = dim_of(x)
        if sections <= 0 or x._shape[d] % sections:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {d}, but the size of the dimension {x._shape[d]} is not divisible by the split_size "
                               f"{sections}!")
        return tensor_split(x, sections, d)
    doc = "Pieces along the {} dimension.".format({"hsplit": "second (the first, of a vector)", "vsplit": "first", "dsplit": "third"}[name])
    composite(f"{name}.int(Tensor self, int sections) -> Tensor[]", ref=ref, samples=lambda t: [(t(shape), 2)], doc=doc)(even)
    composite(f"{name}.array(Tensor self, int[] indices) -> Tensor[]", ref=ref, samples=lambda t: [(t(shape), (1, 2))], doc=doc)(
        lambda x, indices: tensor_split_at(x, indices, dim_of(x)))


_splits("hsplit", 1, np.hsplit, (2, 4))
_splits("vsplit", 2, np.vsplit, (4, 2))
_splits("dsplit", 3, np.dsplit, (2, 2, 4))

composite("unsafe_split(Tensor self, int split_size, int dim=0) -> Tensor[]", ref=lambda x, split_size, dim=0: np.split(x, range(split_size, x.shape[dim], split_size), dim),
          samples=lambda t: [(t((5, 2)), 2)], doc="split without its checks on later writes.")(lambda x, size, dim: x.split(size, dim))
composite("unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", ref=lambda x, split_sizes, dim=0: np.split(x, np.cumsum(split_sizes)[:-1], dim),
          samples=lambda t: [(t((5, 2)), (2, 3))], doc="split_with_sizes without its checks on later writes.")(lambda x, sizes, dim: x.split_with_sizes(sizes, dim))
composite("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", samples=lambda t: [(t((5, 2)), 2)], ref=lambda x, chunks, dim=0: np.split(
    x, range(-(-x.shape[dim] // chunks), x.shape[dim], -(-x.shape[dim] // chunks)), dim), doc="chunk without its checks on later writes.")(
        lambda x, chunks, dim: x.chunk(chunks, dim))


def _each(f: Any, tensors: tuple[Any, ...]) -> Any:
    """``f`` of a tensor, or of all tensors given (or in the sequence given)."""
    if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
        return f(tensors[0])
    return tuple(f(t) for t in (tensors[0] if len(tensors) == 1 else tensors))


def atleast_1d(*tensors: Any) -> Any:
    """Zero-dim tensors as vectors of one element; others as they are. Of several tensors (or a sequence) a tuple.

    >>> import tensorx
    >>> tensorx.atleast_1d(tensorx.tensor(3))
    tensor([3])
    """
    return _each(lambda t: t if t.dim() else t.reshape(1), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors of fewer than two dimensions with dimensions of extent one in front.

    >>> import tensorx
    >>> tensorx.atleast_2d(tensorx.ones(3)).shape
    tensorx.Size([1, 3])
    """
    return _each(lambda t: t.reshape(1, 1) if not t.dim() else t.unsqueeze(0) if t.dim() == 1 else t, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors of fewer than three dimensions with dimensions of extent one: vectors in the middle, matrices at the end.

    >>> import tensorx
    >>> tensorx.atleast_3d(tensorx.ones(3)).shape, tensorx.atleast_3d(tensorx.ones(3, 4)).shape
    (tensorx.Size([1, 3, 1]), tensorx.Size([3, 4, 1]))
    """
    def lift(t: Any) -> Any:
        return t.reshape(1, 1, 1) if not t.dim() else t.unsqueeze(0).unsqueeze(-1) if t.dim() == 1 else t.unsqueeze(-1) if t.dim() == 2 else t
    return _each(lift, tensors)


PAIR = {"samples": lambda t: [((t((2, 3)), t((2, 3))),)]}


@composite("column_stack(Tensor[] tensors) -> Tensor", ref=np.column_stack, samples=lambda t: [((t((3,)), t((3, 2))),)], doc="Columns (vectors as such) joined side by side.")
def column_stack(tensors: Sequence[Any]) -> Any:
    return cat(tuple(t.reshape(t.numel(), 1) if t.dim() < 2 else t for t in tensors), 1)


@composite("dstack(Tensor[] tensors) -> Tensor", ref=np.dstack, doc="Tensors joined along the third dimension.", **PAIR)
def dstack(tensors: Sequence[Any]) -> Any:
    return cat(tuple(atleast_3d(t) for t in tensors), 2)


@composite("row_stack(Tensor[] tensors) -> Tensor", ref=np.vstack, doc="Another name of vstack.", **PAIR)
def row_stack(tensors: Sequence[Any]) -> Any:
    return cat(tuple(atleast_2d(t) for t in tensors), 0)


def _np_block_diag(tensors: Sequence[Any]) -> Any:
    blocks = [np.atleast_2d(x) for x in tensors]
    out = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)), np.result_type(*blocks))
    i = j = 0
    for b in blocks:
        out[i:i + b.shape[0], j:j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return out


@composite("_block_diag(Tensor[] tensors) -> Tensor", ref=_np_block_diag, samples=lambda t: [((t((2, 3)), t((4,)), t(())),)], doc="A matrix with the given ones along its diagonal.")
def block_diag_(tensors: Sequence[Any]) -> Any:
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()} dimensions")
    blocks = [atleast_2d(t) for t in tensors]
    d = dtypes.promote([b.dtype for b in blocks], [], [])
    width, start, rows = sum(b._shape[1] for b in blocks), 0, []
    for b in blocks:
        n, m = b._shape
        rows.append(cat((b.new_zeros((n, start), dtype=d), b, b.new_zeros((n, width - start - m), dtype=d)), 1))
        start += m
    return cat(tuple(rows), 0)


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given matrices (vectors as rows, numbers as 1 x 1) along its diagonal. RuntimeError for more than two dimensions.

    >>> import tensorx
    >>> tensorx.block_diag(tensorx.tensor([[1, 2]]), tensorx.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    from tensorx.ops import factories
    return block_diag_(tuple(tensors)) if tensors else factories.empty(1, 0)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All choices of one element from each vector, as rows. RuntimeError unless all are vectors.

    >>> import tensorx
    >>> tensorx.cartesian_prod(tensorx.tensor([1, 2]), tensorx.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._shape)}")
    if len(tensors) == 1:
        return tensors[0]  # type: ignore[no-any-return]
    return stack(tuple(g.reshape(-1) for g in grid(tuple(tensors), False)), 1)  # type: ignore[no-any-return]


def _picks(n: int, r: int, with_replacement: bool) -> Any:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(range(n), r)), np.int64).reshape(-1, r)


@composite("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", ref=lambda x, r=2, with_replacement=False: x[_picks(len(x), r, with_replacement)],
           samples=lambda t: [(t((4,)),), (t((3,)), 3, True)], doc="All choices of r elements of a vector, in order, as rows.")
def combinations(x: Any, r: int, with_replacement: bool) -> Any:
    if x.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return x.new_zeros((0,))
    return x[from_host(_picks(x._shape[0], r, with_replacement), dtypes.int64, x.device)]


@composite("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", ref=lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
           samples=lambda t: [(t((2, 3)),), (t((2, 3)), 2), (t((2, 3, 4)), -1, (1, 2))], doc="Rotated by 90 degrees k times, from the first of dims towards the second.")
def rot90(x: Any, k: int, dims: Sequence[int]) -> Any:
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.dim()}")
    a, b = (normalize_dim(d, x.dim(), "rot90") for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    if k % 4 == 1:
        return x.flip(b).transpose(a, b)
    if k % 4 == 3:
        return x.flip(a).transpose(a, b)
    return x.flip((a, b)) if k % 4 == 2 else x.clone()


@composite("diagflat(Tensor self, int offset=0) -> Tensor", ref=np.diagflat, samples=lambda t: [(t((2, 2)),), (t((3,)), 1)], doc="All elements as the diagonal of a matrix.")
def diagflat(x: Any, offset: int) -> Any:
    return diag(x.reshape(-1), offset)


@composite("ravel(Tensor self) -> Tensor", ref=np.ravel, samples=lambda t: [(t((2, 3)),)], doc="A vector of all elements; a view where they are contiguous.")
def ravel(x: Any) -> Any:
    return x.contiguous().view(-1)


@composite("moveaxis(Tensor self, int[] source, int[] destination) -> Tensor", ref=np.moveaxis, samples=lambda t: [(t((2, 3, 4)), 0, 2)], doc="Another name of movedim.")
def moveaxis(x: Any, source: Sequence[int], destination: Sequence[int]) -> Any:
    return x.movedim(source, destination)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Places in a flattened tensor as coordinates, one tensor a dimension. TypeError for indices that are no integers.

    >>> import tensorx
    >>> tensorx.unravel_index(tensorx.tensor([0, 5]), (2, 3))
    (tensor([0, 1]), tensor([0, 2]))
    """
    if not isinstance(indices, Tensor):
        raise TypeError(f"unravel_index(): argument 'indices' must be Tensor, not {type(indices).__name__}")
    if indices.dtype.kind > dtypes.INT:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    found, rest = [], indices
    for n in reversed(sizes):
        found.append(rest % n)
        rest = rest.div(n, rounding_mode="floor")
    return tuple(reversed(found))


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to. RuntimeError if there is none.

    >>> import tensorx
    >>> tensorx.broadcast_shapes((2, 1), (3,), 1)
    tensorx.Size([2, 3])
    """
    from tensorx.ops.layout import broadcast_shapes as common
    from tensorx.size import Size
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(n < 0 for s in given for n in s):
        raise ValueError(f"Trying to create tensor with negative dimension ({min(n for s in given for n in s)})")
    return Size(common("broadcast_shapes", *given))


def _triangle_indices(name: str, f: Any) -> Any:
    def indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None, layout: Any = None) -> Tensor:
        from tensorx.ops import factories
        if row < 0 or col < 0:
            raise RuntimeError(f"{'row' if row < 0 else 'col'} must be non-negative, got{row if row < 0 else col}")
        return from_host(np.stack(f(row, offset, col)), dtype, factories.resolve(device))
    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = (f"Coordinates of the {'lower' if name == 'tril_indices' else 'upper'} triangle of a matrix, as [2, n].\n\n    >>> import tensorx\n"
                       f"    >>> tensorx.{name}(2, 2).tolist()\n    {np.stack(f(2, 0, 2)).tolist()}\n    ")
    return indices


tril_indices, triu_indices = _triangle_indices("tril_indices", np.tril_indices), _triangle_indices("triu_indices", np.triu_indices)


@composite("argwhere(Tensor self) -> Tensor", ref=np.argwhere, samples=lambda t: [(t.mask((3, 4)),)], doc="The coordinates of nonzero elements, one row each.")
def argwhere(x: Any) -> Any:
    return x.nonzero()


def _np_nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Any:
    out = np.full((size, x.ndim), fill_value)
    found = np.argwhere(x)[:size]
    out[: len(found)] = found
    return out


@composite("nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor", ref=_np_nonzero_static,
           samples=lambda t: [(t.mask((3, 4)), {"size": 4}), (t((2, 3)), {"size": 9, "fill_value": 7})],
           doc="The coordinates of the first nonzero elements, as many as size says, the rest filled: no wait for the device.")
def nonzero_static(x: Any, size: int, fill_value: int) -> Any:
    from tensorx.ops import factories
    from tensorx.ops.searching import searchsorted
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer; got {size}")
    mask = (x.detach() != 0).reshape(-1)
    if not mask.numel() or not x.dim() or not size:
        return x.new_full((size, x.dim()), fill_value, dtype=dtypes.int64)
    counts, ranks = mask.cumsum(0), factories.arange(1, size + 1, device=x.device)
    place = searchsorted(counts, ranks).clamp_max(mask.numel() - 1)  # the element at which the count reaches the rank
    coordinates = stack(unravel_index(place, x._shape), 1)
    return coordinates.masked_fill((ranks > counts[-1]).unsqueeze(1), fill_value)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the main diagonal in place; with ``wrap`` a tall matrix's starts again after a gap of a row. RuntimeError for fewer than two dimensions,
    and for more than two that are not all equal.

    >>> import tensorx
    >>> tensorx.zeros(2, 3).fill_diagonal_(5).tolist()
    [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    """
    shape, strides = self._shape, self._get_strides()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(shape)
    self.as_strided((n,), (sum(strides),), self._offset).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        step = shape[1] + 1
        for start in range(step, shape[0], step):
            m = min(shape[0] - start, shape[1])
            self.as_strided((m,), (sum(strides),), self._offset + start * strides[0]).fill_(fill_value)
    return self


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed to a shape that would broadcast to this one's. RuntimeError where it would not.

    >>> import tensorx
    >>> tensorx.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    from tensorx.ops.reduction import sum_to
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
    lead = self.dim() - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, self._shape[lead:], strict=True)):
        raise ShapeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self._shape)}}}.")
    return sum_to(self, shape)


def _np_pad(x: Any, pad: Sequence[int], value: Any = 0) -> Any:
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        d = x.ndim - 1 - i
        x = np.take(x, range(max(-before, 0), x.shape[d] - max(-after, 0)), d)
        x = np.pad(x, [(max(before, 0), max(after, 0)) if j == d else (0, 0) for j in range(x.ndim)], constant_values=value)
    return x


@composite("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", ref=_np_pad, samples=lambda t: [(t((2, 3)), (1, 2), 1), (t((2, 3)), (-1, 1, 0, 2))],
           doc="The last dimensions widened by a number, or cropped where the amount is negative.")
def constant_pad_nd(x: Any, pad: Sequence[int], value: Any) -> Any:
    if len(pad) % 2 or len(pad) // 2 > x.dim():
        raise RuntimeError(f"Length of pad must be even and at most twice the number of dimensions ({x.dim()}); got {len(pad)}")
    shape = list(x._shape)
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        d = x.dim() - 1 - i
        n = shape[d] + min(before, 0) + min(after, 0)
        if n < 0 or n + max(before, 0) + max(after, 0) < 0:
            raise RuntimeError(f"constant_pad_nd: the padding ({before}, {after}) makes dimension {d} of extent {n} negative")
        shape[d] = n + max(before, 0) + max(after, 0)
        x = x.narrow(d, max(-before, 0), n)
    out = x.new_full(shape, value)
    inside = out
    for i, before in enumerate(pad[::2]):
        inside = inside.narrow(x.dim() - 1 - i, max(before, 0), x._shape[x.dim() - 1 - i])
    inside.copy_(x)
    return out


METHODS: dict[str, Any] = {"fill_diagonal_": fill_diagonal_, "sum_to_size": sum_to_size}
