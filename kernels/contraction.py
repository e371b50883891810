"""Calls of the contract family: from strided views to a spec, its run-time arguments and a launch.

A :class:`View` is what the kernel needs to know of a tensor: storage code, shape and strides (elements).
:func:`matmul` and :func:`contraction` (and the builders of :mod:`tensorx.kernels.convolution`) return a :class:`Call`;
a runtime builds ``call.spec`` once and launches it with ``call.arguments(pairs, scalars)`` on ``call.grid``.  All of
them are cached on their arguments.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import text
from .contract import accumulate, extents, stride_names
from .geometry import Grid, geometry
from .spec import KernelSpec, Operand, is_complex, part
from .tiles import Tile, VectorTile, candidates, spread, tile

if TYPE_CHECKING:
    from .capabilities import Capabilities

__all__ = ["Axes", "Call", "Patch", "View", "contraction", "matmul", "plain", "retile", "tilings"]

Ints = tuple[int, ...]


@dataclass(frozen=True)
class View:
    """A tensor as kernels see it: storage code, shape, strides in elements."""

    code: str
    shape: Ints
    strides: Ints


@dataclass(frozen=True)
class Patch:
    """One spatial dimension of a patch accessor: source coordinate ``u * first + v * second + w``.

    First and second are the coordinates along the operand's two axes (x0: m, k; x1: k, n). Outside ``[0, extent)``
    the source reads as zero; ``stride`` is the source's, in elements.
    """

    stride: int
    extent: int
    u: int
    v: int
    w: int


@dataclass(frozen=True)
class Axes:
    """An operand of :func:`contraction`: its storage code and a stride per sub-axis of batch, first and second axis.

    y0 and extras: first m, second n. x0: m, k. x1: k, n. The last ``len(patch)`` sub-axes of first and second are
    spatial: their strides are not used (write 0), the patch's are. ``shift`` is added to the element offset.
    """

    code: str
    batch: Ints
    first: Ints
    second: Ints
    patch: tuple[Patch, ...] = ()
    shift: int = 0


@dataclass(frozen=True, eq=False)  # the builders keep their calls: one is known by its identity
class Call:
    """One launch.

    ``order`` says which operand (0 = out, 1 = a, 2 = b, 3.. = extras) each buffer argument is, ``shifts`` what is
    added to its element offset; ``numbers`` are the sizes and strides.
    """

    spec: KernelSpec
    order: Ints
    shifts: Ints
    numbers: Ints
    grid: Grid | None

    def arguments(self, operands: Sequence[tuple[Any, int]], scalars: Sequence[float] = ()) -> list[Any]:
        """The kernel's arguments, given (buffer, offset) of out, a, b and the extras, and the body's scalars."""
        out: list[Any] = []
        for which, shift in zip(self.order, self.shifts, strict=True):
            buffer, offset = operands[which]
            out += [buffer, offset + shift]
        return [*out, *scalars, *self.numbers]


# --------------------------------------------------------------------------------------------------------- axis algebra


class _Problem:
    """Mutable working copy: sizes of the four axes, and each operand's strides by axis letter."""

    def __init__(self, sizes: dict[str, Ints], operands: Sequence[Axes]) -> None:
        self.sizes = dict(sizes)
        self.operands = list(operands)
        letters = ["bmn", "bmk", "bkn"] + ["bmn"] * (len(operands) - 3)
        self.strides = [
            dict(zip(word, (o.batch, o.first, o.second), strict=True))
            for word, o in zip(letters, operands, strict=True)
        ]
        self.patches = [o.patch for o in operands]
        self.shifts = [o.shift for o in operands]

    def flatten_patches(self) -> None:
        """A patch that never leaves its source is a plain strided accessor."""
        for which, letters in ((1, "mk"), (2, "kn")):
            patch, count = self.patches[which], len(self.patches[which])
            if not patch:
                continue
            tails = [self.sizes[letter][-count:] for letter in letters]
            reach = [_reach(p, a, b) for p, a, b in zip(patch, *tails, strict=True)]
            if all(low >= 0 and high < p.extent for p, (low, high) in zip(patch, reach, strict=True)):
                strides = self.strides[which]
                for letter, steps in zip(letters, ([p.u for p in patch], [p.v for p in patch]), strict=True):
                    spatial = tuple(step * p.stride for step, p in zip(steps, patch, strict=True))
                    strides[letter] = strides[letter][:-count] + spatial
                self.shifts[which] += sum(p.w * p.stride for p in patch)
                self.patches[which] = ()

    def spatial(self, letter: str) -> int:
        """Trailing sub-axes of an axis that a patch needs as they are."""
        return max([len(self.patches[w]) for w, letters in ((1, "mk"), (2, "kn")) if letter in letters])

    def merge(self) -> None:
        """Drop sub-axes of size one and join neighbours that every operand walks as one; at least one stays."""
        for letter in "bmnk":
            kept = self.spatial(letter) if letter != "b" else 0
            users = [s for s in self.strides if letter in s]
            head = len(self.sizes[letter]) - kept
            sizes: list[int] = []
            columns: list[list[int]] = [[] for _ in users]
            for i, size in enumerate(self.sizes[letter][:head]):
                if size == 1:
                    continue
                if sizes and all(c[-1] == u[letter][i] * size for c, u in zip(columns, users, strict=True)):
                    sizes[-1] *= size
                    for c, u in zip(columns, users, strict=True):
                        c[-1] = u[letter][i]
                    continue
                sizes.append(size)
                for c, u in zip(columns, users, strict=True):
                    c.append(u[letter][i])
            if not sizes and not kept:
                sizes, columns = [1], [[0] for _ in users]
            self.sizes[letter] = (*sizes, *self.sizes[letter][head:])
            for c, u in zip(columns, users, strict=True):
                u[letter] = (*c, *u[letter][head:])

    def swap(self) -> None:
        """Exchange the roles of m and n, and so of x0 and x1: the transposed problem, whose products commute."""
        self.sizes["m"], self.sizes["n"] = self.sizes["n"], self.sizes["m"]
        a, b = self.strides[1], self.strides[2]
        self.strides[1] = {"b": b["b"], "m": b["n"], "k": b["k"]}
        self.strides[2] = {"b": a["b"], "k": a["k"], "n": a["m"]}
        for which in (0, *range(3, len(self.strides))):
            s = self.strides[which]
            s["m"], s["n"] = s["n"], s["m"]
        turned = [tuple(dataclasses.replace(p, u=p.v, v=p.u) for p in patch) for patch in self.patches]
        self.patches[1], self.patches[2] = turned[2], turned[1]
        self.operands[1:3] = self.operands[2:0:-1]
        self.shifts[1:3] = self.shifts[2:0:-1]

    def wants_swap(self) -> bool:
        """Whether the transposed problem suits the kernel better: y0 dense along n, unless n fills no vector."""
        m, n = math.prod(self.sizes["m"]), math.prod(self.sizes["n"])
        if min(m, n) <= 8 and m != n:
            return n < m
        along = [self.strides[0][letter][-1] if self.sizes[letter] else 0 for letter in "mn"]
        return along[0] == 1 and along[1] != 1


