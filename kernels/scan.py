"""Scans along one axis: running sum, product, log of summed exponentials, maximum and minimum with their index.

Operands: outputs ``y0`` (value) and, for max and min, ``y1`` (i64 index); inputs ``x0..``; ``body`` assigns ``v0``
(``v0r`` and ``v0i`` for complex) in the accumulate dtype from ``x0..`` and defaults to a cast of ``x0``.

Params: ``op`` sum | prod | max | min | logsum; ``kept`` K; ``acc`` the accumulate code; ``reverse``; ``stage``:

- ``full``: one work item walks a row;
- ``partial``: a work item reduces one chunk of ``chunk`` elements; outputs are packed scratch ``y0[rows, splits]`` of
  dtype acc (and what :func:`packed` says in ``y1``), access ``'p'``;
- ``apply``: a work item walks one chunk, starting from the totals of the chunks before it, which are the last inputs
  (access ``'p'``).

Sizes: ``n0 .. n{K-1}``, ``n`` (the scanned extent), then ``chunk`` unless the stage is full; splits = ceil(n /
chunk). Strides: operand by operand over the kept axes, then the scanned one (the rules of
:mod:`tensorx.kernels.indexing`; ``'k'`` says that the last kept axis is the dense one, so that the C dialect walks
``LANES`` rows at once).

Sums (and logsum, which is log(exp(a) + exp(b))) are blocked: a running sum inside blocks of ``BLOCK`` elements, added
to the sum of the blocks before, so that the scan of 2**25 ones in f32 ends with 2**25. Max and min take NaN as
greater (less) than all and the last index among equals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid, ceil_div
from .spec import Arg, KernelSpec, arguments, is_complex, is_float, part
from .text import cast, held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "scan.mako"
BLOCK = 256
LANES = 16
#: Work items of one row at most: each adds up the totals of all chunks before its own.
MAX_SPLITS = 1024
MIN_CHUNK = 4096
_INFINITY = {"f32": "tx_bits_u32_f32(0x7f800000u)", "f64": "tx_bits_u64_f64(0x7ff0000000000000u)"}


def packed(op: str, acc: str) -> list[str]:
    """Dtypes of the totals that stage ``partial`` leaves for each chunk.

    >>> packed("sum", "f32"), packed("max", "u8"), packed("logsum", "f32")
    (['f32'], ['u8', 'i64'], ['f32', 'f32'])
    """
    return [acc] + {"max": ["i64"], "min": ["i64"], "logsum": [acc]}.get(op, [])


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list.

    >>> from tensorx.kernels.spec import Operand
    >>> y, x = Operand("y0", "f32", "f32", "s"), Operand("x0", "f32", "f32", "s")
    >>> spec = KernelSpec("scan", "f", (y,), (x,), params=(("kept", 1), ("op", "sum"), ("acc", "f32")))
    >>> [a.name for a in layout(spec)][4:]
    ['n0', 'n', 'y0_s0', 'y0_s1', 'x0_s0', 'x0_s1']
    """
    kept = spec.param("kept")
    extents = [*indexing.sizes(kept), "n"] + ([] if spec.param("stage", "full") == "full" else ["chunk"])
    return arguments(spec, extents, [s for operand in spec.operands for s in indexing.strides(operand, kept + 1)])


