"""Attention without all of its scores in memory, as one op: a kernel on processors (`attention_kernel`), else blocks of queries.

One block of scores is in memory at a time, and backward makes the blocks again (Rabe & Staats 2021). With a causal mask the keys after a block are
not even read, which halves the work. Dropout is drawn as for the whole scores: one seed gives one mask, whatever the blocks are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tensorx import dtypes
from tensorx.autograd.modes import state
from tensorx.ops import attention
from tensorx.ops import attention_kernel as kernel
from tensorx.ops.dispatch import call
from tensorx.ops.families import row
from tensorx.ops.fused import step
from tensorx.ops.kinds.loop import LOOP, bare
from tensorx.ops.products import mm_
from tensorx.ops.reduction import sum_to
from tensorx.tensor import Tensor, empty


def _cut(t: Tensor | None, start: int, size: int, columns: int) -> Tensor | None:
    """The part of a mask for a block; extents of 1 broadcast."""
    if t is None:
        return None
    t = t.narrow(-2, start, size) if len(t._shape) > 1 and t._shape[-2] != 1 else t
    return t.narrow(-1, 0, columns) if t._shape and t._shape[-1] != 1 else t


def _blocks(query: Tensor, key: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int) -> Iterator[tuple[Any, ...]]:
    """(first query, number of queries, number of keys, weights) of each block."""
    from tensorx.ops import factories
    length, keys = query._shape[-2], key._shape[-2]
    places = factories.arange(max(length, keys), dtype=dtypes.int32, device=query.device) if causal else None
    half = query.dtype.itemsize < 4  # scores in 16 bits: scaled before they can overflow
    for start in range(0, length, size):
        n = min(size, length - start)
        m = min(keys, start + n) if causal else keys
        part = query.narrow(-2, start, n)
        scores = mm_(part * scale if half else part, key.narrow(-2, 0, m).mT)
        rows, columns = (None, None) if places is None else (places.narrow(0, start, n).unsqueeze(1), places.narrow(0, 0, m))
        masks = (_cut(keep, start, n, m), _cut(bias, start, n, m))
        yield start, n, m, attention.weights(scores, *masks, rows, columns, 1.0 if half else scale, -1)


def _dropped(w: Tensor, drop: kernel.Drop, start: int, query: Tensor, key: Tensor) -> Tensor:
    """``w``, whose first query is ``start``, with its part of the dropout."""
    from tensorx.ops.random import dropout_part
    rows, columns = w._shape[-2:]
    return w if drop is None else call(dropout_part, (w, *drop, columns, rows, key._shape[-2], query._shape[-2], start))


def _forward(query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int, drop: kernel.Drop,
             sums: Any) -> Tensor:
    if sums is not None:
        return kernel.forward(query, key, value, keep, bias, causal, scale, drop, sums[0])
    out = empty((*kernel.lead_of(query, key, value, keep, bias), query._shape[-2], value._shape[-1]), query.dtype, query.device)
    for start, n, m, w in _blocks(query, key, keep, bias, causal, scale, size):
        call(mm_, (_dropped(w, drop, start, query, key), value.narrow(-2, 0, m)), (bare(out.narrow(-2, start, n)),))
    return out


def _slope(w, d_weights, mean):
    """The softmax's gradient; ``mean`` is the sum of d_weights * w over a row."""
    return (w * (d_weights - mean),)


