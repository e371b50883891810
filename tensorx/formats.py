"""Memory formats and layouts: names for the order in which a tensor's elements lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tensorx.size import contiguous_strides, is_contiguous

Ints = tuple[int, ...]


class memory_format:
    """An order of elements in memory.

    >>> import tensorx
    >>> tensorx.zeros(1, 2, 3, 4).contiguous(memory_format=tensorx.channels_last).stride()
    (24, 1, 8, 2)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tensorx.{self.name}"

    def __reduce__(self) -> Any:
        return (_named, (self.name,))


class layout:
    """How a tensor keeps its elements; all of tensorx's tensors are strided.

    >>> import tensorx
    >>> tensorx.zeros(1).layout
    tensorx.strided
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tensorx.{self.name}"

    def __reduce__(self) -> Any:
        return (_named, (self.name,))


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
legacy_contiguous_format = contiguous_format
strided, jagged, sparse_coo = layout("strided"), layout("jagged"), layout("sparse_coo")
sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")


def _named(name: str) -> Any:
    return globals()[name]


def check_strided(op: str, wanted: Any) -> None:
    """NotImplementedError for a layout that there is none of."""
    if wanted is not None and wanted is not strided:
        raise NotImplementedError(
            f"{op}: argument 'layout' must be tensorx.strided; got {wanted!r}. Hint: sparse tensors are not supported"
        )


def _order(fmt: memory_format) -> Ints:
    """The dimensions of a channels-last tensor, the innermost one first."""
    return (1, 3, 2, 0) if fmt is channels_last else (1, 4, 3, 2, 0)


def format_strides(shape: Sequence[int], fmt: memory_format) -> Ints:
    """Strides of ``shape`` in a format other than preserve_format. RuntimeError for the wrong number of dimensions."""
    if fmt is contiguous_format:
        return contiguous_strides(shape)
    order = _order(fmt)
    if len(shape) != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {fmt.name} format")
    out, step = [0] * len(order), 1
    for d in order:
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)


def has_format(shape: Sequence[int], strides: Sequence[int], fmt: memory_format) -> bool:
    """Whether strides are those of a format (extents of one do not matter)."""
    if fmt is contiguous_format or fmt is preserve_format:
        return is_contiguous(shape, strides)
    order, step = _order(fmt), 1
    if len(shape) != len(order):
        return False
    for d in order:
        if shape[d] != 1:
            if strides[d] != step:
                return False
            step *= shape[d]
    return True


def suggested(shape: Sequence[int], strides: Sequence[int]) -> memory_format:
    """The format that strides look like: channels last if they rise in its order (gaps allowed), else contiguous."""
    fmt = {4: channels_last, 5: channels_last_3d}.get(len(shape))
    if fmt is None or strides[1] == 0:
        return contiguous_format
    least = 0
    for d in _order(fmt):
        if shape[d] == 0 or strides[d] < least:
            return contiguous_format
        if d == 0 and least == strides[1]:  # N111 tensors, and C1HW ones whose strides say nothing, count as contiguous
            return contiguous_format
        least = strides[d] * shape[d] if shape[d] > 1 else strides[d]
    return fmt


@lru_cache(maxsize=4096)
def dense_strides(shape: Ints, *operands: Ints) -> Ints:
    """Strides without gaps, in the axis order of the operands' strides: what results of elementwise ops have.

    An operand decides between two axes where it is broadcast along neither; the first one that can does.

    >>> dense_strides((2, 3, 4), (1, 4, 24))
    (1, 2, 6)
    """
    order = list(reversed(range(len(shape))))  # innermost first

    def after(a: int, b: int) -> int:
        """Whether axis ``a`` must lie outside of ``b`` (1), inside (-1), or either."""
        for strides in operands:
            if not strides[a] or not strides[b]:
                continue
            if strides[a] != strides[b]:
                return 1 if strides[a] > strides[b] else -1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, len(order)):
        at = i
        for j in reversed(range(i)):
            found = after(order[j], order[at])
            if found > 0:
                order[j], order[at] = order[at], order[j]
                at = j
            elif found < 0:
                break
    out, step = [0] * len(order), 1
    for d in order:
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)
