"""Put: values to the destination elements named by index operands (index_put, scatter, index_add, a lookup's gradient).

Operands: output ``y0`` (the destination, updated in place), inputs ``x0`` (the values) and ``i0 .. i{m-1}`` (i64 or
i32), all walked over the same R coordinates of the values. ``body`` assigns ``v0`` (``v0r``, ``v0i``), in the compute
dtype of ``y0``, from ``x0`` and scalars; it defaults to a cast of ``x0``.

Params: ``n_index``, ``error`` and ``wrap`` as for :mod:`tensorx.kernels.gather` (a bad index stores nothing);
``accumulate`` none | add | mul | max | min; ``deterministic``. Sizes and strides as for gather, with ``y0`` in the
place of the source: the destination is at ``y0_o + sum_j index_j * t_j + sum_r c_r * y0_s_r``.

Without ``deterministic`` each coordinate is a work item, and duplicates meet in atomics: native where the dialect has
them, else a compare-and-swap loop on the 32 or 64 bit word around the element (so that a buffer's size is a multiple
of 4 bytes). Plain stores of duplicates race: some one of the values stays.

With ``deterministic`` two more sizes follow, ``owners`` and ``lanes`` (from :func:`deal`). Each destination belongs
to one owner, who walks all indices in order and updates his own: no atomics, additions in the order of the values,
the last value stays, and the result does not depend on the number of owners. Where no index changes along the last
coordinate (access ``'k'`` or ``'b'``), ``lanes`` work items of an owner share that axis.
:func:`must_be_deterministic` says when this is the only form, :func:`prefers_deterministic` when it is the faster one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorx.errors import RenderError

from . import gather, indexing
from .dialect import Dialect, dialect
from .geometry import Grid
from .spec import ITEMSIZE, Arg, KernelSpec, is_complex, is_float, part
from .text import cast, held

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "put.mako"
ACCUMULATE = ("none", "add", "mul", "max", "min")


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    return gather.layout(spec)


def must_be_deterministic(dtype: str, accumulate: str, caps: Capabilities) -> bool:
    """Whether the device has only the deterministic form for a destination of storage ``dtype``.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> weak = Capabilities("opencl", fp64=True)
    >>> [must_be_deterministic(code, "add", weak) for code in ("f16", "f32", "i64")]
    [False, False, True]
    """
    if not dialect(caps.dialect).grid:
        return True
    if accumulate == "none":
        return False
    wide = ITEMSIZE[part(dtype)] == 8 and not caps.int64_atomics
    return wide or (is_complex(dtype) and accumulate != "add")


def prefers_deterministic(dtype: str, accumulate: str, caps: Capabilities) -> bool:
    """Whether the deterministic form is the one to use when the caller does not mind.

    A CPU has few owners: that each reads all indices costs less than an atomic for each value.
    """
    return must_be_deterministic(dtype, accumulate, caps) or (caps.cpu_like and accumulate != "none")


def combine(accumulate: str, code: str) -> str:
    """Statement that assigns ``y0`` from the present value ``cur`` and ``v0``, all of dtype ``code``.

    >>> combine("add", "f32"), combine("add", "i16"), combine("max", "i64")
    ('y0 = cur + v0;', 'y0 = (i16)((u16)cur + (u16)v0);', 'y0 = tx_max_i64(cur, v0);')
    """
    if accumulate in ("max", "min"):
        return f"y0 = tx_{accumulate}_{code}(cur, v0);"
    sign = "+" if accumulate == "add" else "*"
    if code == "b8":
        return f"y0 = (b8)((cur {sign} v0) != 0);"
    if is_float(code):
        return f"y0 = cur {sign} v0;"
    # Unsigned, because C leaves signed overflow undefined; 16-bit factors would be promoted to (signed) int.
    wide = "u32" if code[1:] == "16" and sign == "*" else "u" + code[1:]
    return f"y0 = ({code})(({wide})cur {sign} ({wide})v0);"


def value(spec: KernelSpec) -> str:
    """Statements that declare and assign the value ``v0``."""
    y, code = spec.outputs[0], spec.outputs[0].compute
    if is_complex(code):
        return f"{part(code)} v0r, v0i; {spec.body or 'v0r = x0r; v0i = x0i;'}"
    body = spec.body or f"v0 = {cast('x0', held(spec.inputs[0].compute), held(y.compute))};"
    return f"{held(code)} v0; {body}"


def atomic(spec: KernelSpec, d: Dialect, caps: Capabilities) -> list[str]:
    """Lines that update the destination element at offset ``to`` with ``v0``, whoever else does so at the same time."""
    accumulate, storage = spec.param("accumulate", "none"), spec.outputs[0].dtype
    if is_complex(storage):
        real, lines = part(storage), []
        for p, place in (("r", "2 * to"), ("i", "2 * to + 1")):
            inner = [f"const {real} v0 = v0{p};", *_atomic(accumulate, real, place, d, caps)]
            lines += ["{", *("  " + line for line in inner), "}"]
        return lines
    if held(storage) != held(spec.outputs[0].compute):
        raise RenderError(f"put: the compute dtype of y0 must be {held(storage)}; got {spec.outputs[0].compute}")
    return _atomic(accumulate, storage, "to", d, caps)


def _atomic(accumulate: str, storage: str, place: str, d: Dialect, caps: Capabilities) -> list[str]:
    native = f"TX_ATOMIC_ADD_i{storage[1:]}" if storage in ("i32", "u32", "i64", "u64") else f"TX_ATOMIC_ADD_{storage}"
    if accumulate == "add" and f"{native}(p, v)" in d.calls and (caps.float_atomics or not is_float(storage)):
        return [f"{native}(y0_p + ({place}), v0);"]
    size = ITEMSIZE[storage]
    if size >= 4:
        word, start, element, merged = f"u{8 * size}", f"y0_p + ({place})", "seen", "bits"
        ready = []
    else:  # the element's bits inside its aligned 32-bit word
        per, mask = 4 // size, "0xffffu" if size == 2 else "0xffu"
        word, start = "u32", f"(TX_GLOBAL u32 *)y0_p + ({place}) / {per}"
        ready = [f"const u32 at = (u32)(({place}) % {per}) * {8 * size}u;"]
        element, merged = f"(seen >> at & {mask})", f"(seen & ~({mask} << at)) | bits << at"
    decode, encode = _bits(storage, word, element)
    code = held(storage)
    return [
        *ready,
        f"TX_GLOBAL {word} *word = (TX_GLOBAL {word} *)({start});",
        f"{word} seen, old = TX_ATOMIC_READ_{word}(word);",
        "do {", "  seen = old;", f"  const {code} cur = {decode};", f"  {code} y0;", f"  {combine(accumulate, code)}",
        f"  const {word} bits = {encode};", f"  old = TX_CAS_{word}(word, seen, {merged});", "} while (old != seen);",
    ]  # fmt: skip


def _bits(storage: str, word: str, element: str) -> tuple[str, str]:
    """Expressions: the value in the bits ``element``, and the bits of ``y0``."""
    if storage in ("f32", "f64"):
        return f"tx_bits_{word}_{storage}({element})", f"tx_bits_{storage}_{word}(y0)"
    if storage == "f16":
        return f"TX_UNPACK_f16({element})", "TX_PACK_f16(y0)"
    if storage == "bf16":
        return f"TX_AS_F32({element} << 16)", "TX_PACK_bf16(y0)"
    unsigned = "u8" if storage == "b8" else "u" + storage[1:]
    return f"({storage}){element}", f"({word})({unsigned})y0"


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    accumulate, deterministic = spec.param("accumulate", "none"), bool(spec.param("deterministic"))
    storage = spec.outputs[0].dtype
    if accumulate not in ACCUMULATE or (is_complex(storage) and accumulate in ("max", "min")):
        choices = ", ".join(ACCUMULATE)
        raise RenderError(
            f"put: param 'accumulate' must be one of {choices} (no order for complex); got {accumulate!r}"
        )
    if not deterministic and must_be_deterministic(storage, accumulate, caps):
        raise RenderError(f"put: {storage}, accumulate={accumulate!r} needs param deterministic=True on this device")
    d = dialect(caps.dialect)
    return {
        "X": indexing, "group": indexing.group(caps, deterministic, single=True), "value": value(spec),
        "indices": gather.index_operands(spec), "hoisted": gather.is_hoisted(spec), "read_index": gather.reader(spec),
        "error": spec.param("error", True), "accumulate": accumulate, "combine": combine,
        "deterministic": deterministic,
        "atomic": [] if deterministic or accumulate == "none" else atomic(spec, d, caps),
    }  # fmt: skip


def deal(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> tuple[int, int]:
    """``(owners, lanes)`` for the deterministic form; ``extents`` are the ``n0 .. n{R-1}``."""
    last = extents[spec.rank - 1] if gather.is_hoisted(spec) else 1
    rows = math.prod(extents[: spec.rank]) // max(last, 1)
    if not dialect(caps.dialect).grid:
        return (max(1, min(caps.compute_units, rows)) if rows * last > 32768 else 1), 1
    lanes = 1 if caps.cpu_like else max(1, min(last, 256))
    wanted = caps.compute_units if caps.cpu_like else max(1, caps.compute_units * 128 // lanes)
    return max(1, min(wanted, rows)), lanes


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """A work item for every coordinate, or for every lane of every owner."""
    heavy = bool(spec.param("deterministic"))
    items = math.prod(extents[-2:]) if heavy else math.prod(extents[: spec.rank])
    return indexing.grid(items, indexing.group(caps, heavy, single=True))
