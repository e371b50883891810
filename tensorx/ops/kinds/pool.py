"""POOL: maxima and means over windows of the last axes, and their gradients. The body maps arguments to a `Pooling`.

Without a compiler the same visits run over NumPy arrays: one take for each place of a window, or backward for each window that may cover
an element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels.convolution import Window
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, dispatch, layout, record, table
from tensorx.ops.kinds.rows import written
from tensorx.ops.kinds.windowed import Arranged, arrange, buffers
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]
Array = np.ndarray[Any, Any]


@dataclass
class Pooling:
    """``how`` is max or avg. ``operands``: (input,) or, ``back``, (cotangent[, places]); ``size`` the result's last axes.

    ``kernel`` and ``window`` say which elements a window holds; without a kernel the windows share the input evenly; ``starts`` lists their
    first elements, one tensor a dimension. ``divisor`` is inside, padded, or a number.
    """

    how: str
    back: bool
    operands: tuple[Tensor, ...]
    size: Ints
    kernel: Ints = ()
    window: Window | None = None
    divisor: Any = "inside"
    starts: tuple[Tensor, ...] = ()
    listed: bool = False

    @property
    def law(self) -> str:
        """How windows lie, in the kernel's words."""
        return "listed" if self.listed else "windows" if self.kernel else "even"

    @property
    def visited(self) -> Ints:
        """The extents that the result's elements visit."""
        return self.operands[0]._shape[-len(self.size):]

    def numbers(self) -> list[int]:
        """The size arguments of the law."""
        if self.law == "windows":
            w = self.window
            assert w is not None
            return [n for four in zip(self.kernel, w.stride, w.padding, w.dilation, strict=True) for n in four]
        if self.law == "even":
            return []
        n, outs = (self.size, self.visited) if self.back else (self.visited, self.size)
        return [x for k, i, o in zip(self.kernel, n, outs, strict=True) for x in (k, i - k if o > 1 else 0, o - 1)]


class Pool(record.Ruled):
    """The kind."""

    name = "POOL"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        tensors = record.flat_tensors(args)
        device = dispatch.device_of(op, tensors)
        d = tensors[0].dtype
        table.check_dtype(op, d)
        plan: Pooling = op.body(*args)
        shape = (*plan.operands[0]._shape[: -len(plan.size)], *plan.size)
        stores = [d, dtypes.int64] if plan.how == "max" and not plan.back else [d]
        outs = [empty(shape, s, device) for s in stores] if out is None else written(op, out, [shape] * len(stores), stores, tensors)
        if 0 not in shape and device.type != "meta":
            if use_numpy(device, outs[0].numel(), -1):
                _host(plan, outs)
            else:
                _launch(op, plan, outs)
        return outs[0] if len(outs) == 1 else tuple(outs)


def accumulate(plan: Pooling, d: dtypes.dtype) -> dtypes.dtype:
    """The dtype in which maxima are compared, or sums kept."""
    return d.compute if plan.how == "max" and not plan.back else d.accumulate


