"""Stable radix sort of rows, with the permutation, on CPU-like devices: one work item a row.

Numbers become unsigned keys in the same order, of which each pass sorts one byte (least significant first) by counting;
all bytes are counted in one walk, and a byte that all keys share costs nothing. Nothing depends on how keys compare:
no branch is mispredicted.

Operands: outputs ``y0`` (values) and ``y1`` (places, i64), then packed scratch as long as the input: keys ``y2`` and
``y3`` (dtype :func:`key_code`), places ``y4`` and ``y5`` (i32); input ``x0``. Params: ``kept`` K, ``descending``.
Sizes: ``n0 .. n{K-1}``, ``n``. Strides of ``y0``, ``y1``, ``x0`` as in :mod:`tensorx.kernels.sort`, whose order of keys
this is, too: NaN is the greatest, equal keys (also 0.0 and -0.0) keep their order. Rows have fewer than 2**31 elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import indexing
from .geometry import Grid
from .spec import ITEMSIZE, Arg, KernelSpec, arguments, is_float
from .text import held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "radix.mako"
#: Shorter rows are left to :mod:`tensorx.kernels.sort`: 256 counters a byte have to be added up.
SHORTEST = 32


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    kept = spec.param("kept")
    names = [s for operand in spec.operands for s in indexing.strides(operand, kept + 1)]
    return arguments(spec, [*indexing.sizes(kept), "n"], names)


def suits(caps: Capabilities, n: int) -> bool:
    """Whether rows of ``n`` elements should be sorted this way."""
    return caps.cpu_like and SHORTEST <= n < 2**31 - 1


def key_code(code: str) -> str:
    """The dtype of the keys of elements held as ``code``.

    >>> key_code("f32"), key_code("i8"), key_code("i64")
    ('u32', 'u32', 'u64')
    """
    return "u64" if ITEMSIZE[code] == 8 else "u32"


def key(name: str, dtype: str, descending: bool) -> str:
    """Statements that declare ``key`` for the element in the variable ``name``, held as ``dtype``.

    >>> key("v", "i16", False)
    'const u32 key = ((u32)v + 32768u);'
    """
    code, flip = key_code(dtype), "~" if descending else ""
    suffix, sign = "ul" if code == "u64" else "u", 1 << (8 * ITEMSIZE[dtype] - 1)
    if not is_float(dtype):
        offset = sign if dtype[0] == "i" else 0
        return f"const {code} key = {flip}(({code}){name} + {offset}{suffix});"
    infinity, ones = 0x7F800000 if code == "u32" else 0x7FF0000000000000, f"~({code})0"
    return (
        f"const {code} raw = tx_bits_{dtype}_{code}({name}), bits = raw == {sign:#x}{suffix} ? 0 : raw;\n"
        f"const {code} ordered = bits ^ ((bits & {sign:#x}{suffix}) ? {ones} : {sign:#x}{suffix});\n"
        f"const {code} key = {flip}((bits & {sign - 1:#x}{suffix}) > {infinity:#x}{suffix} ? {ones} : ordered);"
    )


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    x = spec.inputs[0]
    code = held(x.dtype)
    return {
        "X": indexing, "group": group(caps), "kept": spec.param("kept"), "digits": max(4, ITEMSIZE[code]),
        "key": lambda name: key(name, code, bool(spec.param("descending"))),
    }  # fmt: skip


def group(caps: Capabilities) -> int:
    """Work items of a group."""
    return indexing.group(caps, heavy=True, single=True)


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every row."""
    return indexing.grid(math.prod(extents[: spec.param("kept")]), group(caps))
