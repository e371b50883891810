"""Nonzero: the coordinates of the set elements, given the inclusive scan of the mask.

Operands: output ``y0`` (i64 ``[count, R]``, packed), input ``x0`` (i64, packed, the inclusive scan of the mask in
row-major order; its last element is ``count``). Both have access ``'p'``. Sizes: ``n0 .. n{R-1}``; no strides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid
from .spec import Arg, KernelSpec, arguments

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "nonzero.mako"


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    return arguments(spec, indexing.sizes(spec.rank), [])


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    return {"X": indexing, "group": indexing.group(caps)}


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every element of the mask."""
    return indexing.grid(math.prod(extents), indexing.group(caps))
