"""Recurrent rows: one layer and direction of an RNN, LSTM or GRU over a sequence.

Inputs come projected, all steps in one product: ``x`` holds the rows of step 0, then those of step 1, ...; ``sizes`` says how many each step has
(they do not grow: packed sequences). A step is a product with the recurrent weights and one fused kernel for the gates; backward through time
is a fused kernel and a product a step, and one product for the weights of all steps. Gate order and formulas are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensorx.autograd.modes import state
from tensorx.ops import expr as E
from tensorx.ops.dispatch import call
from tensorx.ops.families import row
from tensorx.ops.fused import step
from tensorx.ops.kinds.loop import LOOP, bare, columns, rows
from tensorx.ops.products import addmm, mm_
from tensorx.tensor import Tensor, empty

Sizes = Sequence[int]


def walk(sizes: Sizes, reverse: bool) -> Iterator[tuple[int, int]]:
    """(first row, number of rows) of each step, in the order of time (backwards for ``reverse``)."""
    starts = np.cumsum([0, *sizes]).tolist()
    steps = list(zip(starts, sizes, strict=False))
    return iter(steps[::-1] if reverse else steps)


def _new(like: Tensor, *shape: int) -> Tensor:
    return empty(shape, like.dtype, like.device)


def _copy(t: Tensor) -> Tensor:
    return bare(bare(t).clone())


def _zeros_or(g: Tensor | None, like: Tensor) -> Tensor:
    if g is not None:
        return _copy(g.contiguous())
    from tensorx.ops import factories
    return bare(factories.zeros(like._shape, dtype=like.dtype, device=like.device))


def previous(first: Tensor, values: Tensor, sizes: Sizes, reverse: bool) -> Tensor:
    """For each row of each step the state before it: ``values`` one step earlier in time, ``first`` at the start."""
    from tensorx.ops import factories, joining
    n = sizes[0]
    if all(s == n for s in sizes):
        total = values._shape[0]
        return joining.cat((values.narrow(0, n, total - n), first) if reverse else (first, values.narrow(0, 0, total - n)), 0)
    starts = np.cumsum([n, *sizes]).tolist()
    index = []
    for t, size in enumerate(sizes):
        before = t + 1 if reverse else t - 1
        known = sizes[before] if 0 <= before < len(sizes) else 0
        index += [starts[before] + b if b < known else b for b in range(size)]
    return joining.cat((first, values), 0).index_select(0, factories.tensor(index, device=values.device))


def _weight_grad(grad: Tensor, first: Tensor, values: Tensor, sizes: Sizes, reverse: bool) -> Tensor:
    return mm_(grad.mT, previous(bare(first), bare(values), sizes, reverse))


class _Again:
    """Backward through time in recorded ops, so that it can be differentiated again: ``step(start, size, *states)`` gives the cotangents of
    this step's gates and of the states before it."""

    def __init__(self, sizes: Sizes, reverse: bool, *states: Tensor) -> None:
        self.sizes, self.reverse, self.states = sizes, reverse, states

    def run(self, step: Any) -> list[Tensor]:
        """The cotangents of the gates of all steps, in the order of rows."""
        from tensorx.ops import joining
        states: list[Tensor] = list(self.states)
        parts = []
        for start, size in reversed(list(walk(self.sizes, self.reverse))):
            part, *new = step(slice(start, start + size), *(s[:size] for s in states))
            states = [joining.cat((n, s[size:]), 0) for n, s in zip(new, states, strict=True)]
            parts.append(part)
        self.states = tuple(states)
        parts = parts if self.reverse else parts[::-1]
        return [joining.cat(tuple(p), 0) for p in zip(*parts, strict=True)]


def _recorded(rule: Any, *tensors: Tensor) -> list[Tensor]:
    """``rule`` as recorded ops."""
    from tensorx.ops import convert
    from tensorx.ops.expr_tensor import evaluate
    d = tensors[0].dtype
    exprs = rule(*(E.arg(i, d.compute) for i in range(len(tensors))))
    return [convert.cast(r, d) for r in evaluate(exprs, tensors, ())]


