"""Sliding windows as columns (im2col), and columns added up again (col2im): each the other's gradient.

With ``p = o * s - padding + k * d`` the input position that output o sees through kernel place k, of each dimension::

    forward  y[lead, k.., o..] = x[lead, p..], 0 outside     walked: the columns
    back     y[lead, p..] = sum over k.. of x[lead, k.., o..]   walked: the input, visiting the windows that cover it

Operands: ``y0`` and ``x0``; the columns have ``lead + 2 * space`` axes, the input ``lead + space`` (rules of
:mod:`tensorx.kernels.indexing`).

Params: ``back``, ``lead``, ``space``, ``acc``. Sizes: ``n0 ..``, ``w0 ..`` (the input's extents if ``back``, else the
number of windows), ``v0 ..`` (the other), then for each dimension ``k s p d``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing, pool
from .geometry import Grid, ceil_div
from .spec import Arg, KernelSpec, arguments, is_complex
from .text import cast, held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "columns.mako"


def ranks(spec: KernelSpec) -> tuple[int, int]:
    """Axes of the result and of the operand."""
    lead, space = spec.param("lead"), spec.param("space")
    return (lead + space, lead + 2 * space) if spec.param("back") else (lead + 2 * space, lead + space)


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list.

    >>> from tensorx.kernels.spec import Operand
    >>> y, x = Operand("y0", "f32", "f32"), Operand("x0", "f32", "f32")
    >>> params = (("back", False), ("lead", 1), ("space", 1), ("acc", "f32"))
    >>> [a.name for a in layout(KernelSpec("columns", "f", (y,), (x,), params=params))][4:]
    ['n0', 'w0', 'v0', 'k0', 's0', 'p0', 'd0', 'y0_s0', 'y0_s1', 'x0_s0']
    """
    lead, space = spec.param("lead"), spec.param("space")
    extents = [*indexing.sizes(lead), *(f"w{q}" for q in range(space)), *(f"v{q}" for q in range(space))]
    extents += [f"{name}{q}" for q in range(space) for name in "kspd"]
    steps = [indexing.strides(o, n) for o, n in zip(spec.operands, ranks(spec), strict=True)]
    return arguments(spec, extents, [s for each in steps for s in each])


def walked(spec: KernelSpec) -> tuple[list[str], list[str]]:
    """Names of the result's coordinates, and their extents."""
    lead, space = range(spec.param("lead")), range(spec.param("space"))
    names, extents = [f"c{i}" for i in lead], [f"n{i}" for i in lead]
    if not spec.param("back"):
        names += [f"t{q}" for q in space]
        extents += [f"k{q}" for q in space]
    return names + [f"o{q}" for q in space], extents + [f"w{q}" for q in space]


def added(spec: KernelSpec) -> str:
    """Add the loaded element to the sum, part by part."""
    acc, x = spec.param("acc"), spec.inputs[0]
    if is_complex(acc):
        return "sumr = sumr + x0r; sumi = sumi + x0i;"
    return pool.added(acc, "sum", cast("x0", held(x.compute), acc))


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    names, extents = walked(spec)
    return {
        "X": indexing, "group": pool.group(caps), "span": pool.span(caps), "back": spec.param("back"),
        "lead": spec.param("lead"), "space": spec.param("space"), "acc": spec.param("acc"), "names": names,
        "extents": extents, "visited": lambda q, c: pool.visited(spec, q, c), "added": added(spec),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every element of the result, or for every span of its last axis."""
    lead, space = spec.param("lead"), spec.param("space")
    w, at = extents[lead : lead + space], extents[lead + 2 * space :]
    outer = math.prod(extents[:lead]) * math.prod(w[:-1]) * (1 if spec.param("back") else math.prod(at[::4]))
    return indexing.grid(outer * ceil_div(w[-1], pool.span(caps)), pool.group(caps))
