"""Separable resampling: every element of a result is a weighted sum of neighbours, dimension by dimension.

The neighbours and weights of a dimension are a table, made on the host: coordinate c reads ``count`` elements from
``first`` on. Downwards and upwards, forward and backward (the transposed table) are one kernel, and nothing is added by
atomics.

Operands: ``y0``, ``x0`` (``lead`` axes and ``space`` spatial ones, rules of :mod:`tensorx.kernels.indexing`), for each
dimension ``i<q>`` (i32, packed [2, w]: first and count), and unless ``plain`` ``x<q + 1>`` (weights, packed [t, w]).

Params: ``lead``, ``space``, ``acc``, ``plain`` (all weights are one). Sizes: ``n0 ..``, ``w0 ..`` (extents of the
result), ``t0 ..`` (widths of the tables).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing, pool
from .geometry import Grid, ceil_div
from .spec import Arg, KernelSpec, arguments
from .text import cast, held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "resample.mako"


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list.

    >>> from tensorx.kernels.spec import Operand
    >>> tables = Operand("i0", "i32", "i32", "p"), Operand("x1", "f32", "f32", "p")
    >>> params = (("lead", 1), ("space", 1), ("acc", "f32"), ("plain", False))
    >>> ins = (Operand("x0", "f32", "f32"), *tables)
    >>> [a.name for a in layout(KernelSpec("resample", "f", (Operand("y0", "f32", "f32"),), ins, params=params))][8:]
    ['n0', 'w0', 't0', 'y0_s0', 'x0_s0']
    """
    lead, space = spec.param("lead"), spec.param("space")
    extents = [*indexing.sizes(lead), *(f"w{q}" for q in range(space)), *(f"t{q}" for q in range(space))]
    return arguments(spec, extents, [s for o in spec.operands for s in indexing.strides(o, lead + space)])


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    acc, x = spec.param("acc"), spec.inputs[0]
    weights = {o.name: o for o in spec.inputs if o.access == "p" and o.name[0] == "x"}
    return {
        "X": indexing, "group": pool.group(caps), "span": pool.span(caps), "lead": spec.param("lead"),
        "space": spec.param("space"), "acc": acc, "plain": spec.param("plain"), "weights": weights,
        "added": lambda into, value: pool.added(acc, into, value), "value": cast("x0", held(x.compute), acc),
        "result": lambda value: cast(value, acc, held(spec.outputs[0].compute)),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every element of the result, or for every span of its last axis."""
    rank = spec.param("lead") + spec.param("space")
    outer = math.prod(extents[: rank - 1])
    return indexing.grid(outer * ceil_div(extents[rank - 1], pool.span(caps)), pool.group(caps))
