"""Attention in blocks of queries: only one block of scores is in memory, and backward makes the blocks again (Rabe & Staats 2021).

With a causal mask the keys after a block are not even read, which halves the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tensorx import dtypes
from tensorx.autograd.modes import state
from tensorx.ops import attention
from tensorx.ops.dispatch import call
from tensorx.ops.families import row
from tensorx.ops.kinds.loop import LOOP, bare
from tensorx.ops.layout import broadcast_shapes
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
    """(number, first query, number of queries, number of keys, weights) of each block."""
    from tensorx.ops import factories
    length, keys = query._shape[-2], key._shape[-2]
    places = factories.arange(max(length, keys), dtype=dtypes.int32, device=query.device) if causal else None
    half = query.dtype.itemsize < 4  # scores in 16 bits: scaled before they can overflow
    for i, start in enumerate(range(0, length, size)):
        n = min(size, length - start)
        m = min(keys, start + n) if causal else keys
        part = query.narrow(-2, start, n)
        scores = mm_(part * scale if half else part, key.narrow(-2, 0, m).mT)
        rows, columns = (None, None) if places is None else (places.narrow(0, start, n).unsqueeze(1), places.narrow(0, 0, m))
        masks = (_cut(keep, start, n, m), _cut(bias, start, n, m))
        yield i, start, n, m, attention.weights(scores, *masks, rows, columns, 1.0 if half else scale, -1)


def _dropped(w: Tensor, drops: Any, i: int) -> Tensor:
    """``w`` with the dropout of block ``i``; its mask is drawn again from the same numbers."""
    from tensorx.ops.random import native_dropout
    return w if drops is None else call(native_dropout, (w, drops[0], *drops[1][i]))


def _lead(*tensors: Tensor | None) -> tuple[int, ...]:
    return broadcast_shapes("scaled_dot_product_attention", *(t._shape[:-2] for t in tensors if t is not None))


def _forward(query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int, drops: Any) -> Tensor:
    out = empty((*_lead(query, key, value, keep, bias), query._shape[-2], value._shape[-1]), query.dtype, query.device)
    for i, start, n, m, w in _blocks(query, key, keep, bias, causal, scale, size):
        call(mm_, (_dropped(w, drops, i), value.narrow(-2, 0, m)), (bare(out.narrow(-2, start, n)),))
    return out


def _vjp(g: Tensor, needs: Any, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int,
         drops: Any) -> tuple[Any, ...]:
    if state.grad:
        return _again(g, needs, query, key, value, keep, bias, causal, scale, size, drops)
    from tensorx.ops import factories
    query, key, value, keep, bias = (None if t is None else bare(t) for t in (query, key, value, keep, bias))  # type: ignore[assignment]  # the first three are
    lead, like = g._shape[:-2], {"dtype": g.dtype, "device": g.device}
    d_query = empty((*lead, *query._shape[-2:]), g.dtype, g.device)
    d_key, d_value = (bare(factories.zeros((*lead, *t._shape[-2:]), **like)) for t in (key, value))
    d_bias = None if bias is None or not needs[4] else bare(factories.zeros(bias._shape, **like))
    for i, start, n, m, w in _blocks(query, key, keep, bias, causal, scale, size):
        grad, keys = g.narrow(-2, start, n), key.narrow(-2, 0, m)
        d_value.narrow(-2, 0, m).add_(mm_(_dropped(w, drops, i).mT, grad))
        d_weights = _dropped(mm_(grad, value.narrow(-2, 0, m).mT), drops, i)
        d_scores = attention.weights_backward(d_weights, w, scale, -1)
        call(mm_, (d_scores, keys), (bare(d_query.narrow(-2, start, n)),))
        d_key.narrow(-2, 0, m).add_(mm_(d_scores.mT, query.narrow(-2, start, n)))
        if d_bias is not None:
            part = _cut(d_bias, start, n, m)
            assert part is not None
            part.add_(sum_to(attention.weights_backward(d_weights, w, 1.0, -1), part._shape))
    return d_query, d_key, d_value, None, d_bias


def _again(g: Tensor, needs: Any, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, size: int,
           drops: Any) -> tuple[Any, ...]:
    """The gradients of recorded blocks, which can be differentiated again."""
    from tensorx.autograd import grad
    from tensorx.ops import joining
    parts = [mm_(_dropped(w, drops, i), value.narrow(-2, 0, m)) for i, _, _, m, w in _blocks(query, key, keep, bias, causal, scale, size)]
    wanted = [t for t, need in zip((query, key, value, keep, bias), needs, strict=True) if need and t is not None]
    found = iter(grad(joining.cat(tuple(parts), -2), wanted, g, create_graph=True))
    return tuple(next(found) if need and t is not None else None for t, need in zip((query, key, value, keep, bias), needs, strict=True))


def _np_blocks(q, k, v, keep, bias, causal, scale, size, drops=None):
    s = q @ k.swapaxes(-1, -2)
    return attention._np_weights(s, keep, bias, *attention._np_places(s, causal), scale) @ v


blocks_row = row("_attention_blocks(Tensor query, Tensor key, Tensor value, Tensor? keep, Tensor? bias, bool causal, float scale, int size, Any drops=None) -> Tensor",
                 LOOP, _forward, _vjp, ref=_np_blocks, dtypes="f", ulp=64,
                 samples=lambda t: [(t((2, 5, 4)), t((2, 3, 4)), t((2, 3, 2)), None, None, False, 0.5, 2), (t((5, 4)), t((4, 4)), t((4, 4)), None, None, True, 0.5, 2),
                                    (t((2, 3, 4)), t((5, 4)), t((5, 4)), None, t((2, 1, 5)), False, 0.5, 2), (t((3, 4)), t((5, 4)), t((5, 4)), None, t((3, 5)), False, 1.0, 2)],
                 public="scaled_dot_product_attention", doc="Attention in blocks of queries, so that few scores are in memory at once.")


def in_blocks(query: Tensor, key: Tensor, value: Tensor, masks: Sequence[Tensor], causal: bool, scale: float, size: int, p: float) -> Tensor:
    """softmax(query @ key.mT * scale + masks) @ value, ``size`` queries at a time."""
    from tensorx.ops.random import reserve
    keep = next((m for m in masks if m.dtype is dtypes.bool_), None)
    bias = next((m for m in masks if m.dtype is not dtypes.bool_), None)
    if bias is not None and bias.dtype is not query.dtype:
        bias = bias.to(query.dtype)
    drops = (p, tuple(reserve(None) for _ in range(0, query._shape[-2], size))) if p else None
    out: Tensor = call(blocks_row, (query, key, value, keep, bias, causal, scale, size, drops))
    return out