def _vjp(g: Tensor, needs: Any, out: Tensor, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int,
         drop: kernel.Drop, sums: Any) -> tuple[Any, ...]:
    if state.grad:
        return _again(g, needs, query, key, value, keep, bias, causal, scale, size, drop)
    if sums is not None and not needs[4]:
        return (*kernel.backward(g, query, key, value, keep, bias, out, sums[0], causal, scale, drop), None, None)
    from tensorx.ops import factories
    query, key, value, keep, bias = (None if t is None else bare(t) for t in (query, key, value, keep, bias))  # type: ignore[assignment]  # the first three are
    lead, like = g._shape[:-2], {"dtype": g.dtype, "device": g.device}
    d_query = empty((*lead, *query._shape[-2:]), g.dtype, g.device)
    d_key, d_value = (bare(factories.zeros((*lead, *t._shape[-2:]), **like)) for t in (key, value))
    d_bias = None if bias is None or not needs[4] else bare(factories.zeros(bias._shape, **like))
    mean = kernel.means(g, out).unsqueeze(-1)
    for start, n, m, w in _blocks(query, key, keep, bias, causal, scale, size):
        grad, keys = g.narrow(-2, start, n), key.narrow(-2, 0, m)
        d_value.narrow(-2, 0, m).add_(mm_(_dropped(w, drop, start, query, key).mT, grad))
        d_weights = _dropped(mm_(grad, value.narrow(-2, 0, m).mT), drop, start, query, key)
        step(_slope, (w, d_weights, mean.narrow(-2, start, n)), {}, (d_weights,))
        if d_bias is not None:
            part = _cut(d_bias, start, n, m)
            assert part is not None
            part.add_(sum_to(d_weights, part._shape))
        d_scores = d_weights.mul_(scale)
        call(mm_, (d_scores, keys), (bare(d_query.narrow(-2, start, n)),))
        d_key.narrow(-2, 0, m).add_(mm_(d_scores.mT, query.narrow(-2, start, n)))
    return d_query, d_key, d_value, None, d_bias


def _again(g: Tensor, needs: Any, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int,
           drop: kernel.Drop) -> tuple[Any, ...]:
    """The gradients of recorded blocks, which can be differentiated again."""
    from tensorx.autograd import grad
    from tensorx.ops import joining
    parts = [mm_(_dropped(w, drop, start, query, key), value.narrow(-2, 0, m)) for start, _, m, w in _blocks(query, key, keep, bias, causal, scale, size)]
    wanted = [t for t, need in zip((query, key, value, keep, bias), needs, strict=True) if need and t is not None]
    found = iter(grad(joining.cat(tuple(parts), -2), wanted, g, create_graph=True))
    return tuple(next(found) if need and t is not None else None for t, need in zip((query, key, value, keep, bias), needs, strict=True))


def _np_blocks(q, k, v, keep, bias, causal, scale, size, drop=None, sums=None):
    s = q @ k.swapaxes(-1, -2)
    return attention._np_weights(s, keep, bias, *attention._np_places(s, causal), scale) @ v


blocks_row = row("_attention_blocks(Tensor query, Tensor key, Tensor value, Tensor? keep, Tensor? bias, bool causal, float scale, int size, Any drop=None, "
                 "Any sums=None) -> Tensor", LOOP, _forward, _vjp, ref=_np_blocks, dtypes="f", ulp=64,
                 samples=lambda t: [(t((2, 5, 4)), t((2, 3, 4)), t((2, 3, 2)), None, None, False, 0.5, 2), (t((5, 4)), t((4, 4)), t((4, 4)), None, None, True, 0.5, 2),
                                    (t((2, 3, 4)), t((5, 4)), t((5, 4)), None, t((2, 1, 5)), False, 0.5, 2), (t((3, 4)), t((5, 4)), t((5, 4)), None, t((3, 5)), False, 1.0, 2)],
                 public="scaled_dot_product_attention",
                 doc="Attention without all scores in memory: `size` queries at a time, or by a kernel where there are `sums` for it to leave those of the rows in.")


def in_blocks(query: Tensor, key: Tensor, value: Tensor, masks: Sequence[Tensor], causal: bool, scale: float, size: int, p: float) -> Tensor:
    """softmax(query @ key.mT * scale + masks) @ value, ``size`` queries at a time where there is no kernel for it."""
    from tensorx.ops.random import reserve
    keep = next((m for m in masks if m.dtype is dtypes.bool_), None)
    bias = next((m for m in masks if m.dtype is not dtypes.bool_), None)
    if bias is not None and bias.dtype is not query.dtype:
        bias = bias.to(query.dtype)
    drop, sums = (p, *reserve(None)) if p else None, None
    if kernel.fits(query, value):
        sums = (empty((*kernel.lead_of(query, key, value, keep, bias), query._shape[-2]), query.dtype.accumulate, query.device),)
    out: Tensor = call(blocks_row, (query, key, value, keep, bias, causal, scale, size, drop, sums))
    return out
