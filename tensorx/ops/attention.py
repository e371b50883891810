"""Attention: the softmax of masked scores as one row kernel, and scaled_dot_product_attention made of two products around it.

A row of scores that is masked altogether has weights zero, as PyTorch answers (its plain softmax would give NaN). Masks are added: bool ones as 0
and -inf, causal ones from the positions of rows and columns, so that no (L, S) mask is ever made for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops import expr as E
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.rows import ROWWISE
from tensorx.ops.layout import broadcast_shapes
from tensorx.ops.reduction import sum_to
from tensorx.tensor import Tensor


def _weights(x, keep, bias, rows, columns, scale, dim, safe):
    """softmax(x * scale + masks); if safe, rows that are masked altogether give 0."""
    s = x * scale
    if keep is not None:
        s = s + E.where(E.ne(keep, 0), 0.0, E.const(-math.inf, x.dtype))
    if rows is not None:
        s = s + E.where(E.le(columns, rows), 0.0, E.const(-math.inf, x.dtype))
    if bias is not None:
        s = s + bias
    top = E.row_max(s)
    e = E.exp(s - top)
    w = e / E.row_sum(e)
    return E.where(E.eq(top, -math.inf), 0.0, w) if safe else w


def _weights_vjp(g: Tensor, out: Tensor, bias_meta: Any, scale: float, needs: Any) -> tuple[Any, ...]:
    if bias_meta is None or not needs[2]:
        return weights_backward(g, out, scale, -1), None, None, None, None
    inner = weights_backward(g, out, 1.0, -1)  # before scaling: the bias is added after it
    return (inner * scale if needs[0] else None), None, sum_to(inner, bias_meta.shape), None, None


def _np_weights(x, keep, bias, rows, columns, scale, dim=-1, safe=True):
    s = x * scale
    if keep is not None:
        s = np.where(keep != 0, s, -np.inf)
    if rows is not None:
        s = np.where(columns <= rows, s, -np.inf)
    if bias is not None:
        s = s + bias
    top = s.max(-1, keepdims=True)
    e = np.where(top == -np.inf, 0.0, np.exp(s - np.where(top == -np.inf, 0.0, top)))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


def _samples(t: Any) -> list[Any]:
    scores = t((2, 3, 4))
    return [(scores, None, None, None, None, 0.5, -1), (scores, None, t((3, 4)), None, None, 0.5, -1),
            (t((3, 4)), None, None, t((3, 1)), t((4,)), 2.0, -1), (scores, t((2, 1, 4)), t((3, 4)), None, None, 1.0, -1)]


weights = row("_attention_weights(Tensor self, Tensor? keep, Tensor? bias, Tensor? rows, Tensor? columns, float scale, int dim, "
              "bool safe=True) -> Tensor", ROWWISE,
              _weights, _weights_vjp, ref=_np_weights, dtypes="f", samples=_samples, ulp=16.0,
              public="scaled_dot_product_attention", doc="Softmax along the last axis of self * scale, where keep is nonzero and columns <= rows, plus bias.")
weights_backward = row("_attention_weights_backward(Tensor grad, Tensor output, float scale, int dim) -> Tensor", ROWWISE,
                       lambda grad, out, scale, dim: out * (grad - E.row_sum(grad * out)) * scale,
                       lambda g, grad, output, scale, dim: (weights_backward(g, output, scale, dim),
                                                            (g * (grad - (grad * output).sum(dim, True)) - grad * (g * output).sum(dim, True)) * scale),
                       ref=lambda g, out, scale, dim: out * (g - (g * out).sum(dim, keepdims=True)) * scale, dtypes="f",
                       samples=lambda t: [(t((3, 4)), t((3, 4)), 0.5, -1)], ulp=16.0, doc="The gradient of _attention_weights in its scores.")


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, p: float, causal: bool) -> None:
    name = "scaled_dot_product_attention"
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(f"{name}: Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: {key.dtype} and "
                           f"value.dtype: {value.dtype} instead.")
    if query.dtype.kind != dtypes.FLOAT:
        raise RuntimeError(f"{name}: argument 'query' must be floating point; got {query.dtype}.")
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(f"{name}: Expected query, key, and value to all be at least 2 dimensional, but got query.dim: {query.dim()} key.dim: {key.dim()} "
                           f"and value.dim: {value.dim()} instead.")
    if mask is not None and mask.dtype not in (dtypes.bool_, dtypes.float32, query.dtype):
        raise RuntimeError(f"{name}: Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {mask.dtype} and "
                           f"query.dtype: {query.dtype} instead.")
    if mask is not None and causal:
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")


def repeat_heads(x: Tensor, times: int) -> Tensor:
    """Each head (axis -3) ``times`` times in a row."""
    if times == 1:
        return x
    *lead, heads, n, width = x._shape
    return x.unsqueeze(-3).expand(*lead, heads, times, n, width).reshape(*lead, heads * times, n, width)


def _grouped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor, int]:
    """Heads of queries that share a head of keys and values become more queries of one head: nothing is repeated."""
    if min(query.dim(), key.dim(), value.dim()) < 3:
        raise IndexError("scaled_dot_product_attention: enable_gqa needs heads as dimension -3. Hint: use inputs of 3 or more dimensions")
    heads, of_keys, of_values = query._shape[-3], key._shape[-3], value._shape[-3]
    if not of_keys or not of_values or heads % of_keys or heads % of_values:
        raise RuntimeError(f"scaled_dot_product_attention: Number of heads in key and value must divide the number of heads in query; got {of_keys}, "
                           f"{of_values} and {heads}")
    if of_keys != of_values:
        return query, repeat_heads(key, heads // of_keys), repeat_heads(value, heads // of_values), 1
    groups = heads // of_keys
    *lead, _, n, width = query._shape
    return query.reshape(*lead, of_keys, groups * n, width) if groups > 1 else query, key, value, groups


#: How many scores are held at once; where there are more than twice as many, attention runs in blocks of queries and makes them again in backward.
BLOCK = 2**22


def block_rows(shape: tuple[int, ...], key: Tensor, others: Sequence[Tensor]) -> int:
    """How many queries of ``shape`` a block has; 0 where all scores may be held. ``others`` broadcast with the queries but for two dimensions."""
    lead = broadcast_shapes("scaled_dot_product_attention", shape[:-2], *(t._shape[:-2] for t in others))
    each = math.prod(lead) * key._shape[-2]
    return 0 if each * shape[-2] <= 2 * BLOCK else max(BLOCK // each // 16 * 16, 16)


def attention_weights(query: Tensor, key: Tensor, masks: Any = (), causal: bool = False, scale: float = 1.0, groups: int = 1, safe: bool = True) -> Tensor:
    """The softmax of the masked scores, (..., heads, L, S). ``masks`` are bool (True: takes part) or floating point (added), one of each at most."""
    if query.dtype.itemsize < 4:  # scores in 16 bits: scaled before they can overflow
        query, scale = query * scale, 1.0
    scores = query @ key.mT
    if groups > 1:
        *lead, heads, n, width = scores._shape
        scores = scores.reshape(*lead, heads * groups, n // groups, width)
    rows = columns = keep = bias = None
    for mask in masks:
        if mask.dtype is dtypes.bool_:
            keep = mask
        else:
            bias = mask if mask.dtype is query.dtype else mask.to(query.dtype)
    if causal:
        from tensorx.ops import factories
        n, m = scores._shape[-2:]
        places = factories.arange(max(n, m), dtype=dtypes.int32, device=query.device)
        rows, columns = places[:n].unsqueeze(1), places[:m]
    return weights(scores, keep, bias, rows, columns, scale, -1, safe)


def _np_places(s, causal):
    places = np.arange(max(s.shape[-2:]))
    return (places[:s.shape[-2], None], places[:s.shape[-1]]) if causal else (None, None)


def _np_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    s = q @ np.swapaxes(k, -1, -2)
    return _np_weights(s, None, attn_mask, *_np_places(s, is_causal), 1 / math.sqrt(q.shape[-1]) if scale is None else scale) @ v


@composite("_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
           "float? scale=None, bool enable_gqa=False) -> Tensor", ref=_np_attention, dtypes="f", ulp=64,
           samples=lambda t: [(t((2, 3, 4)), t((2, 5, 4)), t((2, 5, 6))), (t((3, 4)), t((5, 4)), t((5, 4)), t((3, 5))),
                              (t((1, 4, 3, 4)), t((1, 2, 3, 4)), t((1, 2, 3, 4)), None, 0.0, True, {"enable_gqa": True, "scale": 0.3})],
           doc="softmax(query @ key.mT * scale + mask) @ value.")
def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float | None,
              enable_gqa: bool) -> Tensor:
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    width, shape = query._shape[-1], query._shape
    query, key, value, groups = _grouped(query, key, value) if enable_gqa else (query, key, value, 1)
    if scale is None:
        scale = 1 / math.sqrt(width) if width else 1.0
    masks = () if attn_mask is None else (attn_mask,)
    rows = block_rows(shape, key, masks if groups > 1 else (key, value, *masks))
    from tensorx.ops import attention_kernel
    if rows or attention_kernel.fits(query, value):
        from tensorx.ops.attention_blocks import in_blocks
        rows = rows or max(shape[-2], 1)
        return in_blocks(query.reshape(shape) if groups > 1 else query, repeat_heads(key, groups), repeat_heads(value, groups), masks, is_causal, scale, rows, dropout_p)
    w = attention_weights(query, key, masks, is_causal, scale, groups)
    if dropout_p:
        from tensorx.ops.random import dropout
        w = dropout(w, dropout_p, True)
    if groups == 1:
        return w @ value
    *lead, heads, n, width = w._shape
    out = w.reshape(*lead, heads // groups, n * groups, width) @ value
    return out.reshape(*out._shape[:-3], heads, shape[-2], value._shape[-1])