def splits(spec: KernelSpec, caps: Capabilities, rows: int, n: int) -> int:
    """How many work items should share a row of ``n`` elements: 1 means the stage ``full``."""
    wanted = caps.compute_units * (4 if caps.cpu_like else 512)
    if n < 2 * MIN_CHUNK or rows * 2 > wanted:
        return 1
    return max(1, min(MAX_SPLITS, n // MIN_CHUNK, -(-wanted // rows)))


def identity(op: str, acc: str) -> str:
    """The literal that leaves ``op`` unchanged.

    >>> identity("max", "i32"), identity("min", "u8"), identity("max", "f32")
    ('(i32)(-2147483647 - 1)', '(u8)255', '-tx_bits_u32_f32(0x7f800000u)')
    """
    code = part(acc)
    if op in ("sum", "prod"):
        return f"({code}){int(op == 'prod')}"
    if is_float(code):
        return ("-" if op in ("max", "logsum") else "") + _INFINITY[code]
    if code[0] in "ub":
        return f"({code}){0 if op == 'max' else 1 if code == 'b8' else 2 ** int(code[1:]) - 1}"
    top = 2 ** (int(code[1:]) - 1) - 1
    return f"({code})(-{top} - 1)" if op == "max" else f"({code}){top}"


def fold(op: str, acc: str, into: str, value: str, lane: str = "", value_lane: str = "") -> str:
    """Statement(s) that combine the state ``into`` with ``value``, the later of the two."""
    if is_complex(acc):
        a, b, x, y = f"{into}r{lane}", f"{into}i{lane}", f"{value}r{value_lane}", f"{value}i{value_lane}"
        if op == "sum":
            return f"{a} = {a} + {x}; {b} = {b} + {y};"
        return f"{{ const {part(acc)} re = {a} * {x} - {b} * {y}; {b} = {a} * {y} + {b} * {x}; {a} = re; }}"
    a, x = into + lane, value + value_lane
    if op == "logsum":  # the larger one may be infinite, and infinity minus infinity is none
        n, k = f"{into}s{lane}", f"{value}s{value_lane}"
        scaled = [f"({v} == top ? {count} : {count} * tx_exp_{acc}({v} - top))" for v, count in ((a, n), (x, k))]
        return f"{{ const {acc} top = tx_max_{acc}({a}, {x}); {n} = {' + '.join(scaled)}; {a} = top; }}"
    if op in ("sum", "prod"):
        sign = "+" if op == "sum" else "*"
        if acc == "i64":  # wraps: C leaves signed overflow undefined
            return f"{a} = (i64)((u64){a} {sign} (u64){x});"
        return f"{a} = {a} {sign} {x};"
    order = ">=" if op == "max" else "<="
    test = f"({x} != {x}) || (({a} == {a}) && ({x} {order} {a}))" if is_float(acc) else f"{x} {order} {a}"
    return f"if ({test}) {{ {a} = {x}; {into}k{lane} = {value}k{value_lane}; }}"


def state(spec: KernelSpec, name: str) -> list[tuple[str, str, str]]:
    """(variable, dtype, initial value) of a running value called ``name``: one; two if complex or with an index.

    Logsum has two, the maximum and the sum of exponentials relative to it, so that its result is rounded once.
    """
    op, acc = spec.param("op"), spec.param("acc")
    start = identity(op, acc)
    if is_complex(acc):
        return [(name + "r", part(acc), start), (name + "i", part(acc), f"({part(acc)})0")]
    second = {"max": ("k", "i64", "0"), "min": ("k", "i64", "0"), "logsum": ("s", acc, f"({acc})0")}.get(op)
    return [(name, acc, start)] + ([(name + second[0], *second[1:])] if second else [])


def lanes(spec: KernelSpec, caps: Capabilities) -> int:
    """Rows that one work item walks side by side."""
    dense = any(operand.access == "k" for operand in spec.operands)
    return LANES if dense and spec.param("kept") and caps.cpu_like else 1


def group(spec: KernelSpec, caps: Capabilities) -> int:
    """Work items of a group."""
    return indexing.group(caps, heavy=True, single=lanes(spec, caps) > 1 or chains(spec, caps) > 0)


def chains(spec: KernelSpec, caps: Capabilities) -> int:
    """Sums that run side by side in a whole block: an addition takes four cycles, four of them can start in one."""
    plain = spec.param("op") == "sum" and is_float(spec.param("acc"))
    return 8 if plain and caps.cpu_like and lanes(spec, caps) == 1 else 0


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    op, acc, kept = spec.param("op"), spec.param("acc"), spec.param("kept")
    return {
        "op": op, "acc": acc, "kept": kept, "stage": spec.param("stage", "full"),
        "reverse": spec.param("reverse", False), "lanes": lanes(spec, caps), "chains": chains(spec, caps),
        "block": BLOCK if op in ("sum", "logsum") and (is_float(acc) or is_complex(acc)) else 0,
        "X": indexing, "fold": lambda *names: fold(op, acc, *names), "state": lambda name: state(spec, name),
        "value": value(spec), "group": group(spec, caps),
        "scratch": [operand for operand in spec.inputs if operand.access == "p"],
        "inputs": [operand for operand in spec.inputs if operand.access != "p"],
    }  # fmt: skip


def value(spec: KernelSpec) -> str:
    """Statements that declare and assign the scanned value ``v0``."""
    acc, x = spec.param("acc"), spec.inputs[0]
    if is_complex(acc):
        return f"{part(acc)} v0r, v0i; {spec.body or 'v0r = x0r; v0i = x0i;'}"
    return f"{acc} v0; {spec.body or f'v0 = {cast(x.name, held(x.compute), acc)};'}"


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every row, or for every chunk of a row."""
    kept = spec.param("kept")
    rows, n, wide = math.prod(extents[:kept]), extents[kept], lanes(spec, caps)
    if wide > 1:
        rows = math.prod(extents[: kept - 1]) * ceil_div(extents[kept - 1], wide)
    chunk = extents[kept + 1] if len(extents) > kept + 1 else n
    return indexing.grid(rows * ceil_div(n, max(chunk, 1)), group(spec, caps))
