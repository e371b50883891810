"""Attention with an online softmax: no row of scores is ever held (Dao et al. 2022, https://arxiv.org/abs/2205.14135).

``y0 = softmax(scale * x0 @ x1.T + masks) @ x2`` for a batch of heads, and its gradients.  A work item has a block of
queries, and walks over blocks of keys; its scores are a tile in registers and cache, made by the microkernel of
contract with keys as rows and queries as lanes, so that maxima and sums run lane by lane and the tile is at once the
operand of the second product.  Backward a work item has blocks of keys and walks over queries: it makes the weights
again from the saved logarithms of the sums, and adds its part of the queries' gradient to an array of its own
(``splits`` of them a head: as many as fill the device where there are few heads).  For processors.

Operands forward: ``y0`` output, ``y1`` (the logarithm of each row's sum); ``x0`` query, ``x1`` key, ``x2`` value.
Backward: ``y0`` parts of the query's gradient (splits, heads, L, D), ``y1`` and ``y2`` those of key and value; then
``x3`` cotangent, ``x4`` the logarithms, ``x5`` the sum of cotangent * output of each row. In both ``x6`` (nonzero:
takes part) and ``x7`` (added) are masks, where present. ``y1`` forward, ``y0`` backward, ``x4`` and ``x5`` are packed
(access ``'p'``), in the accumulate dtype.

Body: dropout of ``x0`` (and ``x1``, by the same draw) into ``y0`` and ``y1``; ``idx`` is the row-major place in
(heads, L, S). Params: ``back``, ``causal``, ``acc``, ``shape`` (a :class:`Blocks`), ``tile`` (contract's). Scalars:
``scale``, then the body's. Sizes: ``n0 n1 n2`` leading extents, ``L S D E`` (queries, keys, width of keys, of values),
backward ``splits``. Strides of an operand that is not packed: three leading ones, of rows, and of columns for masks;
else columns have stride one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import contract, tiles
from .geometry import Grid, ceil_div
from .scan import identity
from .spec import ITEMSIZE, Arg, KernelSpec, Operand, arguments
from .tiles import VectorTile

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "attention.mako"
LEAD = 3
#: Bytes of scratch of a work item, on the stack or in private memory.
SCRATCH = 448 << 10


@dataclass(frozen=True)
class Blocks:
    """How much a work item holds: ``queries`` x ``keys`` at a time, of these widths at most."""

    queries: int
    keys: int
    key_width: int
    value_width: int


def vector_tile(acc: str, caps: Capabilities) -> VectorTile:
    """The microkernel's shape: contract's vectors, and rows that divide usual widths of heads. Edges are padded."""
    found = tiles.tile(acc, caps, 1 << 20, 1 << 20)
    assert isinstance(found, VectorTile)
    return replace(found, rows=8 if found.rows >= 8 else 4)


def _up(n: int, step: int) -> int:
    return ceil_div(n, step) * step


def _elements(b: Blocks, tile: VectorTile, back: bool) -> int:
    """Elements of scratch."""
    wide = [_up(n, tile.rows) for n in (b.key_width, b.value_width)]
    if not back:
        return (b.keys + b.queries) * sum(wide) + b.keys * tile.width + 4 * b.queries
    panels = b.keys * (2 * sum(wide) + _up(b.key_width, tile.width))
    return panels + b.queries * (2 * sum(wide) + 2 * tile.width + b.keys + _up(b.key_width, tile.width))


def blocks(acc: str, caps: Capabilities, key_width: int, value_width: int, back: bool) -> Blocks | None:
    """The largest blocks that fit; None where none do (heads of thousands of columns).

    >>> from .capabilities import Capabilities
    >>> blocks("f32", Capabilities("c", simd_width=16), 64, 64, False)
    Blocks(queries=192, keys=96, key_width=64, value_width=64)
    """
    tile = vector_tile(acc, caps)
    r, n = tile.rows, tile.width
    widths = (_up(max(key_width, 1), 16), _up(max(value_width, 1), 16))
    choices = [(8, 4), (6, 4), (4, 2), (2, 2), (1, 1)] if back else [(6, 12), (4, 8), (2, 4), (1, 1)]
    for queries, keys in choices:
        found = Blocks(queries * r, keys * n, *widths) if back else Blocks(queries * n, keys * r, *widths)
        if _elements(found, tile, back) * ITEMSIZE[acc] <= SCRATCH:
            return found
    return None


def stride_names(operand: Operand) -> list[str]:
    """Names of an operand's stride arguments."""
    if operand.access == "p":
        return []
    return [f"{operand.name}_s{i}" for i in range(LEAD)] + [f"{operand.name}_r"] + [f"{operand.name}_c"] * (
        operand.name in ("x6", "x7")
    )


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list."""
    sizes = [f"n{i}" for i in range(LEAD)] + ["L", "S", "D", "E"] + ["splits"] * bool(spec.param("back"))
    return arguments(spec, sizes, [name for operand in spec.operands for name in stride_names(operand)])


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    shape = spec.param("shape")
    kind: VectorTile = spec.param("tile")
    operands = {o.name: o for o in spec.operands}
    return contract.micro(spec, caps) | {
        "back": spec.param("back"), "causal": spec.param("causal"), "o": operands, "keep": operands.get("x6"),
        "bias": operands.get("x7"), "MR": kind.rows, "NR": kind.width, "QB": shape.queries, "KB": shape.keys,
        "DW": shape.key_width, "EW": shape.value_width, "DP": _up(shape.key_width, kind.rows),
        "EP": _up(shape.value_width, kind.rows), "DN": _up(shape.key_width, kind.width),
        "lowest": identity("max", spec.param("acc")),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, sizes: Sequence[int]) -> Grid:
    """One work item for each block of queries of a head; backward for each of the ``splits`` of its keys."""
    heads = sizes[0] * sizes[1] * sizes[2]
    each = sizes[7] if spec.param("back") else ceil_div(sizes[3], spec.param("shape").queries)
    return Grid.of((heads * each,), (1,))
