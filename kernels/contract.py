"""The contract family: ``y0[b, m, n] = body(acc)`` with ``acc = sum over k of x0[b, m, k] * x1[b, k, n]``.

Matmul, its transposed and batched forms, tensordot, and convolution forward, weight gradient and data gradient are
this one kernel with other index maps.  Each of the axes b, m, n, k is a row-major list of sub-axes whose sizes are
run-time arguments; an operand has a stride per sub-axis of its axes (0 where it is broadcast, any order, any step).
``x0`` and ``x1`` may be read through a *patch* accessor: the last S sub-axes of both their axes meet in S spatial
source coordinates ``u * first + v * second + w`` with a bounds check (outside reads as zero), which is a convolution's
window with stride, dilation and padding.

Inputs ``x2..`` live in the space of y0 (a bias has stride 0 elsewhere) and are read by the body, which assigns ``y0``
from ``acc``.

Params: ``axes`` (nb, nm, nn, nk) numbers of sub-axes; ``patch`` (S of x0, S of x1); ``acc`` accumulation code;
``tile``, a :class:`VectorTile` or a :class:`LocalTile`.  Access: x0 ``'m'`` or ``'k'`` and x1 ``'n'`` or ``'k'`` where
that axis is one sub-axis of stride 1, y0 and x2.. ``'n'``, else ``'s'``.  Complex: a product of (re, im) pairs is a
real product of twice the extents along k and n, so only the loads know of it.

Arguments: (buffer, offset) of y0, x0, x1, x2..; scalars; sizes ``nb* nm* nn* nk*`` and, with a VectorTile, ``tile_m
tile_n``; strides of y0 (b, m, n), x0 (b, m, k), x1 (b, k, n), x2.. (b, m, n), where a patch operand lists the
non-spatial sub-axes of b and of its two axes and then, per spatial dimension, ``t`` (source stride), ``e`` (extent),
``u``, ``v``, ``w``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import text
from .geometry import Grid, ceil_div
from .spec import ITEMSIZE, Arg, KernelSpec, Operand, arguments, is_complex, is_float
from .tiles import VectorTile

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "contract.mako"


def accumulate(code: str) -> str:
    """The accumulation code for storage ``code``: f32 for the 16-bit floats, i64 for integers, the part for complex.

    >>> [accumulate(c) for c in ("bf16", "f64", "u8", "c64")]
    ['f32', 'f64', 'i64', 'f32']
    """
    real = text.held(code)
    return real if is_float(real) else "i64"


# ------------------------------------------------------------------------------------------------------ argument layout


def axes_of(operand: Operand) -> str:
    """The letters of the operand's axes, in the order of its strides."""
    return {"x0": "bmk", "x1": "bkn"}.get(operand.name, "bmn")


def _count(spec: KernelSpec, axis: str) -> int:
    return int(spec.param("axes")["bmnk".index(axis)])


def _spatial(spec: KernelSpec, operand: Operand) -> int:
    return int(spec.param("patch")[int(operand.name[1:])]) if operand.name in ("x0", "x1") else 0


def size_names(spec: KernelSpec, axis: str) -> list[str]:
    """Names of the size arguments of an axis."""
    return [f"n{axis}{i}" for i in range(_count(spec, axis))]


def stride_names(spec: KernelSpec, operand: Operand) -> list[str]:
    """Names of the operand's stride arguments."""
    spatial = _spatial(spec, operand)
    names = []
    for axis in axes_of(operand):
        plain = _count(spec, axis) - (0 if axis == "b" else spatial)
        names += [f"{operand.name}_{axis}{i}" for i in range(plain)]
    return names + [f"{operand.name}_{letter}{d}" for d in range(spatial) for letter in "teuvw"]


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    sizes = [name for axis in "bmnk" for name in size_names(spec, axis)]
    if isinstance(spec.param("tile"), VectorTile):
        sizes += ["tile_m", "tile_n"]
    return arguments(spec, sizes, [name for operand in spec.operands for name in stride_names(spec, operand)])


# ----------------------------------------------------------------------------------------------------------- index text


