"""The elementwise family: every output element from the input elements at the same (merged, broadcast) place.

Sizes ``n0..`` (outermost first); strides per operand: none for access ``'b'``, all but the innermost for ``'c'`` and
for ``'r'`` (an input with one value a row), all for ``'s'``.

Two forms.  *Tasks* (dialect C, CPU-like devices): a task is a tile of the two innermost axes whose rows are vector
loops; a tile is long where rows are dense, and small enough for the first-level cache where an operand may be
transposed. *Items* (GPUs): neighbouring work items take neighbouring elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .geometry import Grid, ceil_div, power_of_two
from .spec import Arg, KernelSpec, Operand, arguments

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "elementwise.mako"

#: Elements of a task: enough to hide its start, few enough to share out.
TASK = 8192
#: Columns of a task with strided operands, and of the strips in which it walks over transposed ones: eight columns far
#: apart may fall on one set of an eight-way cache (64 together took twice as long for strides of 8 KB).
TILE_COLUMNS, STRIP = 128, 8
#: Elements of a work item on GPUs.
PER_ITEM = 4


def sizes(spec: KernelSpec) -> list[str]:
    """Names of the size arguments."""
    return [f"n{axis}" for axis in range(spec.rank)]


def strides(spec: KernelSpec, operand: Operand) -> list[str]:
    """Names of the operand's stride arguments."""
    count = {"b": 0, "c": spec.rank - 1, "r": spec.rank - 1, "s": spec.rank}[operand.access]
    return [f"{operand.name}_s{axis}" for axis in range(count)]


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    return arguments(spec, sizes(spec), [name for operand in spec.operands for name in strides(spec, operand)])


def tile(spec: KernelSpec) -> tuple[int, int]:
    """Elements, and at most how many columns, of a task."""
    return TASK, TILE_COLUMNS if transposable(spec) else TASK


def transposable(spec: KernelSpec) -> list[Operand]:
    """Operands that may be transposed."""
    return [operand for operand in spec.operands if operand.access == "s"] if spec.rank > 1 else []


def group(caps: Capabilities) -> int:
    """Work items of a group on GPUs."""
    return power_of_two(min(256, caps.max_workgroup))


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    items = caps.dialect != "c" and not caps.cpu_like
    return {
        "sizes": sizes(spec), "strides": {o.name: strides(spec, o) for o in spec.operands}, "items": items,
        "group": group(caps) if items else 1, "per_item": PER_ITEM, "tile": tile(spec),
        "strip": STRIP,
        "transposed": transposable(spec),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """Groups over the linear index on GPUs, one work item a tile on CPU-like devices (as the template counts them)."""
    if not caps.cpu_like:
        return Grid.of((ceil_div(prod(extents), group(caps) * PER_ITEM),), (group(caps),))
    elements, columns = tile(spec)
    *outer, rows, cols = (1, *extents)
    width = max(1, min(cols, columns))
    height = max(1, elements // width)
    return Grid.of((prod(outer) * ceil_div(rows, height) * ceil_div(cols, width),), (1,))
