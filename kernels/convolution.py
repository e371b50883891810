"""Convolutions as contractions: forward, weight gradient, data gradient (= transposed convolution).

With ``p = o * stride - padding + i * dilation`` the input position that output position ``o`` sees through kernel
position ``i``, groups being the batch axis (g) and c, d the channels of a group of input and output::

    forward  y[n, g, d, o] = sum over c, i    of w[g, d, c, i] * x[n, g, c, p]     m = d     n = (n, o)     k = (c, i)
    weight   w[g, d, c, i] = sum over n, o    of y[n, g, d, o] * x[n, g, c, p]     m = d     n = (c, i)     k = (n, o)
    data     x[n, g, c, p] = sum over d, i, o of w[g, d, c, i] * y[n, g, d, o]     m = c     n = (n, p)     k = (d, i)

The data gradient needs ``o = (p + padding - i * dilation) / stride`` to be whole.  Instead of multiplying by the zeros
in between, it is split into one dense contraction for each residue of p modulo the stride: there the kernel positions
that divide form a regular subset, and o is again of the form u * i + v * p + w (the "sub-pixel" view of transposed
convolution, Shi et al. 2016, https://arxiv.org/abs/1609.07009).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .contraction import Axes, Call, Ints, Patch, View, contraction

if TYPE_CHECKING:
    from .capabilities import Capabilities

__all__ = ["Window", "convolution_data", "convolution_forward", "convolution_weight"]

Scalars = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Window:
    """How a kernel moves: ``stride``, ``padding`` (at the front), ``dilation`` per spatial dimension; ``groups``."""

    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int = 1


@dataclass(frozen=True)
class _Grouped:
    """A view (first, channels, *spatial), its channel axis split by groups; weights split their first axis instead."""

    code: str
    group: int  # stride of a group
    lead: int  # stride of the other leading axis
    channel: int  # stride of a channel within its group
    spatial: Ints

    @staticmethod
    def data(view: View, groups: int) -> _Grouped:
        s = view.strides
        return _Grouped(view.code, view.shape[1] // groups * s[1], s[0], s[1], s[2:])

    @staticmethod
    def weight(view: View, groups: int) -> _Grouped:
        s = view.strides
        return _Grouped(view.code, view.shape[0] // groups * s[0], s[0], s[1], s[2:])


def _check(name: str, x: View, w: View, y: View, window: Window, extras: tuple[View, ...], out: View) -> None:
    rank = len(x.shape) - 2
    groups = window.groups
    if not (rank >= 1 and len(w.shape) == len(y.shape) == rank + 2 == len(window.stride) + 2):
        raise ValueError(
            f"{name}: input, weight and output must have the same rank; got {x.shape}, {w.shape}, {y.shape}"
        )
    fits = (
        x.shape[0] == y.shape[0]
        and y.shape[1] == w.shape[0]
        and x.shape[1] == w.shape[1] * groups
        and w.shape[0] % groups == 0
    )
    if not fits or any(v.shape != out.shape for v in extras):
        raise ValueError(
            f"{name}: shapes must be (n, c, ..), (d, c / groups, ..), (n, d, ..), extras as the result; "
            f"got {x.shape}, {w.shape}, {y.shape}, groups {groups}. Hint: expand a bias with strides 0"
        )


@lru_cache(maxsize=4096)
def convolution_forward(
    caps: Capabilities,
    y: View,
    x: View,
    w: View,
    window: Window,
    extras: tuple[View, ...] = (),
    body: str = "",
    scalars: Scalars = (),
) -> tuple[Call, ...]:
    """Calls that fill y (n, d, *out) from x (n, c, *in) and w (d, c / groups, *kernel); operands are y, x, w, extras.

    Extras have the shape of y; a bias of shape (d,) is expanded with strides (0, s, 0, ..). The body is as in
    :func:`tensorx.kernels.contraction.contraction`.
    """
    _check("convolution_forward", x, w, y, window, extras, y)
    rank, groups = len(window.stride), window.groups
    batch, outs, kernel = y.shape[0], y.shape[2:], w.shape[2:]
    gx, gw = _Grouped.data(x, groups), _Grouped.weight(w, groups)
    zero = (0,) * rank
    patch = tuple(
        Patch(gx.spatial[i], x.shape[2 + i], window.dilation[i], window.stride[i], -window.padding[i])
        for i in range(rank)
    )
    sizes = ((groups,), (w.shape[0] // groups,), (batch, *outs), (w.shape[1], *kernel))
    source = Axes(gx.code, (gx.group,), (gx.channel, *zero), (gx.lead, *zero), patch)
    weight = Axes(gw.code, (gw.group,), (gw.lead,), (gw.channel, *gw.spatial))
    results = [_result(_Grouped.data(v, groups)) for v in (y, *extras)]
    call = contraction(caps, sizes, results[0], weight, source, tuple(results[1:]), body, scalars)
    return (_reorder(call, (0, 2, 1)),)


@lru_cache(maxsize=4096)
def convolution_weight(caps: Capabilities, dw: View, x: View, dy: View, window: Window) -> tuple[Call, ...]:
    """Calls that fill dw (d, c / groups, *kernel) from x (n, c, *in) and dy (n, d, *out); operands are dw, x, dy."""
    _check("convolution_weight", x, dw, dy, window, (), dw)
    rank, groups = len(window.stride), window.groups
    batch, outs, kernel = dy.shape[0], dy.shape[2:], dw.shape[2:]
    gx, gy, gw = _Grouped.data(x, groups), _Grouped.data(dy, groups), _Grouped.weight(dw, groups)
    zero = (0,) * rank
    patch = tuple(
        Patch(gx.spatial[i], x.shape[2 + i], window.stride[i], window.dilation[i], -window.padding[i])
        for i in range(rank)
    )
    sizes = ((groups,), (dw.shape[0] // groups,), (dw.shape[1], *kernel), (batch, *outs))
    source = Axes(gx.code, (gx.group,), (gx.lead, *zero), (gx.channel, *zero), patch)
    slope = Axes(gy.code, (gy.group,), (gy.channel,), (gy.lead, *gy.spatial))
    result = Axes(gw.code, (gw.group,), (gw.lead,), (gw.channel, *gw.spatial))
    return (_reorder(contraction(caps, sizes, result, slope, source), (0, 2, 1)),)


@lru_cache(maxsize=4096)
def convolution_data(
    caps: Capabilities,
    dx: View,
    dy: View,
    w: View,
    window: Window,
    extras: tuple[View, ...] = (),
    body: str = "",
    scalars: Scalars = (),
) -> tuple[Call, ...]:
    """Calls that fill dx (n, c, *in) from dy (n, d, *out), w (d, c / groups, *kernel); operands dx, dy, w, extras.

    This is also the forward of a transposed convolution (dx its result, dy its input); extras have the shape of dx.
    One call for each residue of the positions modulo the stride; together they write every element of dx once. Where
    the kernel's windows tile dx (as patches do), a single one with the kernel positions along m.
    """
    _check("convolution_data", dx, w, dy, window, extras, dx)
    if _tiles(dx, dy, w, window):
        return (_tiled_call(caps, dx, dy, w, window, extras, body, scalars),)
    ranges = []
    for i, stride in enumerate(window.stride):
        extent, kernel = dx.shape[2 + i], w.shape[2 + i]
        ranges.append(
            [
                _phase(p, extent, kernel, stride, window.padding[i], window.dilation[i])
                for p in range(min(stride, extent))
            ]
        )
    calls = [
        _data_call(caps, dx, dy, w, window, phases, extras, body, scalars) for phases in itertools.product(*ranges)
    ]
    return tuple(calls)


def _tiles(dx: View, dy: View, w: View, window: Window) -> bool:
    """Whether every position of dx is seen by one output, through one kernel position."""
    steps = zip(dx.shape[2:], dy.shape[2:], w.shape[2:], window.stride, window.padding, window.dilation, strict=True)
    return all(k == s and p == 0 and d == 1 and n == o * s for n, o, k, s, p, d in steps)


def _tiled_call(
    caps: Capabilities,
    dx: View,
    dy: View,
    w: View,
    window: Window,
    extras: tuple[View, ...],
    body: str,
    scalars: Scalars,
) -> Call:
    groups = window.groups
    gy, gw = _Grouped.data(dy, groups), _Grouped.weight(w, groups)
    sizes = ((groups,), w.shape[1:], (dy.shape[0], *dy.shape[2:]), (w.shape[0] // groups,))
    weight = Axes(gw.code, (gw.group,), (gw.channel, *gw.spatial), (gw.lead,))
    source = Axes(gy.code, (gy.group,), (gy.channel,), (gy.lead, *gy.spatial))
    results = []
    for view in (dx, *extras):
        g = _Grouped.data(view, groups)
        steps = tuple(s * stride for s, stride in zip(g.spatial, window.stride, strict=True))
        results.append(Axes(g.code, (g.group,), (g.channel, *g.spatial), (g.lead, *steps)))
    call = contraction(caps, sizes, results[0], weight, source, tuple(results[1:]), body, scalars)
    return _reorder(call, (0, 2, 1))


@dataclass(frozen=True)
class _Phase:
    """Positions ``first + stride * j`` (j < count) of one dimension of dx.

    The kernel positions ``tap + step * i`` (i < taps) reach them, from the source coordinate ``u * i + j + w`` in dy.
    """

    first: int
    count: int
    tap: int
    step: int
    taps: int
    u: int
    w: int


def _phase(first: int, extent: int, kernel: int, stride: int, padding: int, dilation: int) -> _Phase:
    count = -(-(extent - first) // stride)
    step = stride // math.gcd(stride, dilation)
    tap = next((i for i in range(min(step, kernel)) if (first + padding - i * dilation) % stride == 0), None)
    if tap is None:
        return _Phase(first, count, 0, 1, 0, 0, 0)
    u, w = -dilation * step // stride, (first + padding - tap * dilation) // stride
    return _Phase(first, count, tap, step, -(-(kernel - tap) // step), u, w)


def _data_call(
    caps: Capabilities,
    dx: View,
    dy: View,
    w: View,
    window: Window,
    phases: tuple[_Phase, ...],
    extras: tuple[View, ...],
    body: str,
    scalars: Scalars,
) -> Call:
    groups, zero = window.groups, (0,) * len(phases)
    gy, gw = _Grouped.data(dy, groups), _Grouped.weight(w, groups)
    sizes = (
        (groups,),
        (w.shape[1],),
        (dx.shape[0], *(p.count for p in phases)),
        (w.shape[0] // groups, *(p.taps for p in phases)),
    )
    patch = tuple(Patch(gy.spatial[i], dy.shape[2 + i], p.u, 1, p.w) for i, p in enumerate(phases))
    source = Axes(gy.code, (gy.group,), (gy.channel, *zero), (gy.lead, *zero), patch)
    taps = tuple(s * p.step for s, p in zip(gw.spatial, phases, strict=True))
    shift = sum(s * p.tap for s, p in zip(gw.spatial, phases, strict=True))
    weight = Axes(gw.code, (gw.group,), (gw.channel,), (gw.lead, *taps), shift=shift)
    results = []
    for view in (dx, *extras):
        g = _Grouped.data(view, groups)
        spatial = tuple(s * stride for s, stride in zip(g.spatial, window.stride, strict=True))
        shift = sum(s * p.first for s, p in zip(g.spatial, phases, strict=True))
        results.append(Axes(g.code, (g.group,), (g.channel,), (g.lead, *spatial), shift=shift))
    call = contraction(caps, sizes, results[0], weight, source, tuple(results[1:]), body, scalars)
    return _reorder(call, (0, 2, 1))


def _result(g: _Grouped) -> Axes:
    return Axes(g.code, (g.group,), (g.channel,), (g.lead, *g.spatial))


def _reorder(call: Call, names: Ints) -> Call:
    """The call with operands renumbered: ``names[i]`` is the caller's number of the contraction's operand i."""
    order = tuple(names[which] if which < len(names) else which for which in call.order)
    return Call(call.spec, order, call.shifts, call.numbers, call.grid)
