"""Pooling: maxima and means over windows, and their gradients, each element of a result by one visit of what it needs.

Forward (``back`` False) the kernel walks the outputs and visits the inputs of a window; backward it walks the inputs
and visits the windows that may cover one, so that nothing is added by atomics and the order of a sum is fixed. In both
directions coordinate c of a dimension (walked extent w) visits a range of the other extent v:

- law ``windows``: kernel k, stride s, padding p, dilation d, as in :class:`tensorx.kernels.convolution.Window`;
  backward with dilation the range also holds windows that miss the input, which the saved index tells apart;
- law ``even``: the input is shared out among the outputs, as adaptive pooling does: c visits
  floor(c * v / w) .. ceil((c + 1) * v / w), in both directions;
- law ``listed`` (max alone): windows of k neighbours whose first elements are operands ``i1 ..`` (fractional pooling);
  the n-th is less than 2 away from n * t / u, from which backward knows the candidates.

Operands: forward ``y0``, with ``how`` max also ``y1`` (i64, the flat place within the input's spatial extents), and
``x0``; backward ``y0``, ``x0`` (the cotangent) and with max ``i0`` (the saved places). All have ``lead`` axes and
``space`` spatial ones (rules of :mod:`tensorx.kernels.indexing`).

Params: ``how`` max | avg, ``back``, ``law``, ``lead``, ``space``, ``acc``, and for avg ``divisor``: the elements of a
window ``inside`` the input, those of the ``padded`` input, or ``given`` (scalar ``div``).

Sizes: ``n0 .. ``, ``w0 ..``, ``v0 ..``, then by law for each dimension ``k s p d``, nothing, or ``k t u``.

Maxima: NaN is greatest, of equal values the first wins. Sums add pieces of a window's rows first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid, ceil_div
from .scan import identity
from .spec import Arg, KernelSpec, arguments, is_float
from .text import cast, held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "pool.mako"
#: Elements of the last axis that one work item of a CPU walks; neighbours of a GPU's group take an element each.
SPAN = 256
#: Elements of a row that are summed before they join the sum of the window.
BLOCK = 512
#: The arguments of a dimension, law by law.
LAWS = {"windows": "kspd", "even": "", "listed": "ktu"}


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list.

    >>> from tensorx.kernels.spec import Operand
    >>> y, x = Operand("y0", "f32", "f32"), Operand("x0", "f32", "f32")
    >>> params = (("how", "avg"), ("back", False), ("law", "windows"), ("lead", 1), ("space", 1), ("acc", "f32"))
    >>> [a.name for a in layout(KernelSpec("pool", "f", (y,), (x,), params=params))][4:]
    ['n0', 'w0', 'v0', 'k0', 's0', 'p0', 'd0', 'y0_s0', 'x0_s0']
    """
    lead, space = spec.param("lead"), spec.param("space")
    extents = [*indexing.sizes(lead), *_numbered("w", space), *_numbered("v", space)]
    extents += [f"{name}{q}" for q in range(space) for name in LAWS[spec.param("law")]]
    return arguments(spec, extents, [s for o in spec.operands for s in indexing.strides(o, lead + space)])


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}{q}" for q in range(count)]


def visited(spec: KernelSpec, q: int, c: str) -> str:
    """Statements that declare ``a<q>`` and ``e<q>``, the range that coordinate ``c`` of dimension q visits."""
    index, back, law = spec.index, spec.param("back"), spec.param("law")
    if law == "even":
        return f"const {index} a{q} = {c} * v{q} / w{q}, e{q} = (({c} + 1) * v{q} - 1) / w{q} + 1;"
    if law == "windows" and not back:
        lines = [
            f"const {index} b{q} = {c} * s{q} - p{q}, f{q} = b{q} + (k{q} - 1) * d{q} + 1;",
            f"const {index} a{q} = b{q} < 0 ? b{q} + (d{q} - 1 - b{q}) / d{q} * d{q} : b{q};",
            f"const {index} e{q} = f{q} < v{q} ? f{q} : v{q};",
        ]
    elif law == "windows":
        lines = [
            f"const {index} b{q} = {c} + p{q} - (k{q} - 1) * d{q}, f{q} = ({c} + p{q}) / s{q} + 1;",
            f"const {index} a{q} = b{q} > 0 ? (b{q} + s{q} - 1) / s{q} : 0;",
            f"const {index} e{q} = f{q} < v{q} ? f{q} : v{q};",
        ]
    elif not back:
        first = next(o for o in spec.inputs if o.name == f"i{q + 1}")
        own = [f"o{i}" if i == q else "" for i in range(spec.param("space"))]
        coords = [*_numbered("c", spec.param("lead")), *own]
        lines = [
            f"const {index} a{q} = ({index})TX_LOAD_i64({first.name}_p, {indexing.offset(first, coords)});",
            f"const {index} e{q} = a{q} + k{q};",
        ]
    else:
        low, high = f"({c} - k{q} - 1) * u{q} / t{q} - 1", f"({c} + 2) * u{q} / t{q} + 2"
        lines = [
            f"const {index} a{q} = t{q} > 0 && {c} > k{q} + 1 && {low} > 0 ? {low} : 0;",
            f"const {index} e{q} = t{q} > 0 && {high} < v{q} ? {high} : v{q};",
        ]
    return "\n".join(lines)


