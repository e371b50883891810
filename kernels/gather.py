"""Gather: output elements from the source elements that index operands name (index, take_along_dim, embedding).

Operands: output ``y0``; inputs ``x0`` (the source) and ``i0 .. i{m-1}`` (i64 or i32), all walked over the same R
coordinates. ``body`` assigns ``y0`` from ``x0``; without one, elements are moved as they are.

Params: ``n_index`` = m; ``error`` (default True): a bad index goes to the error cell. Scalars: with ``error``, the
first one must be ``("code", "i32")``: index operand j reports ``code + j`` (from 1 up, so that a call reserves m
codes), the linear position and the index as given.

Sizes: ``n0 .. n{R-1}``, then for every index operand its extent and the source's stride: ``e0, t0, e1, t1, ...``.
Strides: ``y0``, ``x0``, ``i0``, ... over the R coordinates; a coordinate that an index replaces has stride 0 in
``x0``.

The source element is at ``x0_o + sum_j index_j * t_j + sum_r c_r * x0_s_r``. With ``wrap`` (the
default) indices from -e to -1 count from the end. A bad index reads as 0, so the caller rejects an extent of 0 (with a
non-empty output) itself.

Access ``'k'`` of an index operand promises that it does not change along the last coordinate (its last stride is
passed, and is 0): a CPU then copies along the last axis in a plain loop.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorx.errors import RenderError

from . import indexing
from .geometry import Grid, ceil_div
from .spec import Arg, KernelSpec, Operand, arguments

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "gather.mako"
#: Elements of the last axis that one work item of a CPU walks; neighbours of a GPU's group take an element each.
SPAN = 1024


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list, also of a put kernel.

    >>> y, x, i = Operand("y0", "f32", "f32"), Operand("x0", "f32", "f32", "k"), Operand("i0", "i64", "i64", "b")
    >>> spec = KernelSpec("gather", "f", (y,), (x, i), (("code", "i32"),), params=(("n_index", 1),))
    >>> [a.name for a in layout(spec)][6:]
    ['err_p', 'code', 'n0', 'e0', 't0', 'x0_s0']
    """
    error = spec.param("error", True)
    if error and spec.scalars[:1] != (("code", "i32"),):
        raise RenderError(
            f"{spec.family}: the first scalar must be ('code', 'i32'); got {spec.scalars[:1]}. Hint: or set error=False"
        )
    extents = indexing.sizes(spec.rank)
    for j in range(spec.param("n_index")):
        extents += [f"e{j}", f"t{j}"]
    if is_dealt(spec):
        extents += ["owners", "lanes"]
    return arguments(spec, extents, [s for o in spec.operands for s in indexing.strides(o, spec.rank)], error)


def is_dealt(spec: KernelSpec) -> bool:
    """Whether the spec is a put whose destinations are dealt out to owners (see :mod:`tensorx.kernels.put`)."""
    return bool(spec.family == "put" and spec.param("deterministic"))


def index_operands(spec: KernelSpec) -> list[Operand]:
    """The operands ``i0 ..``."""
    return [operand for operand in spec.inputs if operand.name[0] == "i"]


def is_hoisted(spec: KernelSpec) -> bool:
    """Whether no index operand changes along the last coordinate."""
    return all(operand.access in ("k", "b") for operand in index_operands(spec))


def read_index(operand: Operand, coords: Sequence[str], position: str, error: bool, bad: str, wrap: bool) -> str:
    """Statements that declare ``w<j>``, the index of operand ``i<j>``, and do ``bad`` for a bad one. With ``wrap``,
    negative indices count from the end.
    """
    j = operand.name[1:]
    lines = [
        f"const i64 r{j} = TX_LOAD_{operand.dtype}(i{j}_p, {indexing.offset(operand, coords)});",
        f"i64 w{j} = r{j} < 0 ? r{j} + e{j} : r{j};" if wrap else f"i64 w{j} = r{j};",
    ]
    report = f"TX_FAIL(err_p, code + {j}, {position}, r{j}); " if error else ""
    return "\n".join([*lines, f"if (w{j} < 0 || w{j} >= e{j}) {{ {report}{bad} }}"])


def span(caps: Capabilities) -> int:
    """Elements that one work item walks."""
    return SPAN if caps.cpu_like else 1


def group(caps: Capabilities) -> int:
    """Work items of a group."""
    return indexing.group(caps, heavy=caps.cpu_like)


def reader(spec: KernelSpec) -> Callable[..., str]:
    """:func:`read_index` as the spec's ``wrap`` says."""
    return functools.partial(read_index, wrap=spec.param("wrap", True))


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    return {
        "X": indexing, "group": group(caps), "span": span(caps), "indices": index_operands(spec),
        "hoisted": is_hoisted(spec), "read_index": reader(spec), "error": spec.param("error", True),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every coordinate, or for every span of the last axis."""
    outer, last = math.prod(extents[: spec.rank - 1]), extents[spec.rank - 1]
    return indexing.grid(outer * ceil_div(last, span(caps)), group(caps))
