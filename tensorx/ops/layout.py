"""Pure functions on shapes and strides: broadcasting, merging of axes, access classes, memory overlap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tensorx.errors import ShapeError
from tensorx.formats import dense_strides
from tensorx.tensor import contiguous_strides, is_contiguous

Ints = tuple[int, ...]


@lru_cache(maxsize=4096)
def broadcast_shapes(op: str, *shapes: Ints) -> Ints:
    """The common shape. ShapeError, in PyTorch's words, when there is none.

    >>> broadcast_shapes("add", (3, 1), (4,))
    (3, 4)
    """
    out: list[int] = []
    for shape in shapes:
        if len(shape) > len(out):
            out = [1] * (len(shape) - len(out)) + out
    for shape in shapes:
        for i, n in enumerate(reversed(shape), 1):
            if n != 1 and out[-i] == 1:
                out[-i] = n
            elif n not in (1, out[-i]):
                raise ShapeError(f"{op}: The size of tensor a ({out[-i]}) must match the size of tensor b ({n}) at non-singleton dimension "
                                 f"{len(out) - i}; got shapes {', '.join(str(s) for s in shapes)}. Hint: extents must be equal or one")
    return tuple(out)


@lru_cache(maxsize=8192)
def expanded_strides(shape: Ints, strides: Ints, to: Ints) -> Ints:
    """Strides that read ``shape`` as if it had the broadcast shape ``to``: zero along expanded axes."""
    lead = len(to) - len(shape)
    return (0,) * lead + tuple(0 if n == 1 and t != 1 else s for n, s, t in zip(shape, strides, to[lead:], strict=True))


@lru_cache(maxsize=8192)
def merge_axes(shape: Ints, operands: tuple[Ints, ...], reorder: bool = True) -> tuple[Ints, tuple[Ints, ...]]:
    """Fewest axes that visit the same elements: extents of one dropped, neighbours joined where every operand allows it.

    With ``reorder`` axes are first sorted by the first operand's strides, so that permuted dense tensors become flat too.

    >>> merge_axes((2, 3), ((3, 1), (3, 1)))
    ((6,), ((1,), (1,)))
    """
    axes = [i for i, n in enumerate(shape) if n != 1]
    if reorder and operands:
        axes.sort(key=lambda i: (-operands[0][i], i))
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in operands]
    for i in axes:
        n = shape[i]
        if sizes and all(s[-1] == o[i] * n for s, o in zip(strides, operands, strict=True)):
            sizes[-1] *= n
            for s, o in zip(strides, operands, strict=True):
                s[-1] = o[i]
        else:
            sizes.append(n)
            for s, o in zip(strides, operands, strict=True):
                s.append(o[i])
    if not sizes:
        return (1,), tuple((1,) for _ in operands)
    return tuple(sizes), tuple(map(tuple, strides))


def access_class(strides: Ints) -> str:
    """'b' one element for all, 'c' inner stride one, 's' general."""
    return "b" if not any(strides) else "c" if strides[-1] == 1 else "s"


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last one addressed, inclusive; 0 if empty."""
    return 0 if 0 in shape else 1 + sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))


def index_width(sizes: Sequence[int], operands: Sequence[Sequence[int]]) -> str:
    """'i32' where every linear index and every address fits, else 'i64'."""
    total = 1
    for n in sizes:
        total *= max(n, 1)
    # Half of what 32 bits hold: kernels round up to whole tiles, and double the index of a complex element.
    return "i32" if total < 2**30 and all(span(sizes, s) < 2**30 for s in operands) else "i64"


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two indices may address one element (exact for expanded and dense tensors, as PyTorch's quick check)."""
    if is_contiguous(shape, strides) or 0 in shape:
        return False
    axes = sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1)
    reach = 0
    for stride, n in axes:
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a block of memory without gaps or overlap, in any axis order."""
    expected = 1
    for stride, n in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= n
    return True


def like_strides(shape: Ints, candidates: Sequence[tuple[Ints, Ints]]) -> Ints | None:
    """Strides for a result, in the axis order of its operands; None means row-major."""
    for s, strides in candidates:
        if s == shape:
            if is_contiguous(s, strides):
                return None
            break
    found = dense_strides(shape, *(expanded_strides(s, strides, shape) for s, strides in candidates))
    return None if is_contiguous(shape, found) else found


__all__ = ["access_class", "broadcast_shapes", "contiguous_strides", "expanded_strides", "index_width", "is_contiguous", "is_dense", "like_strides",
           "merge_axes", "overlaps_itself", "span"]
