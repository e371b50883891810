"""Connectionist temporal classification (Graves et al., 2006): the forward and backward recursions in log space, one kernel a time step for all samples.

States are the labels with blanks between and around them. Both recursions are the same step: a state is reached from itself, from its neighbour, and from the one
behind that where `skip` allows it; and the recursion of a sample begins where `begins` says, with the values `start`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tensorx import dtypes
from tensorx.autograd.function import Function, once_differentiable
from tensorx.ops import expr as E
from tensorx.ops.dispatch import call
from tensorx.ops.families import elementwise
from tensorx.ops.table import NONDIFF
from tensorx.tensor import Tensor


def _step(stay, one, two, skip, emit, start, begins):
    two = E.where(E.ne(skip, 0), two, -math.inf)
    top = E.max(E.max(stay, one), two)
    base = E.where(E.eq(top, -math.inf), 0.0, top)
    reached = E.log(E.exp(stay - base) + E.exp(one - base) + E.exp(two - base)) + base
    return E.where(E.ne(begins, 0), start, reached) + emit


def _np_step(stay, one, two, skip, emit, start, begins):
    reached = np.log(np.exp(stay) + np.exp(one) + (skip != 0) * np.exp(two))
    return np.where(begins != 0, start, reached) + emit


step = elementwise("_ctc_step(Tensor stay, Tensor one, Tensor two, Tensor skip, Tensor emit, Tensor start, Tensor begins) -> Tensor", _step, NONDIFF, dtypes="f",
                   ref=_np_step, ulp=32.0, samples=lambda t: [
                       (t((3, 4)), t((3, 4)), t((3, 4)), t.index((3, 4), 2), t((3, 4)), t((3, 4)), t.index((3, 1), 2))], public="ctc_loss", doc="One time step of CTC for all states.")
posterior = elementwise("_ctc_posterior(Tensor alpha, Tensor beta, Tensor emit, Tensor nll) -> Tensor",
                        lambda a, b, e, n: E.where(E.eq(a, -math.inf) | E.eq(b, -math.inf), 0.0, E.exp(a + b - e + n)), NONDIFF, dtypes="f",
                        ref=lambda a, b, e, n: np.exp(a + b - e + n), ulp=64.0, samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 4)), t((3, 1)))],
                        doc="The probability of a state at a time, given the labels.")


def _slope(logp, taken, nll, g, live):
    bad = E.isinf(nll)
    return E.where(E.eq(live, 0), 0.0, E.where(bad, E.where(E.eq(g, 0), g, math.nan), (E.exp(logp) - taken) * g))


slope = elementwise("_ctc_slope(Tensor log_probs, Tensor taken, Tensor nll, Tensor grad, Tensor live) -> Tensor", _slope, NONDIFF, dtypes="f",
                    ref=lambda logp, taken, nll, g, live: np.where(live == 0, 0, (np.exp(logp) - taken) * g), ulp=16.0,
                    samples=lambda t: [(t((3, 4)), t((3, 4)), t((3, 1)), t((3, 1)), t.index((3, 1), 2))],
                    doc="The gradient of CTC by logits whose log_softmax log_probs is; 0 beyond a sample's length.")


class Problem(NamedTuple):
    """States of a batch: tensors on the device of the log-probabilities."""

    labels: Tensor  # (N, L) int64: blanks and labels in turn
    skip: Tensor  # (N, L) bool: may come from two states before
    ends: Tensor  # (N, L) 0 at a sample's last two states, else -inf
    times: Tensor  # (N,) int64: input lengths
    last: Tensor  # (N,) int64: the last state
    empty: Tensor  # (N,) bool: no labels


def problem(targets: Tensor, input_lengths: list[int], target_lengths: list[int], blank: int, like: Tensor) -> Problem:
    """The states for targets (N, S), or one after the other in a vector."""
    from tensorx.ops import factories
    device, n = like.device, len(target_lengths)
    longest = max(target_lengths, default=0)
    lengths = factories.tensor(target_lengths, dtype=dtypes.int64, device=device)
    place = factories.arange(longest, device=device)
    if targets.dim() == 1:
        starts = np.cumsum([0, *target_lengths])[:-1].tolist()
        at = factories.tensor(starts, dtype=dtypes.int64, device=device).unsqueeze(1) + place
        padded = targets.index_select(0, at.clamp(max=max(targets.numel() - 1, 0)).reshape(-1)).reshape(n, longest) if targets.numel() else targets.new_zeros((n, longest))
    else:
        padded = targets.narrow(1, 0, longest)
    padded = padded.to(dtypes.int64).masked_fill(place >= lengths.unsqueeze(1), blank)
    labels = factories.full((n, 2 * longest + 1), blank, dtype=dtypes.int64, device=device)
    labels[:, 1::2] = padded
    skip = factories.zeros(labels._shape, dtype=dtypes.bool_, device=device)
    skip[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    state = factories.arange(labels._shape[1], device=device)
    last = lengths * 2
    gap = last.unsqueeze(1) - state
    ends = factories.zeros(labels._shape, dtype=like.dtype, device=device).masked_fill((gap < 0) | (gap > 1), -math.inf)
    times = factories.tensor(input_lengths, dtype=dtypes.int64, device=device)
    return Problem(labels, skip, ends, times, last, lengths == 0)


def forward(logp: Tensor, p: Problem) -> tuple[Tensor, Tensor, Tensor]:
    """(negative log likelihoods (N,), alpha (T, N, 2 + L) with two columns of -inf before the states, what each state emits (T, N, L))."""
    from tensorx.ops import factories
    t_max, n, states = logp._shape[0], logp._shape[1], p.labels._shape[1]
    emit = logp.gather(2, p.labels.expand((t_max, *p.labels._shape)))
    alpha = factories.full((t_max + 1, n, states + 2), -math.inf, dtype=logp.dtype, device=logp.device)
    start = factories.zeros((states,), dtype=logp.dtype, device=logp.device)
    start[2:] = -math.inf
    first = factories.ones((), dtype=dtypes.bool_, device=logp.device)
    later = ~first
    for t in range(t_max):
        before = alpha[t]
        operands = (before[:, 2:], before[:, 1:-1], before[:, :-2], p.skip, emit[t], start, later if t else first)
        call(step, operands, (alpha[t + 1][:, 2:],))
    rows = factories.arange(n, device=logp.device)
    final = alpha[p.times, rows]
    ends = final.gather(1, (p.last.unsqueeze(1) + factories.arange(1, 3, device=logp.device)))  # column 1 is -inf: no labels, no second end
    nll = -ends.logsumexp(1)
    nll = nll.masked_fill(p.times == 0, math.inf).masked_fill((p.times == 0) & p.empty, 0)
    return nll, alpha, emit


def backward(g: Tensor, logp: Tensor, p: Problem, nll: Tensor, alpha: Tensor, emit: Tensor) -> Tensor:
    """The gradient by ``logp``, which is taken for a log_softmax: it lacks what that one's own gradient would cancel."""
    from tensorx.ops import factories
    t_max, states = logp._shape[0], p.labels._shape[1]
    beta = factories.full((t_max + 1, *p.labels._shape[:1], states + 2), -math.inf, dtype=logp.dtype, device=logp.device)
    skip = factories.zeros(p.skip._shape, dtype=dtypes.bool_, device=logp.device)
    skip[:, :-2] = p.skip[:, 2:]
    ends_at = (p.times.unsqueeze(1) - factories.arange(t_max, device=logp.device)) == 1  # (N, T)
    for t in reversed(range(t_max)):
        after = beta[t + 1]
        call(step, (after[:, :-2], after[:, 1:-1], after[:, 2:], skip, emit[t], p.ends, ends_at[:, t: t + 1]), (beta[t][:, :-2],))
    found = call(posterior, (alpha[1:, :, 2:], beta[:-1, :, :-2], emit, nll.unsqueeze(1)))
    taken = factories.zeros(logp._shape, dtype=logp.dtype, device=logp.device).scatter_add(2, p.labels.expand(found._shape), found)
    live = factories.arange(t_max, device=logp.device).unsqueeze(1) < p.times
    return call(slope, (logp, taken, nll.unsqueeze(1), g.unsqueeze(1), live.unsqueeze(2)))  # type: ignore[no-any-return]  # one result


class CTC(Function):
    """The losses of a batch; PyTorch's has no second derivative either."""

    @staticmethod
    def forward(ctx: Any, logp: Tensor, p: Problem, zero_infinity: bool) -> Tensor:
        """Negative log likelihoods (N,)."""
        nll, alpha, emit = forward(logp, p)
        ctx.save_for_backward(logp, nll, alpha, emit)
        ctx.problem, ctx.zero_infinity = p, zero_infinity
        return nll.masked_fill(nll.isinf(), 0) if zero_infinity else nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        """By the log-probabilities."""
        logp, nll, alpha, emit = ctx.saved_tensors
        if ctx.zero_infinity:
            g = g.masked_fill(nll.isinf(), 0)
        return backward(g, logp, ctx.problem, nll, alpha, emit), None, None
