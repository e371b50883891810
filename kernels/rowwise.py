"""The rowwise family: softmax, norms, variance and their gradients, as a program over one row at a time.

Params: ``kept`` K; ``stages``, a tuple of (combine, name, text, code) run in order, where ``text`` assigns ``v0``
from ``x0..``, the names of earlier stages, ``count`` and ``place`` (i64), and ``code`` is the accumulate dtype;
``row_body``, which assigns the outputs of access ``'row'``.  ``body`` assigns the other outputs at every place of the
row; ``row_values``, ((name, code) .., text), is what it needs once a row.  With ``keeps`` the last stage leaves its
``v0`` in the only such output, and the body reads that as ``ak``, and no input.  An ``arg`` stage's name is the index
(i64).

Sizes: K kept, then ``m0``.  Access and strides: ``'c'`` dense along the row (K strides), ``'s'`` (or ``'e'``) K and the
row's,
``'k'`` as ``'s'``, and neighbouring rows are neighbours in memory, ``'row'`` one value a row (K), ``'b'`` one value
for all (none).  Where no operand is dense along the row and some are ``'k'``, neighbouring rows are computed side by
side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .geometry import Grid, ceil_div, power_of_two
from .reduce import BLOCK, LANES, TASK, Combine
from .spec import ITEMSIZE, Arg, KernelSpec, Operand, arguments, is_complex

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "rowwise.mako"
#: Rows that a task computes side by side: one pass over 64 columns of 1000 values stays in the second-level cache.
COLUMNS = 64


def stages(spec: KernelSpec) -> list[tuple[Combine, str, str]]:
    """(combine, name, text) of every stage."""
    return [(Combine(kind, code, spec.index), name, text) for kind, name, text, code in spec.param("stages")]


def strides(spec: KernelSpec, operand: Operand) -> list[str]:
    """Names of the operand's stride arguments."""
    if operand.access == "b":
        return []
    kept = [f"{operand.name}_s{k}" for k in range(spec.param("kept"))]
    return kept + ([f"{operand.name}_t0"] if operand.access in ("s", "e", "k") else [])


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    sizes = [f"n{k}" for k in range(spec.param("kept"))] + ["m0"]
    return arguments(spec, sizes, [name for operand in spec.operands for name in strides(spec, operand)])


def by_column(spec: KernelSpec) -> bool:
    """Whether rows lie side by side in memory."""
    access = {operand.access for operand in spec.operands}
    return "k" in access and "c" not in access


def shared(spec: KernelSpec) -> list[tuple[str, str]]:
    """(name, code) of the local arrays of the GPU form: stages of one dtype share them."""
    found = {f"sh_{how.code}{suffix}": code for how, _, _ in stages(spec) for suffix, code in how.fields}
    return sorted(found.items())


def group(spec: KernelSpec, caps: Capabilities) -> int:
    """Work items of a group on GPUs."""
    each = sum(ITEMSIZE[code] for _, code in shared(spec)) or 1
    return power_of_two(min(256, caps.max_workgroup, max(1, caps.local_mem // each)))


def lanes(spec: KernelSpec, size: int) -> int:
    """At most how many work items of a group share a row on GPUs."""
    return max(1, size // 32) if by_column(spec) else size


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A few rows a group on GPUs, one work item a strip of rows on CPU-like devices (as the template counts them)."""
    kept, length = prod(extents[:-1]), extents[-1]
    if caps.cpu_like and by_column(spec):
        last = extents[-2]
        return Grid.of(((kept // max(1, last)) * ceil_div(last, COLUMNS),), (1,))
    if caps.cpu_like:
        return Grid.of((ceil_div(kept, TASK // (length + 1) + 1),), (1,))
    size, share = group(spec, caps), 1
    while share < lanes(spec, size) and share < length:
        share *= 2
    return Grid.of((ceil_div(kept, size // share),), (size,))


def result(how: Combine, name: str, source: str) -> str:
    """Declare a finished stage's name(s) from accumulator ``source``; no index yet means a row of identities: the
    first."""
    if how.kind in ("argmax", "argmin"):
        return f"const i64 {name} = {source % '_k'} == {how.identity('_k')} ? 0 : (i64){source % '_k'};"
    return " ".join(
        f"const {code} {name}{suffix} = {source % suffix};" for suffix, code in how.fields if suffix != "_k"
    )


def row_values(spec: KernelSpec) -> str:
    """Statements that compute what the body needs once a row."""
    declared, text = spec.param("row_values", ((), ""))
    return "\n".join([*(f"{code} {name};" for name, code in declared), text])


def uses(operand: Operand, text: str) -> bool:
    """Whether a text reads the operand."""
    side = "[ri]" if is_complex(operand.compute) else ""
    return re.search(rf"\b{operand.name}{side}\b", text) is not None


def placed(text: str) -> bool:
    """Whether a text asks for the element's place in the row."""
    return re.search(r"\bplace\b", text) is not None


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    items = caps.dialect != "c" and not caps.cpu_like
    kept = spec.param("kept")
    return {
        "stages": stages(spec), "kept": kept, "items": items, "uses": uses, "placed": placed, "result": result,
        "strides": {o.name: strides(spec, o) for o in spec.operands},
        "row_body": spec.param("row_body", ""), "keeps": spec.param("keeps", False), "row_values": row_values(spec),
        "group": group(spec, caps) if items else 1, "shared": shared(spec),
        "most_lanes": lanes(spec, group(spec, caps)), "columns": by_column(spec), "wide": COLUMNS,
        "task_size": TASK, "lanes": LANES, "block": BLOCK, "kept_sizes": [f"n{k}" for k in range(kept)],
    }  # fmt: skip