def _defined(g: Tensor | None, like: Tensor) -> Tensor:
    from tensorx.ops import factories
    return factories.zeros(like._shape, dtype=like.dtype, device=like.device) if g is None else g


# RNN: h = act(x + h @ weight.T)


def _tanh_step(pre):
    h = E.tanh(pre)
    return h, h


def _relu_step(pre):
    h = E.max(pre, 0.0)
    return h, h


def _tanh_back(out, dh, *more):
    return ((dh + more[0] if more else dh) * (1 - out * out),)


def _relu_back(out, dh, *more):
    return (E.where(out > 0, dh + more[0] if more else dh, 0.0),)


def _rnn(x: Tensor, h: Tensor, weight: Tensor, sizes: Sizes, reverse: bool, relu: bool) -> tuple[Tensor, ...]:
    output, h_n, scratch, wt = _new(x, *x._shape), _copy(h), _new(x, *h._shape), weight.t()
    for start, size in walk(sizes, reverse):
        now, pre = rows(h_n, 0, size), rows(scratch, 0, size)
        call(addmm, (rows(x, start, size), now, wt, 1, 1), (pre,))
        step(_relu_step if relu else _tanh_step, (pre,), {}, (rows(output, start, size), now))
    return output, h_n


def _rnn_vjp(g: Any, needs: Any, h: Tensor, weight: Tensor, output: Tensor, sizes: Sizes, reverse: bool, relu: bool) -> tuple[Any, ...]:
    rule, g_out = (_relu_back if relu else _tanh_back), g[0]
    if state.grad:
        again, g_out = _Again(sizes, reverse, _defined(g[1], h)), _defined(g_out, output)

        def back(at: slice, dh: Tensor) -> Any:
            dx, = _recorded(rule, output[at], dh, g_out[at])
            return (dx,), mm_(dx, weight)
        dx, = again.run(back)
        return dx, again.states[0], mm_(dx.mT, previous(h, output, sizes, reverse))
    dh, dx, out, w = _zeros_or(g[1], h), _new(output, *output._shape), bare(output), bare(weight)
    for start, size in reversed(list(walk(sizes, reverse))):
        now, at = rows(dh, 0, size), rows(dx, start, size)
        step(rule, (rows(out, start, size), now, *_part(g_out, start, size)), {}, (at,))
        call(mm_, (at, w), (now,))
    return dx, dh, _weight_grad(dx, h, output, sizes, reverse) if needs[2] else None


def _part(g: Tensor | None, start: int, size: int) -> tuple[Tensor, ...]:
    return () if g is None else (rows(g, start, size),)


# LSTM: gates i, f, g, o = x + h @ weight.T; c = f * c + i * g; h = o * tanh(c), projected where there is a projection


def _lstm_parts(i, f, g, o, c):
    new = E.sigmoid(f) * c + E.sigmoid(i) * E.tanh(g)
    return E.sigmoid(o) * E.tanh(new), new


def _lstm_step(i, f, g, o, c):
    h, c = _lstm_parts(i, f, g, o, c)
    return h, h, c, c


def _lstm_step_raw(i, f, g, o, c):
    h, c = _lstm_parts(i, f, g, o, c)
    return h, c, c


def _lstm_raw(o, c):
    return (E.sigmoid(o) * E.tanh(c),)


def _lstm_back(i, f, g, o, before, c, dh, dc, *more):
    """Cotangents of the gates and of the state before. ``more`` are cotangents of this step's output, or of output and cells."""
    i, f, g, o, t = E.sigmoid(i), E.sigmoid(f), E.tanh(g), E.sigmoid(o), E.tanh(c)
    dh = dh + more[0] if more else dh
    dc = dc + dh * o * (1 - t * t)
    dc = dc + more[1] if len(more) > 1 else dc
    return dc * g * i * (1 - i), dc * before * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o), dc * f


def _sum(a, b):
    return (a + b,)