def _ranges(plan: Pooling, q: int) -> tuple[Array, Array, int]:
    """(first, end, step) of what each coordinate of dimension q visits, as the kernel counts it."""
    w, v = plan.size[q], plan.visited[q]
    c = np.arange(w)
    if plan.law == "even":
        return c * v // w, ((c + 1) * v - 1) // w + 1, 1
    k = plan.kernel[q]
    if plan.law == "listed":
        t, u = plan.numbers()[3 * q + 1:3 * q + 3]
        if not t:
            return np.zeros_like(c), np.full_like(c, v), 1
        return np.maximum((c - k - 1) * u // t - 1, 0), np.minimum((c + 2) * u // t + 2, v), 1
    assert plan.window is not None
    s, p, d = plan.window.stride[q], plan.window.padding[q], plan.window.dilation[q]
    if plan.back:
        return np.maximum(-(((k - 1) * d - c - p) // s), 0), np.minimum((c + p) // s + 1, v), 1
    first = c * s - p
    return np.where(first < 0, first + -(first // d) * d, first), np.minimum(first + (k - 1) * d + 1, v), d


def _counts(plan: Pooling) -> Array:
    """How many elements each window of a mean counts, over its spatial extents."""
    n, outs = (plan.size, plan.visited) if plan.back else (plan.visited, plan.size)
    total: Array = np.ones((1,) * len(n), np.int64)
    for q in range(len(n)):
        o = np.arange(outs[q])
        if plan.law == "even":
            extent = ((o + 1) * n[q] - 1) // outs[q] + 1 - o * n[q] // outs[q]
        else:
            assert plan.window is not None
            low = o * plan.window.stride[q] - plan.window.padding[q]
            high = low + plan.kernel[q]
            padded = plan.divisor == "padded"
            extent = np.minimum(high, n[q] + plan.window.padding[q]) - low if padded else np.minimum(high, n[q]) - np.maximum(low, 0)
        total = total * extent.reshape([-1 if i == q else 1 for i in range(len(n))])
    return total


def _host(plan: Pooling, outs: Sequence[Tensor]) -> None:
    """The NumPy routine: for each step through the ranges, take what every element visits there and combine."""
    d, largest = outs[0].dtype, plan.how == "max" and not plan.back
    work = accumulate(plan, d).np
    x = plan.operands[0]._array().astype(work, copy=False)
    with np.errstate(all="ignore"):
        if plan.how == "avg" and plan.back:
            x = _divided(plan, x)
        flat = x.reshape(*x.shape[: x.ndim - len(plan.size)], -1)
        if largest:
            outs[0]._array()[...], outs[1]._array()[...] = _largest(plan, flat, outs[0]._shape)
            return
        total = np.zeros(outs[0]._shape, work)
        saved = plan.operands[1]._array().reshape(flat.shape) if plan.how == "max" else None
        own = np.arange(math.prod(plan.size)).reshape(plan.size)
        for place, inside in _steps(plan):
            kept = inside if saved is None else inside & (_taken(plan, saved, place, inside) == own)
            total += np.where(kept, _taken(plan, flat, place, inside), np.zeros((), work))
        outs[0]._array()[...] = total if plan.back else _divided(plan, total)


def _largest(plan: Pooling, flat: Array, shape: Ints) -> tuple[Array, Array]:
    best, at = np.full(shape, _lowest(flat.dtype), flat.dtype), np.zeros(shape, np.int64)
    for i, (place, inside) in enumerate(_steps(plan)):
        seen = _taken(plan, flat, place, inside)
        better = inside & ((seen > best) | (seen != seen))
        best, at = np.where(better, seen, best), np.where(better, place, at) if i else np.broadcast_to(place, shape)
    return best, at


def _steps(plan: Pooling) -> Iterator[tuple[Array, Array]]:
    """(place, whether it is in range) of what each element visits, step by step."""
    rank = len(plan.size)
    if plan.starts:
        lead = plan.operands[0]._shape[:-rank]
        firsts = [np.broadcast_to(t._array(), (*lead, *plan.size)) for t in plan.starts]
        ranges: list[tuple[Array, Array, int]] = [(a, a + k, 1) for a, k in zip(firsts, plan.kernel, strict=True)]
    else:
        ranges = [(_along(a, q, rank), _along(e, q, rank), step) for q in range(rank) for a, e, step in [_ranges(plan, q)]]
    strides = [math.prod(plan.visited[q + 1:]) for q in range(rank)]
    for at in itertools.product(*(range(max(1, int(-(-(e - a).max() // step)))) for a, e, step in ranges)):
        place, inside = np.zeros((1,) * rank, np.int64), np.ones((1,) * rank, np.bool_)
        for (a, e, step), i, s in zip(ranges, at, strides, strict=True):
            place, inside = place + (a + i * step) * s, inside & (a + i * step < e)
        yield place, inside


def _along(values: Array, q: int, rank: int) -> Array:
    return values.reshape([-1 if i == q else 1 for i in range(rank)])


def _taken(plan: Pooling, flat: Array, place: Array, inside: Array) -> Array:
    """Elements of the rows of ``flat`` at row-major places: of each row its own where windows are listed, else of all alike."""
    place = np.where(inside, place, 0)
    if plan.starts:
        return np.take_along_axis(flat, place.reshape(*flat.shape[:-1], -1), -1).reshape(place.shape)
    return np.take(flat, place, -1)


def _divided(plan: Pooling, x: Array) -> Array:
    by = _counts(plan) if isinstance(plan.divisor, str) else np.asarray(plan.divisor)
    if x.dtype.kind in "iu":
        return np.sign(x) * np.sign(by) * (abs(x) // abs(by))
    return x / by.astype(x.dtype)


def _lowest(d: Any) -> Any:
    return -np.inf if np.dtype(d).kind == "f" else np.iinfo(d).min


def _launch(op: Op, plan: Pooling, outs: Sequence[Tensor]) -> None:
    device, rank = outs[0].device, len(plan.size)
    runtime = device.runtime
    assert runtime is not None
    tensors, shape = [*outs, *plan.operands], outs[0]._shape
    at = arrange(shape[: len(shape) - rank], tensors, [(plan.size, layout.expanded_strides(t._shape, t._get_strides(), shape)) for t in plan.starts])
    numbers = plan.numbers()
    reach = sum(numbers) + 2
    small = at.width == "i32" and all((w + reach) * (v + reach) < 2**30 for w, v in zip(plan.size, plan.visited, strict=True))
    given = not isinstance(plan.divisor, str)
    key = (device, plan.how, plan.law, outs[0].dtype, len(at.sizes), rank, at.access, small, "given" if given else plan.divisor)
    spec = op.plans.get(key)
    if spec is None:
        spec = op.plans[key] = _spec(op, plan, outs, at, small)
    extents = [*at.sizes, *plan.size, *plan.visited, *numbers]
    args = [*buffers([*tensors, *plan.starts]), *([plan.divisor] if given else ()), *extents, *at.steps]
    runtime.launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *extents), args)


def _spec(op: Op, plan: Pooling, outs: Sequence[Tensor], at: Arranged, small: bool) -> KernelSpec:
    acc = accumulate(plan, outs[0].dtype).code
    tensors = [*outs, *plan.operands, *plan.starts]
    names = [*(f"y{i}" for i in range(len(outs))), *("x0", "i0")[: len(plan.operands)], *(f"i{q + 1}" for q in range(len(plan.starts)))]
    made = [Operand(n, t.dtype.code, t.dtype.compute.code, a) for n, t, a in zip(names, tensors, at.access, strict=True)]
    divisor = plan.divisor if isinstance(plan.divisor, str) else "given"
    params = (("how", plan.how), ("back", plan.back), ("law", plan.law), ("lead", len(at.sizes)), ("space", len(plan.size)), ("acc", acc), ("divisor", divisor))
    return named(KernelSpec("pool", op.schema.name.strip("_"), tuple(made[: len(outs)]), tuple(made[len(outs):]),
                            (("div", acc),) if divisor == "given" else (), "", "i32" if small else "i64", params=params))


POOL = Pool()
