"""What the scan, gather, put, sort and nonzero templates share: argument names, element offsets, the loop over items.

Access classes of an operand over the axes of its iteration space, in the order of the coordinates:

- ``'b'``: one element for all, no strides;
- ``'c'``: the last axis has stride one, so strides of the outer axes only;
- ``'k'``: like ``'s'``, with a promise that the template names (the scan: the last kept axis is the dense one; an
  index operand of gather and put: nothing changes along the last axis);
- ``'s'``: one stride for every axis;
- ``'p'``: packed scratch, addressed by the template alone, no strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .geometry import Grid, ceil_div, power_of_two
from .spec import Operand, is_complex

if TYPE_CHECKING:
    from .capabilities import Capabilities
    from .dialect import Dialect

__all__ = ["each", "grid", "group", "inset", "offset", "shift", "sizes", "strides"]


def sizes(rank: int) -> list[str]:
    """Names of the extents, outermost first.

    >>> sizes(2)
    ['n0', 'n1']
    """
    return [f"n{axis}" for axis in range(rank)]


def strides(operand: Operand, rank: int) -> list[str]:
    """Names of the stride arguments that the operand's access class needs.

    >>> strides(Operand("x0", "f32", "f32", "c"), 3), strides(Operand("i0", "i64", "i64", "b"), 3)
    (['x0_s0', 'x0_s1'], [])
    """
    count = {"b": 0, "p": 0, "c": rank - 1, "s": rank, "k": rank}[operand.access]
    return [f"{operand.name}_s{axis}" for axis in range(count)]


def offset(operand: Operand, coords: Sequence[str], start: str = "") -> str:
    """The element offset of the operand at ``coords`` from ``start``; a coordinate "" is left out.

    >>> offset(Operand("x0", "f32", "f32", "c"), ["c0", "c1"]), offset(Operand("x0", "f32", "f32", "b"), ["c0"])
    ('c0 * x0_s0 + c1', '0')
    """
    names = strides(operand, len(coords))
    terms = [f"{coord} * {name}" for coord, name in zip(coords, names, strict=False) if coord]
    if operand.access == "c" and coords[-1]:
        terms.append(coords[-1])
    return " + ".join([start] * bool(start) + terms) or "0"


def shift(operand: Operand) -> str:
    """Statement that moves the operand's pointer by its offset argument.

    >>> shift(Operand("x0", "c64", "c64"))
    'x0_p += 2 * x0_o;'
    """
    return f"{operand.name}_p += {'2 * ' if is_complex(operand.dtype) else ''}{operand.name}_o;"


def inset(text: str, pad: str) -> str:
    """``text`` with ``pad`` before every line but the first.

    >>> inset("a;\\nb;", "  ")
    'a;\\n  b;'
    """
    return text.replace("\n", "\n" + pad)


def group(caps: Capabilities, heavy: bool = False, single: bool = False) -> int:
    """Work items of a group: few where each does much, so that a CPU's threads get their share of them.

    ``single`` items do so much each that a CPU gives every one its own group, also because its OpenCL compilers turn
    the neighbours of a group into vector lanes, which does not suit walks that depend on the data.
    """
    wanted = 256 if not heavy else 64 if not caps.cpu_like else 1 if single else 8
    return power_of_two(min(wanted, caps.max_workgroup))


def grid(items: int, size: int) -> Grid:
    """A one-dimensional launch of ``items`` work items in groups of ``size``."""
    return Grid.of((ceil_div(items, size),), (size,))


def each(d: Dialect, index: str, total: str, work: str) -> str:
    """Head of the block that runs for ``item`` = 0 .. ``total`` - 1: a work item each, or a loop."""
    if d.grid:
        return f"const {index} item = ({index})TX_GID(0);\n  if (item < {total}) {{"
    return f"TX_PARALLEL({work})\n  for ({index} item = 0; item < {total}; item++) {{"
