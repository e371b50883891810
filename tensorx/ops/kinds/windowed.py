"""What the kinds POOL, COLUMNS and RESAMPLE share: leading axes are merged, the last ones stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tensorx.ops import layout
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


class Arranged(NamedTuple):
    """How a launch sees its operands."""

    sizes: Ints  # merged leading axes
    access: tuple[str, ...]  # 'c' or 's' an operand
    width: str  # i32 where every address fits
    steps: Ints  # the stride arguments


@lru_cache(maxsize=4096)
def _arrange(lead: Ints, last: tuple[Ints, ...], strides: tuple[Ints, ...], loose: int) -> Arranged:
    k = len(lead)
    sizes, merged = layout.merge_axes(lead, tuple(s[:k] for s in strides), False)
    full = [(*m, *s[k:]) for m, s in zip(merged, strides, strict=True)]
    access = tuple("c" if s[-1] == 1 and i < len(full) - loose else "s" for i, s in enumerate(full))
    small = all(layout.index_width((*sizes, *n), [s]) == "i32" for n, s in zip(last, full, strict=True))
    steps = tuple(n for s, a in zip(full, access, strict=True) for n in (s[:-1] if a == "c" else s))
    return Arranged(sizes, access, "i32" if small else "i64", steps)


def arrange(lead: Ints, tensors: Sequence[Tensor], listed: Sequence[tuple[Ints, Ints]] = ()) -> Arranged:
    """Merge the ``lead`` axes of ``tensors``; ``listed`` operands are given by their last extents and strides, and are never 'c'."""
    k = len(lead)
    last = (*(t._shape[k:] for t in tensors), *(n for n, _ in listed))
    return _arrange(lead, last, (*(t._get_strides() for t in tensors), *(s for _, s in listed)), len(listed))


def buffers(tensors: Sequence[Tensor]) -> list[object]:
    """The buffer arguments."""
    return [v for t in tensors for v in (t._storage.handle(), t._offset)]