def _lstm(x: Tensor, h: Tensor, c: Tensor, weight: Tensor, project: Tensor | None, sizes: Sizes, reverse: bool) -> tuple[Tensor, ...]:
    total = x._shape[0]
    output, cells, gates = _new(x, total, h._shape[1]), _new(x, total, c._shape[1]), _new(x, *x._shape)
    h_n, c_n, wt = _copy(h), _copy(c), weight.t()
    raw = None if project is None else _new(x, *c._shape)
    for start, size in walk(sizes, reverse):
        h_now, c_now, at, out, cell = rows(h_n, 0, size), rows(c_n, 0, size), rows(gates, start, size), rows(output, start, size), rows(cells, start, size)
        call(addmm, (rows(x, start, size), h_now, wt, 1, 1), (at,))
        if raw is None or project is None:
            step(_lstm_step, (*columns(at, 4), c_now), {}, (out, h_now, cell, c_now))
        else:
            part = rows(raw, 0, size)
            step(_lstm_step_raw, (*columns(at, 4), c_now), {}, (part, cell, c_now))
            call(mm_, (part, project.t()), (out,))
            h_now.copy_(out)
    return output, h_n, c_n, gates, cells


def _lstm_vjp(g: Any, needs: Any, h: Tensor, c: Tensor, weight: Tensor, project: Tensor | None, output: Tensor, gates: Tensor, cells: Tensor,
              sizes: Sizes, reverse: bool) -> tuple[Any, ...]:
    if state.grad:
        return _lstm_again(g, h, c, weight, project, output, gates, cells, sizes, reverse)
    g_out, g_h, g_c, g_gates, g_cells = g
    dh, dc, dgates, w = _zeros_or(g_h, h), _zeros_or(g_c, c), _new(gates, *gates._shape), bare(weight)
    pre, cell, before = bare(gates), bare(cells), bare(previous(bare(c), bare(cells), sizes, reverse))
    d_out = None if project is None else _new(output, *output._shape)
    if g_cells is not None and g_out is None:
        g_out = _zeros_or(None, output)
    for start, size in reversed(list(walk(sizes, reverse))):
        h_now, c_now, at = rows(dh, 0, size), rows(dc, 0, size), rows(dgates, start, size)
        through, more = h_now, _part(g_out, start, size)
        if d_out is not None and project is not None:
            through = rows(d_out, start, size)
            if more:
                step(_sum, (h_now, *more), {}, (through,))
            else:
                through.copy_(h_now)
            through = mm_(through, bare(project))
            more = (_zeros_or(None, through),) if g_cells is not None else ()
        more += _part(g_cells, start, size)
        known = (*columns(rows(pre, start, size), 4), rows(before, start, size), rows(cell, start, size))
        step(_lstm_back, (*known, through, c_now, *more), {}, (*columns(at, 4), c_now))
        if g_gates is not None:
            step(_sum, (at, rows(g_gates, start, size)), {}, (at,))
        call(mm_, (at, w), (h_now,))
    d_project = None
    if d_out is not None and needs[4]:
        raw = _new(cells, *cells._shape)
        step(_lstm_raw, (columns(pre, 4)[3], cell), {}, (raw,))
        d_project = mm_(d_out.mT, raw)
    return dgates, dh, dc, _weight_grad(dgates, h, output, sizes, reverse) if needs[3] else None, d_project


def _lstm_again(g: Any, h: Tensor, c: Tensor, weight: Tensor, project: Tensor | None, output: Tensor, gates: Tensor, cells: Tensor, sizes: Sizes,
                reverse: bool) -> tuple[Any, ...]:
    from tensorx.ops import joining
    g_out, g_h, g_c, g_gates, g_cells = (_defined(a, b) for a, b in zip(g, (output, h, c, gates, cells), strict=True))
    again, before = _Again(sizes, reverse, g_h, g_c), previous(c, cells, sizes, reverse)

    def back(at: slice, dh: Tensor, dc: Tensor) -> Any:
        d_out = dh + g_out[at]
        through = d_out if project is None else mm_(d_out, project)
        *parts, dc = _recorded(_lstm_back, *gates[at].chunk(4, 1), before[at], cells[at], through, dc + g_cells[at])
        dgates = joining.cat(tuple(parts), 1) + g_gates[at]
        return (dgates, d_out), mm_(dgates, weight), dc
    dgates, d_out = again.run(back)
    raw = gates.chunk(4, 1)[3].sigmoid() * cells.tanh()
    return (dgates, *again.states, mm_(dgates.mT, previous(h, output, sizes, reverse)), None if project is None else mm_(d_out.mT, raw))