def _reach(p: Patch, first: int, second: int) -> tuple[int, int]:
    steps = [p.u * (first - 1), p.v * (second - 1)]
    return p.w + sum(min(0, s) for s in steps), p.w + sum(max(0, s) for s in steps)


def _access(problem: _Problem, which: int, paired: bool) -> str:
    """The access class of an operand: the letter of the axis along which it is one sub-axis of stride one."""
    if which in (1, 2) and problem.patches[which]:
        return "s"
    letters = {1: "k" if paired else "km", 2: "" if paired else "nk"}.get(which, "n")
    for letter in letters:
        strides = problem.strides[which][letter]
        if strides == (1,) or (len(strides) == 1 and problem.sizes[letter] == (1,)):
            return letter
    return "s"


def _span(problem: _Problem) -> int:
    """An upper bound of every index and offset that the kernel computes."""
    most = 0
    for strides, patch in zip(problem.strides, problem.patches, strict=True):
        pairs = [
            (size, step)
            for letter, steps in strides.items()
            for size, step in zip(problem.sizes[letter], steps, strict=True)
        ]
        reach = sum((size - 1) * abs(step) for size, step in pairs)
        most = max(
            most, reach + sum(p.stride * (p.extent + abs(p.u) * 4096 + abs(p.v) * 4096 + abs(p.w)) for p in patch)
        )
    return 2 * max(most, *(math.prod(size) + 4096 for size in problem.sizes.values()))


# ------------------------------------------------------------------------------------------------------------- builders