class Maps:
    """Text of the index maps: from a linear index along an axis to an operand's offset and spatial coordinates."""

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self.pairs = is_complex(spec.inputs[0].dtype) or is_complex(spec.inputs[1].dtype)

    def spatial(self, operand: Operand) -> int:
        """Number of spatial dimensions of the operand's patch accessor; 0 for a matrix."""
        return _spatial(self.spec, operand)

    def extent(self, axis: str) -> str:
        """The axis' extent in logical elements."""
        return " * ".join(size_names(self.spec, axis))

    def doubled(self, axis: str) -> bool:
        """Whether the kernel walks real and imaginary parts along the axis."""
        return self.pairs and axis in "kn"

    def locate(self, axis: str, linear: str, targets: Sequence[tuple[Operand, str, Sequence[str]]]) -> str:
        """A block that assigns the place of ``linear`` along ``axis`` to each (operand, offset, coordinates)."""
        if not targets:
            return ""
        index, names = self.spec.index, [f"c_{axis}{i}" for i in range(_count(self.spec, axis))]
        doubled = self.doubled(axis) and any(o.name in ("x0", "x1") for o, _, _ in targets)
        lines = [f"const {index} at = {f'({linear}) >> 1' if doubled else linear};"]
        lines.append(text.coords("at", names, size_names(self.spec, axis), index))
        for operand, offset, coordinates in targets:
            lines += self._place(operand, axis, names, offset, coordinates)
            if self.pairs and operand.name in ("x0", "x1"):
                lines.append(f"{offset} *= 2;")
            if self.doubled(axis) and operand.name == "x0":
                lines.append(f"{offset} += ({linear}) & 1;")
        return "{ " + " ".join(" ".join(lines).split("\n")) + " }"

    def _place(
        self, operand: Operand, axis: str, names: list[str], offset: str, coordinates: Sequence[str]
    ) -> list[str]:
        spatial, x = (0 if axis == "b" else self.spatial(operand)), operand.name
        plain = len(names) - spatial
        terms = [f"{names[i]} * {x}_{axis}{i}" for i in range(plain)]
        lines = []
        second = axis == axes_of(operand)[2]
        for d in range(spatial):
            place = f"{names[plain + d]} * {x}_{'v' if second else 'u'}{d}" + (f" + {x}_w{d}" if second else "")
            lines.append(f"{coordinates[d]} = (i32)({place});")
            terms.append(f"{coordinates[d]} * {x}_t{d}")
        return [*lines, f"{offset} = {text.address(terms)};"]

    def element(self, operand: Operand, pointer: str, place: str) -> str:
        """One real element of x0 or x1 in the accumulation dtype."""
        real = text.part(operand.dtype)
        return text.cast(f"TX_LOAD_{real}({pointer}, {place})", text.held(operand.dtype), self.spec.param("acc"))

    def inside(self, operand: Operand, firsts: Sequence[str], seconds: Sequence[str]) -> str:
        """The bounds check of a patch: one unsigned comparison per dimension."""
        checks = [
            f"((u32)({a} + {b}) < (u32){operand.name}_e{d})"
            for d, (a, b) in enumerate(zip(firsts, seconds, strict=True))
        ]
        return " & ".join(checks)


def micro(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the microkernel (contract_micro.mako) uses; attention has it, too."""
    kind, acc = spec.param("tile"), spec.param("acc")
    return {
        "e": spec.entry, "A": acc, "I": spec.index, "tile": kind, "size": ITEMSIZE[acc],
        "opencl": caps.dialect == "opencl", "fused": caps.fast_fma and is_float(acc),
        "vector": {"f32": "float", "f64": "double", "i64": "long"}[acc] + str(getattr(kind, "lanes", "")),
    }  # fmt: skip


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the templates use beside the common ones."""
    kind, acc, maps = spec.param("tile"), spec.param("acc"), Maps(spec)
    placed = (spec.outputs[0], *spec.inputs[2:])
    twice = "2 * " if maps.pairs else ""
    return micro(spec, caps) | {
        "maps": maps, "pairs": maps.pairs, "acc": acc, "vectorised": isinstance(kind, VectorTile),
        "variants": sorted({*(r for r in (1, 2, 4, 6) if r < kind.rows), kind.rows}),
        "x0": spec.inputs[0], "x1": spec.inputs[1], "y0": spec.outputs[0],
        "extras": spec.inputs[2:], "placed": placed, "tables": [o for o in placed if o.access != "n"],
        "M": maps.extent("m"), "N": f"{twice}{maps.extent('n')}", "K": f"{twice}{maps.extent('k')}",
        "base": lambda operand: f"{operand.name}_b",
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- launches


def extents(spec: KernelSpec, sizes: Sequence[int]) -> tuple[int, int, int, int]:
    """(batch, m, n, k) from the size arguments, in logical elements."""
    out, at = [], 0
    for count in spec.param("axes"):
        out.append(math.prod(sizes[at : at + count]))
        at += count
    return out[0], out[1], out[2], out[3]


def geometry(spec: KernelSpec, caps: Capabilities, sizes: Sequence[int]) -> Grid:
    """One work item (VectorTile) or one work-group (LocalTile) for each tile of y0, in one dimension."""
    batch, m, n, _ = extents(spec, sizes)
    kind = spec.param("tile")
    n *= 2 if Maps(spec).pairs else 1
    if isinstance(kind, VectorTile):
        return Grid.of((batch * ceil_div(m, sizes[-2]) * ceil_div(n, sizes[-1]),), (1,))
    return Grid.of((batch * ceil_div(m, kind.m) * ceil_div(n, kind.n),), (kind.items,))
