"""Stable merge sort of rows, with the permutation: one pass sorts short blocks, each further one merges pairs of runs.

Stage ``block`` reads the input ``x0`` and writes keys ``y0`` and positions ``y1`` (i64 or i32), sorted in blocks of
``BLOCK``. Stage ``merge`` reads keys ``x0`` and positions ``x1`` with runs of ``width`` elements and writes ``y0``,
``y1`` with runs of ``2 * width``. The host goes from pass to pass between two pairs of scratch arrays; :func:`widths`
lists the merges. The keys of all stages have the input's storage dtype, so a pass may as well read the input or write
the result in place of scratch.

Params: ``kept`` K; ``stage``; ``descending``. Sizes: ``n0 .. n{K-1}``, ``n``, and for merge ``width`` and ``chunk``
(elements that one work item writes, from :func:`chunk`). Strides: operand by operand over the kept axes, then the
sorted one (the rules of :mod:`tensorx.kernels.indexing`, ``'p'`` excluded).
The index type i32 serves rows of up to 2**30 elements.

NaN is the greatest key: last when ascending, first when descending; equal keys (also 0.0 and -0.0) keep their order.

A merging work item finds its share of the two runs by a binary search along the diagonal of the merge (Green, Odeh,
Birk: "Merge path", 2012) and then writes ``chunk`` elements in sequence, so that even the last merge of a single row
is parallel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid, ceil_div
from .spec import Arg, KernelSpec, arguments, is_float

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "sort.mako"
BLOCK = 16


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    kept = spec.param("kept")
    extents = [*indexing.sizes(kept), "n"] + (["width", "chunk"] if spec.param("stage") == "merge" else [])
    return arguments(spec, extents, [s for operand in spec.operands for s in indexing.strides(operand, kept + 1)])


def widths(n: int) -> list[int]:
    """Run lengths before each merge of a row of ``n`` elements.

    >>> widths(16), widths(17), widths(100)
    ([], [16], [16, 32, 64])
    """
    found, width = [], BLOCK
    while width < n:
        found.append(width)
        width *= 2
    return found


def chunk(caps: Capabilities, width: int) -> int:
    """How many elements a work item of a merge writes: a divisor of ``2 * width``."""
    return min(2 * width, 2048 if caps.cpu_like else 16)


def before(a: str, b: str, code: str, descending: bool) -> str:
    """Whether key ``a`` must come before key ``b``, which stands earlier.

    >>> before("a", "b", "i32", False), before("a", "b", "f32", True)
    ('a < b', '(b < a || (a != a && b == b))')
    """
    if descending:
        return f"({b} < {a} || ({a} != {a} && {b} == {b}))" if is_float(code) else f"{b} < {a}"
    return f"({a} < {b} || ({b} != {b} && {a} == {a}))" if is_float(code) else f"{a} < {b}"


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    code, descending = spec.inputs[0].compute, bool(spec.param("descending"))
    return {
        "X": indexing, "group": group(spec, caps), "kept": spec.param("kept"),
        "stage": spec.param("stage"), "block": BLOCK, "before": lambda a, b: before(a, b, code, descending),
    }  # fmt: skip


def group(spec: KernelSpec, caps: Capabilities) -> int:
    """Work items of a group."""
    return indexing.group(caps, heavy=True, single=spec.param("stage") == "merge")


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every block, or for every chunk of a merge."""
    kept = spec.param("kept")
    per_item = extents[kept + 2] if spec.param("stage") == "merge" else BLOCK
    return indexing.grid(math.prod(extents[:kept]) * ceil_div(extents[kept], per_item), group(spec, caps))