@lru_cache(maxsize=4096)
def contraction(
    caps: Capabilities,
    sizes: tuple[Ints, Ints, Ints, Ints],
    out: Axes,
    a: Axes,
    b: Axes,
    extras: tuple[Axes, ...] = (),
    body: str = "",
    scalars: tuple[tuple[str, str], ...] = (),
) -> Call:
    """The call that computes ``out[b, m, n] = body(sum over k of a[b, m, k] * b[b, k, n])``.

    ``sizes`` are the sub-axis sizes of b, m, n, k. ``body`` assigns ``y0`` (``y0r``, ``y0i``) from ``acc`` (``accr``,
    ``acci``) and the extras ``x2``, ``x3`` .. in their compute dtype, which for f16 and bf16 is f32; by default the
    sum is stored. Either all of out, a and b are complex or none is.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> row, col = Axes("f32", (0,), (4,), (1,)), Axes("f32", (0,), (3,), (1,))
    >>> sizes, out = ((1,), (2,), (3,), (4,)), Axes("f32", (0,), (3,), (1,))
    >>> contraction(Capabilities("c", simd_width=8), sizes, out, row, col).order
    (0, 1, 2)
    """
    codes = (out.code, a.code, b.code)
    if len({is_complex(code) for code in codes}) != 1:
        raise ValueError(
            "contraction: arguments 'out', 'a' and 'b' must be all complex or all real; "
            f"got {', '.join(codes)}. Hint: cast first"
        )
    paired, acc = is_complex(out.code), accumulate(a.code if a.code != "f16" else b.code)
    problem = _Problem(dict(zip("bmnk", sizes, strict=True)), (out, a, b, *extras))
    if any(p.extent <= 0 for patch in problem.patches for p in patch):
        problem.sizes["k"] = (0,) * len(problem.sizes["k"])  # an empty source is all padding
    problem.flatten_patches()
    problem.merge()
    order = list(range(len(problem.operands)))
    if problem.wants_swap():
        problem.swap()
        order[1], order[2] = 2, 1
    spec = _spec(caps, problem, acc, paired, body, scalars)
    return _call(caps, problem, spec, order)


def _operand(problem: _Problem, which: int, acc: str, paired: bool) -> Operand:
    code = problem.operands[which].code
    name = "y0" if which == 0 else f"x{which - 1}"
    compute = code if is_complex(code) else text.held(code)
    return Operand(name, code, compute, _access(problem, which, paired))


def _direct(inputs: Sequence[Operand], patches: Ints) -> bool:
    """Whether the thin tile can read x1 in place; it reads x0 without a window."""
    return inputs[1].access != "s" and not patches[0]


def _spec(
    caps: Capabilities, problem: _Problem, acc: str, paired: bool, body: str, scalars: tuple[tuple[str, str], ...]
) -> KernelSpec:
    operands = [_operand(problem, which, acc, paired) for which in range(len(problem.operands))]
    y0 = operands[0]
    body = body or _sum(acc, y0)
    widest = 2 if paired else 1
    rows, cols = (math.prod(problem.sizes[letter]) for letter in "mn")
    patches = (len(problem.patches[1]), len(problem.patches[2]))
    params = (
        ("axes", tuple(len(problem.sizes[letter]) for letter in "bmnk")),
        ("patch", patches),
        ("acc", acc),
        ("tile", tile(acc, caps, rows, cols * widest, direct=_direct(operands[1:], patches))),
    )
    index = "i32" if _span(problem) < 2**31 else "i64"
    return _named(KernelSpec("contract", "contract", (y0,), tuple(operands[1:]), scalars, body, index, params=params))


def _sum(acc: str, y0: Operand) -> str:
    return "y0r = accr; y0i = acci;" if is_complex(y0.dtype) else f"y0 = {text.cast('acc', acc, part(y0.compute))};"


def _named(spec: KernelSpec) -> KernelSpec:
    name = (
        f"contract_{spec.outputs[0].dtype}_{zlib.crc32(repr(dataclasses.replace(spec, entry='contract')).encode()):08x}"
    )
    return dataclasses.replace(spec, entry=name)


