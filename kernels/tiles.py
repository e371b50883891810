"""Tilings of the contract family: the default one for a device and a problem, and the few others worth a try.

:func:`tile` is what a device gets that was never tuned; :func:`candidates` is the bounded list from which
:mod:`tensorx.ops.tuning` picks, by running them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .geometry import ceil_div
from .spec import ITEMSIZE

if TYPE_CHECKING:
    from .capabilities import Capabilities


@dataclass(frozen=True)
class VectorTile:
    """Register tiles of ``rows`` x ``vectors`` vectors of ``lanes``, fed from panels of ``depth`` k.

    A thread packs the panels for its own tile of y0.

    ``max_m`` x ``max_n`` bounds that tile, which is chosen at launch. No local memory; for processors with large
    caches.
    """

    lanes: int
    vectors: int
    rows: int
    depth: int
    max_m: int
    max_n: int
    thin: bool = False  # no packing: x1 is read in place, once, against a few rows of x0

    @property
    def width(self) -> int:
        """Columns of a register tile."""
        return self.lanes * self.vectors


@dataclass(frozen=True)
class LocalTile:
    """Work-groups with ``m`` x ``k`` of x0 and ``k`` x ``n`` of x1 in local memory; an item sums rows x cols."""

    m: int
    n: int
    k: int
    rows: int
    cols: int

    @property
    def items(self) -> int:
        """Work items of a group."""
        return (self.m // self.rows) * (self.n // self.cols)

    @property
    def words(self) -> int:
        """Elements of local memory: rows are one longer than the tile, so that a column lies in distinct banks."""
        return self.k * (self.m + 1 + self.n + 1)


Tile = VectorTile | LocalTile

#: Register blocks (rows, vectors) beside the default one, where 32 vector registers are, and where 16 are.
WIDE_BLOCKS = ((12, 2), (8, 3), (6, 4), (8, 2), (6, 2))
NARROW_BLOCKS = ((4, 3), (4, 2), (2, 4))

#: From fast to small: every device that can run OpenCL or CUDA (32 items, 1 KB) can run one of them.
LOCAL_TILES = (
    LocalTile(128, 128, 16, 8, 8),
    LocalTile(128, 128, 8, 8, 8),
    LocalTile(64, 64, 16, 4, 4),
    LocalTile(64, 64, 16, 8, 8),
    LocalTile(64, 64, 8, 8, 8),
    LocalTile(64, 64, 4, 8, 8),
    LocalTile(32, 32, 8, 4, 4),
    LocalTile(16, 32, 8, 4, 4),
    LocalTile(16, 16, 4, 4, 4),
    LocalTile(8, 8, 4, 4, 4),
    LocalTile(4, 4, 4, 4, 4),
)
FLAT_TILES = (
    LocalTile(8, 128, 16, 4, 4),
    LocalTile(8, 64, 8, 4, 2),
    LocalTile(8, 32, 4, 4, 2),
    LocalTile(4, 16, 4, 4, 1),
)


def tile(acc: str, caps: Capabilities, m: int, n: int, direct: bool = False) -> Tile:
    """The tile for ``m`` x ``n`` real results summed in ``acc``; ``direct``: x1 has a dense axis to read in place."""
    size = ITEMSIZE[acc]
    if caps.cpu_like or caps.dialect == "c":
        lanes = max(2, min(64, 4 * caps.simd_width) // size)
        # 16-lane machines have 32 vector registers: twice the rows fit. Products that are not fused need some of them
        # (on PoCL 512 x 512 takes 5.7 ms with 12 rows, 3.9 with 8).
        rows, thin = (12 if caps.fast_fma else 8, 8) if caps.simd_width >= 16 else (6, 4)
        if direct and m <= thin:
            return _thin(lanes, m, size)
        # C takes its scratch from the heap; OpenCL holds it in private memory, whose size is fixed: half a megabyte
        # runs everywhere.
        max_n, max_m = (2048 // size, 2064 // size) if caps.dialect == "c" else (1024 // size, 1032 // size)
        return VectorTile(lanes, 2, rows, 256, max_m // rows * rows, max_n)
    fits, flat = (_fitting(tiles, caps, size) for tiles in (LOCAL_TILES, FLAT_TILES))
    if m <= 8 and flat:
        return flat[0]
    # A tile that leaves most of itself or most compute units empty loses more than its reuse gains.
    for candidate in fits:
        filled = m * n >= 0.5 * ceil_div(m, candidate.m) * candidate.m * ceil_div(n, candidate.n) * candidate.n
        if filled and ceil_div(m, candidate.m) * ceil_div(n, candidate.n) >= caps.compute_units:
            return candidate
    return (
        min(fits, key=lambda t: (ceil_div(m, t.m) * t.m * ceil_div(n, t.n) * t.n, -t.m * t.n, -t.k))
        if fits
        else flat[-1]
    )


def _thin(lanes: int, m: int, size: int) -> VectorTile:
    """The tile for up to eight rows, which it reads x1 once for."""
    rows = 1 << max(0, m - 1).bit_length()
    return VectorTile(lanes, 2, rows, 1024, rows, 4096 // size, thin=True)


def _fitting(tiles: Sequence[LocalTile], caps: Capabilities, size: int) -> list[LocalTile]:
    return [t for t in tiles if t.items <= caps.max_workgroup and t.words * size <= caps.local_mem]


def candidates(acc: str, caps: Capabilities, m: int, n: int, direct: bool = False) -> tuple[Tile, ...]:
    """Tiles to try for such a problem: the default one first, none twice, a dozen or two at most.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> found = candidates("f32", Capabilities("c", simd_width=8), 512, 512)
    >>> found[0] == tile("f32", Capabilities("c", simd_width=8), 512, 512), len(found) == len(set(found)) < 24
    (True, True)
    """
    first = tile(acc, caps, m, n, direct)
    if isinstance(first, LocalTile):
        found: list[Tile] = [*_fitting((*LOCAL_TILES, *FLAT_TILES), caps, ITEMSIZE[acc])]
        return tuple(dict.fromkeys([first, *found]))
    packed = tile(acc, caps, m, n, False)
    assert isinstance(packed, VectorTile)
    others: list[Tile] = [packed, replace(packed, depth=128), replace(packed, lanes=max(2, packed.lanes // 2))]
    for rows, vectors in WIDE_BLOCKS if caps.simd_width >= 16 else NARROW_BLOCKS:
        others.append(replace(packed, rows=rows, vectors=vectors, max_m=packed.max_m // rows * rows))
    if caps.dialect == "c":  # whose scratch may be large
        others += [replace(packed, depth=384), replace(packed, max_n=2 * packed.max_n)]
    if direct and m <= 8:
        thin = _thin(packed.lanes, m, ITEMSIZE[acc])
        others += [thin, replace(thin, max_n=thin.max_n * 2), replace(thin, lanes=max(2, thin.lanes // 2))]
    return tuple(dict.fromkeys([first, *others]))


def spread(kind: VectorTile, units: int, batch: int, m: int, n: int) -> tuple[int, int]:
    """Extents (tile_m, tile_n) of a thread's tiles: as large as fits, yet evenly many for ``units`` threads.

    >>> spread(VectorTile(8, 2, 6, 256, 516, 512), 2, 1, 1024, 1024)
    (516, 512)
    >>> spread(VectorTile(8, 2, 6, 256, 516, 512), 2, 1, 1, 4096)
    (6, 512)
    """
    rows, cols = max(1, ceil_div(m, kind.rows)), max(1, ceil_div(n, kind.width))
    down, across = ceil_div(rows, kind.max_m // kind.rows), ceil_div(cols, kind.max_n // kind.width)
    while batch * down * across < units and (down < rows or across < cols):
        # Halve the longer side: packing is shared by the other one.
        if (rows * kind.rows * across >= cols * kind.width * down and down < rows) or across >= cols:
            down += 1
        else:
            across += 1
    if batch * down * across < 8 * units and (batch * down * across) % units:
        even = units // math.gcd(units, batch * across)
        down = min(rows, ceil_div(down, even) * even)
    return ceil_div(rows, down) * kind.rows, ceil_div(cols, across) * kind.width
