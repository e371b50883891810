"""Distinct elements: unique, unique_consecutive. Sorting, a mask of firsts, and nonzero, which reads the count back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops.families import composite
from tensorx.ops.joining import cat
from tensorx.ops.ordering import sort
from tensorx.tensor import Tensor, normalize_dim


def _firsts(ordered: Tensor) -> Tensor:
    """Where a run of equal elements begins in a vector."""
    n = ordered._shape[0]
    if n < 2:
        return ordered.new_full((n,), True, dtype=dtypes.bool_)
    return cat((ordered.new_full((1,), True, dtype=dtypes.bool_), ordered.narrow(0, 1, n - 1) != ordered.narrow(0, 0, n - 1)), 0)  # type: ignore[no-any-return]


def _ranks(table: Tensor) -> Tensor:
    """Each element's rank (from 0, equal elements alike) in its row of a matrix."""
    n = table._shape[1]
    ordered, order = sort(table, 1)
    steps = (ordered.narrow(1, 1, n - 1) != ordered.narrow(1, 0, n - 1)).long().cumsum(1)
    return table.new_zeros(table._shape, dtype=dtypes.int64).scatter(1, order, cat((steps.new_zeros((table._shape[0], 1)), steps), 1))  # type: ignore[no-any-return]


def _slice_ranks(columns: Tensor) -> Tensor:
    """The lexicographic rank of every column of a matrix, the first row counting most: pairs of rows are joined until one is left.

    A pair (a, b) of ranks below n orders as a * n + b, so log(rows) batched sorts do what a sort a row would.
    """
    n = columns._shape[1]
    ranks = _ranks(columns)
    while ranks._shape[0] > 1:
        rows = ranks._shape[0]
        pairs = ranks.narrow(0, 0, rows // 2 * 2).reshape(rows // 2, 2, n)
        joined = _ranks(pairs.select(1, 0) * n + pairs.select(1, 1))
        ranks = cat((joined, ranks.narrow(0, rows - 1, 1)), 0) if rows % 2 else joined
    return ranks.select(0, 0)


def _gaps(at: Tensor, n: int) -> Tensor:
    """Lengths of runs that begin at these places of ``n`` elements."""
    return cat((at, at.new_full((1,), n)), 0).diff() if at._shape[0] else at  # type: ignore[no-any-return]


def _refuse_meta(name: str, x: Tensor) -> None:
    if x.device.type == "meta":
        raise NotImplementedError(f"{name}: the result's shape depends on values, which meta tensors have not")


def _along(x: Tensor, dim: int) -> Tensor:
    """The slices of ``dim`` as columns of a matrix."""
    return x.movedim(dim, -1).reshape(-1, x._shape[dim])


def _np_unique(x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    return values, inverse.reshape(x.shape if dim is None else -1), counts


@composite("_unique(Tensor self, int? dim=None) -> (Tensor output, Tensor inverse_indices, Tensor counts)", ref=lambda x, dim=None: _np_unique(x, dim=dim), dtypes="bif",
           domain=(0, 4), samples=lambda t: [(t((3, 4)),), (t((6, 2)), 0), (t((2, 5)), 1)],
           doc="The distinct elements (or slices of dim) in order, where each element went, and how often each occurs.")
def unique_(x: Any, dim: int | None) -> Any:
    _refuse_meta("unique", x)
    x = x.detach()
    if dim is None:
        keys, shape, d = x.reshape(-1), x._shape, 0
    else:
        d = _dim(x, dim, "unique")
        if not x.numel():
            return _unique_of_nothing(x, d)
        keys, shape = _slice_ranks(_along(x, d)), (x._shape[d],)
    ordered, order = sort(keys, 0)
    firsts = _firsts(ordered)
    at = firsts.nonzero().reshape(-1)
    inverse = at.new_zeros(keys._shape).scatter(0, order, firsts.long().cumsum(0) - 1) if keys.numel() else at
    values = ordered[at] if dim is None else x.index_select(d, order[at])
    return values, inverse.reshape(shape), _gaps(at, keys.numel())


def _dim(x: Tensor, dim: int, name: str) -> int:
    if not x.dim():
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    return normalize_dim(dim, x.dim(), name)


def _unique_of_nothing(x: Tensor, d: int) -> Any:
    """Slices without elements could not be told apart; no slices are distinct."""
    if any(s == 0 for i, s in enumerate(x._shape) if i != d):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    empty = x.new_zeros((0,), dtype=dtypes.int64)
    return x.clone(), empty, empty.clone()


def _np_consecutive(x: Any, dim: int | None = None) -> Any:
    table = x.reshape(1, -1) if dim is None else np.moveaxis(x, dim, -1).reshape(-1, x.shape[dim])
    n = table.shape[1]
    firsts = np.r_[[True] * min(n, 1), (table[:, 1:] != table[:, :-1]).any(0)]
    at = np.flatnonzero(firsts)
    values = x.reshape(-1)[at] if dim is None else np.take(x, at, dim)
    return values, (np.cumsum(firsts) - 1).reshape(x.shape if dim is None else -1), np.diff(np.r_[at, n])


@composite("_unique_consecutive(Tensor self, int? dim=None) -> (Tensor output, Tensor inverse_indices, Tensor counts)", ref=_np_consecutive, domain=(0, 1),
           samples=lambda t: [(t((3, 4)).round() if t.dtype.kind == dtypes.FLOAT else t((3, 4)),), (t((6, 2)), 0)],
           doc="The elements (or slices of dim) that differ from the one before, which run each element belongs to, and the lengths of runs.")
def consecutive(x: Any, dim: int | None) -> Any:
    _refuse_meta("unique_consecutive", x)
    x = x.detach()
    if dim is None:
        keys, shape, d = x.reshape(-1), x._shape, 0
        firsts = _firsts(keys)
    else:
        d = _dim(x, dim, "unique_consecutive")
        n = x._shape[d]
        if not x.numel():
            return _unique_of_nothing(x, d)
        shape, table = (n,), _along(x, d)
        changes = (table.narrow(1, 1, n - 1) != table.narrow(1, 0, n - 1)).any(0)
        firsts = cat((changes.new_full((1,), True), changes), 0)
    at = firsts.nonzero().reshape(-1)
    values = x.reshape(-1)[at] if dim is None else x.index_select(d, at)
    return values, (firsts.long().cumsum(0) - 1).reshape(shape), _gaps(at, firsts.numel())


def _chosen(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    """What the caller asked for: the values alone, or a tuple."""
    wanted = [found[0], *([found[1]] if return_inverse else []), *([found[2]] if return_counts else [])]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The distinct elements in order, or the distinct slices of ``dim``; with them, if asked, where each element went and how often each occurs.

    NaN equals nothing. The call waits for the device, as the result's shape depends on values.

    >>> import tensorx
    >>> tensorx.unique(tensorx.tensor([3, 1, 3]), return_inverse=True, return_counts=True)
    (tensor([1, 3]), tensor([1, 0, 1]), tensor([1, 2]))
    """
    return _chosen(unique_(input, dim), return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The elements (or slices of ``dim``) without those that equal the one before.

    >>> import tensorx
    >>> tensorx.unique_consecutive(tensorx.tensor([1, 1, 2, 1]), return_counts=True)
    (tensor([1, 2, 1]), tensor([2, 1, 1]))
    """
    return _chosen(consecutive(input, dim), return_inverse, return_counts)


METHODS: dict[str, Any] = {"unique": unique, "unique_consecutive": unique_consecutive}
__all__ = ["METHODS", "unique", "unique_consecutive"]