def extent(spec: KernelSpec, q: int, j: str) -> str:
    """How many elements window ``j`` of dimension q counts for a mean (the extents of the input are v, backward w)."""
    back, law, divisor = spec.param("back"), spec.param("law"), spec.param("divisor")
    n, outs = (f"w{q}", f"v{q}") if back else (f"v{q}", f"w{q}")
    if law == "even":
        return f"((({j} + 1) * {n} - 1) / {outs} + 1 - {j} * {n} / {outs})"
    low = f"{j} * s{q} - p{q}"
    if divisor == "padded":
        return f"({low} + k{q} < {n} + p{q} ? k{q} : {n} + p{q} - ({low}))"
    return f"(({low} + k{q} < {n} ? {low} + k{q} : {n}) - ({low} > 0 ? {low} : 0))"


def covered(spec: KernelSpec, q: int, j: str) -> tuple[str, str]:
    """Backward: the first input element of window ``j`` of dimension q, and the one after its last."""
    if spec.param("law") == "even":
        return f"{j} * w{q} / v{q}", f"(({j} + 1) * w{q} - 1) / v{q} + 1"
    return f"{j} * s{q} - p{q}", f"{j} * s{q} - p{q} + k{q}"


def count(spec: KernelSpec, names: Sequence[str]) -> str:
    """The divisor of the window at ``names``, in the accumulate dtype."""
    acc = spec.param("acc")
    if spec.param("divisor") == "given":
        return "div"
    return f"({acc})({' * '.join(extent(spec, q, name) for q, name in enumerate(names))})"


def added(acc: str, into: str, value: str) -> str:
    """``into += value``; integers wrap, as C leaves signed overflow undefined."""
    return f"{into} = (i64)((u64){into} + (u64){value});" if acc == "i64" else f"{into} = {into} + {value};"


def better(spec: KernelSpec) -> str:
    """Whether ``x0`` replaces the maximum ``best``."""
    return "(x0 > best) | (x0 != x0)" if is_float(spec.param("acc")) else "x0 > best"


def span(caps: Capabilities) -> int:
    """Elements that one work item walks."""
    return SPAN if caps.cpu_like else 1


def group(caps: Capabilities) -> int:
    """Work items of a group."""
    return indexing.group(caps, heavy=caps.cpu_like, single=caps.cpu_like)


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    acc, x, last = spec.param("acc"), spec.inputs[0], spec.param("space") - 1
    return {
        "X": indexing, "group": group(caps), "span": span(caps), "block": BLOCK,
        "how": spec.param("how"), "back": spec.param("back"), "lead": spec.param("lead"),
        "space": spec.param("space"), "acc": acc, "law": spec.param("law"),
        "lowest": identity("max", acc) if spec.param("how") == "max" else "", "better": better(spec),
        "visited": lambda q, c: visited(spec, q, c), "count": lambda names: count(spec, names),
        "added": lambda into, value: added(acc, into, value), "value": cast("x0", held(x.compute), acc),
        "result": lambda value: cast(value, acc, held(spec.outputs[0].compute)),
        "covered": covered(spec, last, f"j{last}"),
    }  # fmt: skip


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every walked element, or for every span of the last axis."""
    rank = spec.param("lead") + spec.param("space")
    return indexing.grid(math.prod(extents[: rank - 1]) * ceil_div(extents[rank - 1], span(caps)), group(caps))
