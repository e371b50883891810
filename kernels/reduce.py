"""The reduce family: kept axes ``n0..``, reduced axes ``m0..``; any combine, any load, any finish.

Params: ``kept`` K, ``reduced`` R, ``combine``, ``acc`` (accumulate code), ``finish`` (text that assigns ``y0`` from
``a0`` and ``count``), ``stage``.  ``body`` is the load: it assigns ``v0`` (``v0r``, ``v0i``) from ``x0..``.
Sizes: K kept, R reduced, then ``splits`` in the partial stage, ``total`` in the final one.  Strides: K for
every output, K + R for every input that is not ``'b'``.  Access ``'r'``: dense along rows, ``'k'``: neighbouring rows
are neighbours in memory, ``'e'``: they share one element, ``'s'``: general.

One launch (stage ``full``) serves many kept elements; for few of them with long rows :func:`splits` says how many
parts a row is cut into, :func:`partial` and :func:`final` derive the two kernels, with a scratch of shape (kept...,
splits) between.

Accuracy: float sums are pairwise along rows (blocks of 2048 in 32 lanes), and in three levels of 64 down columns, so
that 2**25 ones sum to 2**25. ``maxi`` and its kin keep the first index and let NaN win, over lanes, splits and work
items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from tensorx.errors import RenderError

from .geometry import Grid, ceil_div, power_of_two
from .spec import ITEMSIZE, Arg, KernelSpec, Operand, arguments, is_complex, is_float, part

if TYPE_CHECKING:
    from .capabilities import Capabilities

TEMPLATE = "reduce.mako"
COMBINES = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "maxi", "mini")
#: Combines that carry an index.
INDEXED = frozenset({"argmax", "argmin", "maxi", "mini"})
#: Values that a task reduces at least, columns that it takes at most.
TASK, COLUMNS = 8192, 256
LANES, BLOCK = 32, 2048
_LOWEST = {
    "i8": "-128", "i16": "-32768", "i32": "(-2147483647 - 1)", "i64": "(-9223372036854775807L - 1)",
    "b8": "0", "u8": "0", "u16": "0", "u32": "0", "u64": "0",
    "f32": "tx_bits_u32_f32(0xff800000u)", "f64": "tx_bits_u64_f64(0xfff0000000000000UL)",
}  # fmt: skip
_HIGHEST = {
    "i8": "127", "i16": "32767", "i32": "2147483647", "i64": "9223372036854775807L",
    "b8": "1", "u8": "255", "u16": "65535", "u32": "4294967295u", "u64": "18446744073709551615UL",
    "f32": "tx_bits_u32_f32(0x7f800000u)", "f64": "tx_bits_u64_f64(0x7ff0000000000000UL)",
}  # fmt: skip


@dataclass(frozen=True)
class Combine:
    """How accumulators meet. A pattern such as ``"lane%s[j]"`` names one: ``%s`` becomes ``''``, ``'r'``, ``'i'`` or
    ``'_k'`` (the index)."""

    kind: str
    code: str  # accumulate code
    index: str  # integer type of the carried index

    @property
    def indexed(self) -> bool:
        """Whether an index is carried."""
        return self.kind in INDEXED

    @property
    def blocked(self) -> bool:
        """Whether rounding asks for a blocked sum."""
        return self.kind == "sum" and (is_float(self.code) or is_complex(self.code))

    @property
    def fields(self) -> list[tuple[str, str]]:
        """(suffix, code) of the variables of one accumulator."""
        sides = ["r", "i"] if is_complex(self.code) else [""]
        return [(side, part(self.code)) for side in sides] + ([("_k", self.index)] if self.indexed else [])

    def identity(self, suffix: str) -> str:
        """The neutral value of one variable; no index yet is the largest one."""
        if suffix == "_k":
            return _HIGHEST[self.index]
        if self.kind in ("sum", "any") or suffix == "i":
            return "0"
        if self.kind in ("prod", "all"):
            return "1"
        return (_LOWEST if "max" in self.kind else _HIGHEST)[self.code]

    def declare(self, pattern: str, size: str = "") -> str:
        """Declare an accumulator, or an array of them; scalars start as the identity."""
        if size:
            return " ".join(f"{code} {pattern % suffix}[{size}];" for suffix, code in self.fields)
        return " ".join(f"{code} {pattern % suffix} = {self.identity(suffix)};" for suffix, code in self.fields)

    def reset(self, pattern: str) -> str:
        """Set an accumulator to the identity."""
        return " ".join(f"{pattern % suffix} = {self.identity(suffix)};" for suffix, _ in self.fields)

    def copy(self, to: str, source: str) -> str:
        """Assign one accumulator to another."""
        return " ".join(f"{to % suffix} = {source % suffix};" for suffix, _ in self.fields)

    def into(self, a: str, b: str, ordered: bool = False) -> str:
        """``a = combine(a, b)``. ``ordered``: the indices in ``b`` are larger than those in ``a``, no tie to test."""
        if self.indexed:
            x, y = a % "", b % ""
            test = f"{y} {'>' if 'max' in self.kind else '<'} {x}"
            nan = is_float(self.code)
            if nan:
                test = f"({test}) | (({y} != {y}) & ({x} == {x}))"
            if not ordered:
                same = f"({x} == {y}) | (({x} != {x}) & ({y} != {y}))" if nan else f"{x} == {y}"
                test = f"({test}) | (({same}) & ({b % '_k'} < {a % '_k'}))"
            code, index = self.code, self.index
            return (
                f"{{ const b8 win = {test}; {x} = tx_where_{code}(win, {y}, {x}); "
                f"{a % '_k'} = tx_where_{index}(win, {b % '_k'}, {a % '_k'}); }}"
            )
        if self.kind == "prod" and is_complex(self.code):
            ar, ai, br, bi = a % "r", a % "i", b % "r", b % "i"
            re = f"const {part(self.code)} re = {ar} * {br} - {ai} * {bi};"
            return f"{{ {re} {ai} = {ar} * {bi} + {ai} * {br}; {ar} = re; }}"
        if self.kind in ("max", "min"):
            return f"{a % ''} = tx_{self.kind}_{self.code}({a % ''}, {b % ''});"
        sign = {"sum": "+", "prod": "*", "any": "|", "all": "&"}[self.kind]
        return " ".join(f"{a % s} = {a % s} {sign} {b % s};" for s, _ in self.fields)


def combine(spec: KernelSpec) -> Combine:
    """The spec's combine; RenderError for an unknown one."""
    kind, code = spec.param("combine"), spec.param("acc")
    if kind not in COMBINES:
        raise RenderError(f"reduce: param 'combine' must be one of {', '.join(COMBINES)}; got {kind!r}")
    return Combine(kind, code, spec.index)