# GRU: r, z = sigmoid(x + hidden); n = tanh(x + r * hidden); h = n + z * (h - n), with hidden = h @ weight.T + bias


def _gru_parts(xr, xz, xn, hr, hz, hn):
    r = E.sigmoid(xr + hr)
    return r, E.sigmoid(xz + hz), E.tanh(xn + r * hn)


def _gru_step(xr, xz, xn, hr, hz, hn, h):
    _, z, n = _gru_parts(xr, xz, xn, hr, hz, hn)
    h = n + z * (h - n)
    return h, h


def _gru_back(xr, xz, xn, hr, hz, hn, before, dh, *more):
    r, z, n = _gru_parts(xr, xz, xn, hr, hz, hn)
    dh = dh + more[0] if more else dh
    dz = dh * (before - n) * z * (1 - z)
    dn = dh * (1 - z) * (1 - n * n)
    dr = dn * hn * r * (1 - r)
    return dr, dz, dn, dr, dz, dn * r, dh * z


def _gru(x: Tensor, h: Tensor, weight: Tensor, bias: Tensor | None, sizes: Sizes, reverse: bool) -> tuple[Tensor, ...]:
    output, hidden, h_n, wt = _new(x, x._shape[0], h._shape[1]), _new(x, *x._shape), _copy(h), weight.t()
    for start, size in walk(sizes, reverse):
        now, at = rows(h_n, 0, size), rows(hidden, start, size)
        if bias is None:
            call(mm_, (now, wt), (at,))
        else:
            call(addmm, (bias, now, wt, 1, 1), (at,))
        step(_gru_step, (*columns(rows(x, start, size), 3), *columns(at, 3), now), {}, (rows(output, start, size), now))
    return output, h_n, hidden


def _gru_vjp(g: Any, needs: Any, x: Tensor, h: Tensor, weight: Tensor, output: Tensor, hidden: Tensor, sizes: Sizes, reverse: bool) -> tuple[Any, ...]:
    if state.grad:
        return _gru_again(g, x, h, weight, output, hidden, sizes, reverse)
    g_out, g_h, g_hidden = g
    dh, dx, dhidden, direct = _zeros_or(g_h, h), _new(x, *x._shape), _new(x, *x._shape), _new(h, *h._shape)
    known, inner, w, before = bare(x), bare(hidden), bare(weight), bare(previous(bare(h), bare(output), sizes, reverse))
    for start, size in reversed(list(walk(sizes, reverse))):
        now, at, past = rows(dh, 0, size), rows(dhidden, start, size), rows(direct, 0, size)
        ins = (*columns(rows(known, start, size), 3), *columns(rows(inner, start, size), 3), rows(before, start, size), now)
        step(_gru_back, (*ins, *_part(g_out, start, size)), {}, (*columns(rows(dx, start, size), 3), *columns(at, 3), past))
        if g_hidden is not None:
            step(_sum, (at, rows(g_hidden, start, size)), {}, (at,))
        call(addmm, (past, at, w, 1, 1), (now,))
    return dx, dh, mm_(dhidden.mT, before) if needs[2] else None, dhidden.sum(0) if needs[3] else None


def _gru_again(g: Any, x: Tensor, h: Tensor, weight: Tensor, output: Tensor, hidden: Tensor, sizes: Sizes, reverse: bool) -> tuple[Any, ...]:
    from tensorx.ops import joining
    g_out, g_h, g_hidden = (_defined(a, b) for a, b in zip(g, (output, h, hidden), strict=True))
    again, before = _Again(sizes, reverse, g_h), previous(h, output, sizes, reverse)

    def back(at: slice, dh: Tensor) -> Any:
        *parts, direct = _recorded(_gru_back, *x[at].chunk(3, 1), *hidden[at].chunk(3, 1), before[at], dh + g_out[at])
        dhidden = joining.cat(tuple(parts[3:]), 1) + g_hidden[at]
        return (joining.cat(tuple(parts[:3]), 1), dhidden), addmm(direct, dhidden, weight)
    dx, dhidden = again.run(back)
    return dx, again.states[0], mm_(dhidden.mT, before), dhidden.sum(0)


