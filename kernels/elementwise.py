"""The elementwise family: every output element from the input elements at the same (merged, broadcast) place.

Sizes ``n0..`` (outermost first); strides per operand: none for access ``'b'``, all but the innermost for ``'c'``, all for ``'s'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .geometry import Grid, ceil_div, power_of_two
from .spec import Arg, KernelSpec, Operand, arguments

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "elementwise.mako"


def sizes(spec: KernelSpec) -> list[str]:
    """Names of the size arguments."""
    return [f"n{axis}" for axis in range(spec.rank)]


def strides(spec: KernelSpec, operand: Operand) -> list[str]:
    """Names of the operand's stride arguments."""
    count = {"b": 0, "c": spec.rank - 1, "s": spec.rank}[operand.access]
    return [f"{operand.name}_s{axis}" for axis in range(count)]


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    return arguments(spec, sizes(spec), [name for operand in spec.operands for name in strides(spec, operand)])


def is_flat(spec: KernelSpec) -> bool:
    """Whether the kernel is one vector loop: one axis, every operand dense or broadcast."""
    return spec.rank == 1 and all(operand.access != "s" for operand in spec.operands)


def group(caps: Capabilities) -> int:
    """Work items of a group."""
    return power_of_two(min(256, caps.max_workgroup))


def per_item(spec: KernelSpec, caps: Capabilities) -> int:
    """Elements that one work item computes."""
    return 4


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    return {
        "flat": is_flat(spec), "sizes": sizes(spec), "strides": {o.name: strides(spec, o) for o in spec.operands},
        "group": group(caps), "per_item": per_item(spec, caps),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A one-dimensional grid over the linear index."""
    total = 1
    for extent in extents:
        total *= extent
    return Grid.of((ceil_div(total, group(caps) * per_item(spec, caps)),), (group(caps),))