def stage(spec: KernelSpec) -> str:
    """``full``, ``partial`` or ``final``."""
    return str(spec.param("stage", "full"))


def sizes(spec: KernelSpec) -> list[str]:
    """Names of the size arguments."""
    names = [f"n{k}" for k in range(spec.param("kept"))] + [f"m{r}" for r in range(spec.param("reduced"))]
    return names + {"full": [], "partial": ["splits"], "final": ["total"]}[stage(spec)]


def strides(spec: KernelSpec, operand: Operand) -> list[str]:
    """Names of the operand's stride arguments: ``_s`` along kept axes, ``_t`` along reduced ones."""
    if operand.access == "b":
        return []
    kept = [f"{operand.name}_s{k}" for k in range(spec.param("kept"))]
    return kept if operand in spec.outputs else kept + [f"{operand.name}_t{r}" for r in range(spec.param("reduced"))]


def layout(spec: KernelSpec) -> tuple[Arg, ...]:
    """The argument list of the spec's kernel."""
    return arguments(spec, sizes(spec), [name for operand in spec.operands for name in strides(spec, operand)])


def by_column(spec: KernelSpec) -> bool:
    """Whether neighbouring values belong to neighbouring results: some input is dense along the kept axes, none along
    the reduced."""
    access = {operand.access for operand in spec.inputs}
    return "k" in access and "r" not in access


