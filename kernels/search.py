"""Search: the place of every value among sorted boundaries, by bisection (searchsorted, bucketize).

Operands: output ``y0`` (i64 or i32); inputs ``x0`` (the sorted boundaries) and ``x1`` (the values, of one dtype with
them), and ``x2`` (i64, with param ``sorter``: the order in which the boundaries are sorted). All are walked over the R
coordinates of the values; the boundaries of one row have a stride of 0 along the coordinates that share them.

Params: ``right`` (the place after equal boundaries, else before them); ``sorter``. Sizes: ``n0 .. n{R-1}``, the number
of boundaries ``m``, their stride ``step``, and with a sorter its stride ``pace``. Strides: operand by operand (the
rules of :mod:`tensorx.kernels.indexing`).

A value that is NaN compares as greater than every boundary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid
from .spec import Arg, KernelSpec, Operand, arguments

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "search.mako"


def order(spec: KernelSpec) -> Operand | None:
    """The operand that says in which order the boundaries are sorted, if they are not so themselves."""
    return spec.inputs[2] if spec.param("sorter") else None


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel.

    >>> y, x, v = Operand("y0", "i64", "i64"), Operand("x0", "f32", "f32", "b"), Operand("x1", "f32", "f32")
    >>> [a.name for a in layout(KernelSpec("search", "f", (y,), (x, v)))][6:]
    ['n0', 'm', 'step']
    """
    extents = [*indexing.sizes(spec.rank), "m", "step"] + ["pace"] * (order(spec) is not None)
    return arguments(spec, extents, [s for o in spec.operands for s in indexing.strides(o, spec.rank)])


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    return {
        "X": indexing, "group": indexing.group(caps, heavy=True), "right": bool(spec.param("right")),
        "sorter": order(spec),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every value."""
    return indexing.grid(math.prod(extents[: spec.rank]), indexing.group(caps, heavy=True))
