"""How many work items, in groups of what size: ``geometry(spec, caps, *sizes)``.

Work-group sizes are fixed by the spec and the capabilities, never by the sizes: PoCL compiles a kernel anew for every
local size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .capabilities import Capabilities
    from .spec import KernelSpec

__all__ = ["Grid", "ceil_div", "geometry", "power_of_two"]


@dataclass(frozen=True)
class Grid:
    """A launch: ``global_size`` work items in each dimension, ``local_size`` of them in a group. Dialect C takes
    none."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]

    @staticmethod
    def of(groups: Sequence[int], local: Sequence[int]) -> Grid:
        """The grid of ``groups`` work-groups of size ``local``; a dimension of no groups still gets one (empty
        launches are errors).

        >>> Grid.of((3,), (64,))
        Grid(global_size=(192,), local_size=(64,))
        """
        return Grid(tuple(max(1, g) * n for g, n in zip(groups, local, strict=True)), tuple(local))


def ceil_div(a: int, b: int) -> int:
    """``a / b`` rounded up.

    >>> ceil_div(7, 4), ceil_div(8, 4), ceil_div(0, 4)
    (2, 2, 0)
    """
    return -(-a // b)


def power_of_two(limit: int) -> int:
    """The largest power of two that is at most ``limit``.

    >>> power_of_two(1), power_of_two(100)
    (1, 64)
    """
    return 1 << (max(1, limit).bit_length() - 1)


def geometry(spec: KernelSpec, caps: Capabilities, *sizes: int) -> Grid | None:
    """The launch of ``spec`` for the sizes it is called with (in the order of its size arguments); None in dialect C.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> from tensorx.kernels.spec import KernelSpec, Operand
    >>> spec = KernelSpec("elementwise", "f", (Operand("y0", "f32", "f32"),), (), body="y0 = 1.0f;")
    >>> geometry(spec, Capabilities("cuda", max_workgroup=1024), 10000)
    Grid(global_size=(2560,), local_size=(256,))
    """
    if caps.dialect == "c":
        return None
    from .generator import family

    grid: Grid = family(spec.family).geometry(spec, caps, sizes)
    return grid