def group(spec: KernelSpec, caps: Capabilities) -> int:
    """Work items of a group on GPUs: one accumulator each in local memory."""
    each = sum(ITEMSIZE[code] for _, code in combine(spec).fields)
    return power_of_two(min(256, caps.max_workgroup, max(1, caps.local_mem // each)))


def _lanes(spec: KernelSpec, size: int, length: int) -> int:
    """Work items that share a row of ``length`` (the template counts the same way)."""
    most = max(1, size // 32) if by_column(spec) else size
    lanes = 1
    while lanes < most and lanes < length:
        lanes *= 2
    return lanes


def _shape(spec: KernelSpec, extents: Sequence[int]) -> tuple[int, int, int]:
    """(kept, reduced, splits) of a launch."""
    kept, reduced = spec.param("kept"), spec.param("reduced")
    cut = extents[-1] if stage(spec) == "partial" else 1
    return prod(extents[:kept]), prod(extents[kept : kept + reduced]), cut


def geometry(spec: KernelSpec, caps: Capabilities, extents: Sequence[int]) -> Grid:
    """Groups over kept elements and splits on GPUs, one work item a task on CPU-like devices (as the template counts
    them)."""
    kept, reduced, cut = _shape(spec, extents)
    if not caps.cpu_like:
        size = group(spec, caps)
        lanes = _lanes(spec, size, ceil_div(reduced, cut))
        return Grid.of((ceil_div(kept, size // lanes) * cut,), (size,))
    if by_column(spec):
        last = extents[spec.param("kept") - 1]
        return Grid.of(((kept // max(1, last)) * ceil_div(last, COLUMNS) * cut,), (1,))
    rows = TASK // (reduced + 1) + 1
    return Grid.of((ceil_div(kept, rows) * cut,), (1,))


def splits(spec: KernelSpec, caps: Capabilities, *extents: int) -> int:
    """Parts into which the reduced axes of a ``full`` spec should be cut for these sizes; 1 means one launch will do.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> x, y = Operand("x0", "f32", "f32", "r"), Operand("y0", "f32", "f32", "c")
    >>> params = (("kept", 1), ("reduced", 1), ("combine", "sum"), ("acc", "f32"))
    >>> spec = KernelSpec("reduce", "s", (y,), (x,), body="v0 = x0;", params=params)
    >>> cpu = Capabilities("c", cpu_like=True, compute_units=8)
    >>> splits(spec, cpu, 1, 1 << 20), splits(spec, cpu, 1000, 1000), splits(spec, cpu, 1, 100)
    (32, 1, 1)
    """
    kept, reduced, _ = _shape(spec, extents)
    tasks_like = caps.dialect == "c" or caps.cpu_like
    if tasks_like:
        wide = by_column(spec)
        last = extents[spec.param("kept") - 1] if wide else 1
        busy = (kept // max(1, last)) * ceil_div(last, COLUMNS) if wide else kept
        grain, wanted = max(1, 4 * TASK // min(last, COLUMNS) if last else TASK), 4 * caps.compute_units
    else:
        size = group(spec, caps)
        lanes = _lanes(spec, size, reduced)
        busy, grain, wanted = ceil_div(kept, size // lanes), 16 * lanes, 16 * caps.compute_units
    if busy == 0 or 2 * busy > wanted or reduced < 2 * grain:
        return 1
    return max(1, min(ceil_div(wanted, busy), reduced // grain, 1024))


def partial(spec: KernelSpec, entry: str = "") -> KernelSpec:
    """The first of two launches: accumulators of ``spec`` into a scratch of shape (kept..., splits).

    Its outputs are ``y0`` in the accumulate dtype and, for an indexed combine, ``y1`` in i64; their kept strides are
    the scratch's, the stride over splits is one.
    """
    code = spec.param("acc")
    outputs: tuple[Operand, ...] = (Operand("y0", code, code, "s"),)
    if combine(spec).indexed:
        outputs += (Operand("y1", "i64", "i64", "s"),)
    params = tuple(pair for pair in spec.params if pair[0] not in ("stage", "finish")) + (("stage", "partial"),)
    return replace(spec, entry=entry or spec.entry + "_partial", outputs=outputs, params=params)


def final(spec: KernelSpec, entry: str = "") -> KernelSpec:
    """The second of two launches: the scratch's last axis (``m0`` = splits) reduced, then finished as in ``spec``.

    Inputs: ``x0`` and, for an indexed combine, ``x1``, both the scratch. ``total`` is the number of values reduced by
    both.
    """
    code, kept = spec.param("acc"), spec.param("kept")
    inputs: tuple[Operand, ...] = (Operand("x0", code, code, "r"),)
    body = "v0r = x0r; v0i = x0i;" if is_complex(code) else "v0 = x0;"
    if combine(spec).indexed:
        inputs += (Operand("x1", "i64", "i64", "r"),)
        body += f" v0_k = ({spec.index})x1;"
    params: tuple[tuple[str, Any], ...] = (("kept", kept), ("reduced", 1))
    params += (("combine", spec.param("combine")), ("acc", code), ("stage", "final"))
    params += tuple(pair for pair in spec.params if pair[0] == "finish")
    return replace(
        spec, entry=entry or spec.entry + "_final", inputs=inputs, body=body, params=params, uses_index=False
    )


def finish(spec: KernelSpec) -> str:
    """Text that assigns the outputs from accumulator ``a0``."""
    from .text import cast

    how = combine(spec)
    if stage(spec) == "partial":
        sides = ["r", "i"] if is_complex(how.code) else [""]
        text = " ".join(f"y0{side} = a0{side};" for side in sides)
        return text + (" y1 = (i64)a0_k;" if how.indexed else "")
    if spec.param("finish"):
        return str(spec.param("finish"))
    if how.kind in ("argmax", "argmin"):
        return f"y0 = {cast('a0_k', spec.index, spec.outputs[0].compute)};"
    out = spec.outputs[0]
    if is_complex(how.code):
        return "y0r = a0r; y0i = a0i;"
    text = f"y0 = {cast('a0', how.code, out.compute)};"
    return text + (f" y1 = {cast('a0_k', spec.index, spec.outputs[1].compute)};" if how.indexed else "")


def context(spec: KernelSpec, caps: Capabilities) -> dict[str, Any]:
    """Names that the template uses beside the common ones."""
    items = caps.dialect != "c" and not caps.cpu_like
    kept, reduced = spec.param("kept"), spec.param("reduced")
    return {
        "how": combine(spec), "kept": kept, "reduced": reduced, "stage": stage(spec), "items": items,
        "finish": finish(spec),
        "strides": {o.name: strides(spec, o) for o in spec.operands}, "columns": by_column(spec),
        "group": group(spec, caps) if items else 1, "task_size": TASK, "wide": COLUMNS, "lanes": LANES, "block": BLOCK,
        "kept_sizes": [f"n{k}" for k in range(kept)], "reduced_sizes": [f"m{r}" for r in range(reduced)],
    }  # fmt: skip