# oracles and rows


def _np_walk(cell: Any, x: Any, states: Any, sizes: Sizes, reverse: bool) -> Any:
    """``cell(x, *states)`` gives the new states and what else is a result; rows one at a time."""
    states = [np.array(s) for s in states]
    found: list[Any] = [None] * len(x)
    for start, size in walk(sizes, reverse):
        for b in range(size):
            new, more = cell(x[start + b], *(s[b] for s in states))
            for s, v in zip(states, new, strict=True):
                s[b] = v
            found[start + b] = (new[0], *more)
    output, *more = (np.stack(v) for v in zip(*found, strict=True))
    return output, *states, *more


def _np_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _np_rnn(x, h, weight, sizes, reverse=False, relu=False):
    return _np_walk(lambda x, h: ((np.maximum(x + weight @ h, 0) if relu else np.tanh(x + weight @ h),), ()), x, [h], sizes, reverse)


def _np_lstm(x, h, c, weight, project, sizes, reverse=False):
    def cell(x, h, c):
        pre = x + weight @ h
        i, f, g, o = np.split(pre, 4)
        c = _np_sigmoid(f) * c + _np_sigmoid(i) * np.tanh(g)
        h = _np_sigmoid(o) * np.tanh(c)
        return (h if project is None else project @ h, c), (pre, c)
    return _np_walk(cell, x, [h, c], sizes, reverse)


def _np_gru(x, h, weight, bias, sizes, reverse=False):
    def cell(x, h):
        hidden = weight @ h + (0 if bias is None else bias)
        (xr, xz, xn), (hr, hz, hn) = np.split(x, 3), np.split(hidden, 3)
        z = _np_sigmoid(xz + hz)
        return ((1 - z) * np.tanh(xn + _np_sigmoid(xr + hr) * hn) + z * h,), (hidden,)
    return _np_walk(cell, x, [h], sizes, reverse)


rnn_row = row("_rnn(Tensor x, Tensor h, Tensor weight, int[] sizes, bool reverse=False, bool relu=False) -> (Tensor output, Tensor h_n)", LOOP, _rnn, _rnn_vjp,
              ref=_np_rnn, dtypes="f", ulp=32,
              samples=lambda t: [(t((6, 3)), t((2, 3)), t((3, 3)), (2, 2, 2)), (t((4, 3)), t((3, 3)), t((3, 3)), (3, 1), True, False),
                                 (t((4, 3)), t((2, 3)), t((3, 3)), (2, 2), False, True)],
              doc="A layer of an Elman network over the steps of projected inputs.")
lstm_row = row("_lstm(Tensor x, Tensor h, Tensor c, Tensor weight, Tensor? project, int[] sizes, bool reverse=False) -> (Tensor output, Tensor h_n, Tensor c_n, "
               "Tensor gates, Tensor cells)", LOOP, _lstm, _lstm_vjp, ref=_np_lstm, dtypes="f", ulp=32,
               samples=lambda t: [(t((6, 8)), t((2, 2)), t((2, 2)), t((8, 2)), None, (2, 2, 2)), (t((4, 8)), t((3, 2)), t((3, 2)), t((8, 2)), None, (3, 1), True),
                                  (t((4, 12)), t((2, 2)), t((2, 3)), t((12, 2)), t((2, 3)), (2, 2))],
               doc="A layer of an LSTM over the steps of projected inputs.")
gru_row = row("_gru(Tensor x, Tensor h, Tensor weight, Tensor? bias, int[] sizes, bool reverse=False) -> (Tensor output, Tensor h_n, Tensor hidden)", LOOP, _gru,
              _gru_vjp, ref=_np_gru, dtypes="f", ulp=32,
              samples=lambda t: [(t((6, 6)), t((2, 2)), t((6, 2)), t((6,)), (2, 2, 2)), (t((4, 6)), t((3, 2)), t((6, 2)), None, (3, 1), True)],
              doc="A layer of a GRU over the steps of projected inputs.")