def _call(caps: Capabilities, problem: _Problem, spec: KernelSpec, order: list[int]) -> Call:
    strides: list[int] = []
    for by_axis, patch in zip(problem.strides, problem.patches, strict=True):
        for letter, steps in by_axis.items():
            strides += steps[: len(steps) - (0 if letter == "b" else len(patch))]
        strides += [value for p in patch for value in (p.stride, p.extent, p.u, p.v, p.w)]
    sizes = tuple(size for letter in "bmnk" for size in problem.sizes[letter])
    return _placed(caps, spec, tuple(order), tuple(problem.shifts), sizes, tuple(strides))


def _placed(caps: Capabilities, spec: KernelSpec, order: Ints, shifts: Ints, sizes: Ints, strides: Ints) -> Call:
    kind = spec.param("tile")
    if isinstance(kind, VectorTile):
        batch, m, n, _ = extents(spec, sizes)
        sizes += spread(kind, max(1, caps.compute_units), batch, m, n * (2 if is_complex(spec.outputs[0].dtype) else 1))
    return Call(spec, order, shifts, sizes + strides, geometry(spec, caps, *sizes))


@lru_cache(maxsize=4096)
def tilings(caps: Capabilities, call: Call) -> tuple[Tile, ...]:
    """The tiles that ``call`` may have instead of its own: its default first, a dozen or two at most."""
    spec = call.spec
    _, m, n, _ = extents(spec, call.numbers)
    widest = 2 if is_complex(spec.outputs[0].dtype) else 1
    return candidates(spec.param("acc"), caps, m, n * widest, _direct(spec.inputs, spec.param("patch")))


def plain(call: Call) -> Call:
    """The same sums, stored as they are: ``call`` without its body and the extras that this reads."""
    spec = call.spec
    count = len(call.numbers) - sum(len(stride_names(spec, extra)) for extra in spec.inputs[2:])
    body = _sum(spec.param("acc"), spec.outputs[0])
    bare = _named(dataclasses.replace(spec, inputs=spec.inputs[:2], scalars=(), body=body))
    return Call(bare, call.order[:3], call.shifts[:3], call.numbers[:count], call.grid)


def retile(caps: Capabilities, call: Call, kind: Tile) -> Call:
    """``call`` with another tile, one of its :func:`tilings`.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> caps, square = Capabilities("c", simd_width=8), View("f32", (512, 512), (512, 1))
    >>> call = matmul(caps, square, square, square)
    >>> other = retile(caps, call, tilings(caps, call)[1])
    >>> other.spec.entry != call.spec.entry, other.numbers[:4] == call.numbers[:4]
    (True, True)
    """
    old = call.spec.param("tile")
    if kind == old:
        return call
    params = tuple((key, kind if key == "tile" else value) for key, value in call.spec.params)
    count = sum(call.spec.param("axes"))
    strides = call.numbers[count + 2 * isinstance(old, VectorTile) :]
    spec = _named(dataclasses.replace(call.spec, params=params))
    return _placed(caps, spec, call.order, call.shifts, call.numbers[:count], strides)


def matmul(
    caps: Capabilities,
    out: View,
    a: View,
    b: View,
    extras: tuple[View, ...] = (),
    body: str = "",
    scalars: tuple[tuple[str, str], ...] = (),
) -> Call:
    """``out = body(a @ b)`` for a of shape (*batch, m, k), b (*batch, k, n), out and every extra (*batch, m, n).

    The batch axes are equal in number and size: expand with stride 0. A vector is a matrix with an axis of size one.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> a, b, y = View("f32", (2, 3), (3, 1)), View("f32", (3, 4), (4, 1)), View("f32", (2, 4), (4, 1))
    >>> matmul(Capabilities("c", simd_width=8), y, a, b).numbers[:4]
    (1, 2, 4, 3)
    """
    batch, (m, k), n = a.shape[:-2], a.shape[-2:], b.shape[-1]
    if b.shape != (*batch, k, n) or any(v.shape != (*batch, m, n) for v in (out, *extras)):
        shapes = ", ".join(str(v.shape) for v in (out, a, b, *extras))
        raise ValueError(f"matmul: views must have shapes (*batch, m, n), (*batch, m, k), (*batch, k, n); got {shapes}")
    axes = [Axes(v.code, v.strides[:-2], v.strides[-2:-1], v.strides[-1:]) for v in (out, a, b, *extras)]
    return contraction(caps, (batch, (m,), (n,), (k,)), axes[0], axes[1], axes[2], tuple(axes[3:]), body, scalars)
