"""Attention: PyTorch's two functions."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.ops.attention import attention, attention_weights


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``softmax(query @ key.mT * scale + mask) @ value``; a row that is masked altogether gives zeros.

    Args:
        query: (..., heads, L, E).
        key: (..., heads, S, E).
        value: (..., heads, S, Ev).
        attn_mask: broadcasts to (..., heads, L, S); bool (True takes part) or added to the scores.
        dropout_p: probability with which a weight is dropped, also in evaluation mode.
        is_causal: query i sees keys 0 to i only.
        scale: 1 / sqrt(E) unless given.
        enable_gqa: keys and values have fewer heads, each for several heads of queries in a row.

    Raises RuntimeError for differing dtypes, another mask dtype or a probability outside [0, 1].

    Example:
        >>> import tensorx as tx
        >>> q = tx.ones(1, 2, 4)
        >>> tx.nn.functional.scaled_dot_product_attention(q, q, tx.eye(2).unsqueeze(0), is_causal=True)
        tensor([[[1.0000, 0.0000],
                 [0.5000, 0.5000]]])
    """
    return attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)


def canonical_mask(mask: Any, name: str) -> Any:
    """A mask of MultiheadAttention (bool: True is left out) as one of attention (bool: True takes part; or added)."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != tx.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return ~mask


def merged_masks(key_padding_mask: Any, attn_mask: Any, heads: int) -> list[Any]:
    """The masks that broadcast to (N, heads, L, S). A bool and an added one stay two; two of one sort become one."""
    masks = []
    for name, mask in (("key_padding_mask", key_padding_mask), ("attn_mask", attn_mask)):
        mask = canonical_mask(mask, name)
        if mask is not None:
            if name == "key_padding_mask":
                mask = mask.view(mask.shape[0], 1, 1, mask.shape[1])
            elif mask.dim() == 3:
                mask = mask.view(-1, heads, *mask.shape[1:])
            masks.append(mask)
    if len(masks) == 2 and masks[0].dtype == masks[1].dtype:
        return [masks[0] & masks[1] if masks[0].dtype == tx.bool else masks[0] + masks[1]]
    return masks


def _check_shapes(inputs: Any, key_padding_mask: Any, attn_mask: Any, heads: int, batch_first: bool) -> bool:
    """Whether the inputs are batched. AssertionError, as PyTorch, for shapes that do not fit."""
    query, key, value = inputs
    if query.dim() not in (2, 3):
        got = f"received {query.dim()}-D query tensor"
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but {got}")
    batched = query.dim() == 3
    want, words = query.dim(), "For batched (3-D) `query`" if batched else "For unbatched (2-D) `query`"
    if key.dim() != want or value.dim() != want:
        got = f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        raise AssertionError(f"{words}, expected `key` and `value` to be {want}-D but found {got}")
    if key_padding_mask is not None and key_padding_mask.dim() != want - 1:
        raise AssertionError(
            f"{words}, expected `key_padding_mask` to be `None` or {want - 1}-D but found {key_padding_mask.dim()}-D "
            "tensor instead"
        )
    if attn_mask is None:
        return batched
    if attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{words}, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    time = 1 if batched and batch_first else 0
    shape: tuple[int, ...] = (query.shape[time], key.shape[time])
    if attn_mask.dim() == 3:
        shape = ((query.shape[1 - time] if batched else 1) * heads, *shape)
    if tuple(attn_mask.shape) != shape:
        kind = AssertionError if attn_mask.dim() == 3 and not batched else RuntimeError
        raise kind(f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {shape}.")
    return batched


def _project(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Queries, keys and values: one product where they have one source, two where keys and values have."""
    if not isinstance(weights, tuple):
        embed = query.shape[-1]
        if key is value and query is key:
            q, k, v = tx.linear(query, weights, bias).split(embed, -1)
            return q, k, v
        if key is value:
            first, rest = weights.split([embed, 2 * embed])
            b_first, b_rest = bias.split([embed, 2 * embed]) if bias is not None else (None, None)
            k, v = tx.linear(key, rest, b_rest).split(embed, -1)
            return tx.linear(query, first, b_first), k, v
        weights = tuple(weights.split(embed))
    biases: Any = bias.chunk(3) if bias is not None else (None,) * 3
    q, k, v = (tx.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    return q, k, v


def _appended(x: Any, row: Any) -> Any:
    """``x`` (N, S, E) with one more step: ``row`` (1, 1, E), or zeros."""
    n, _, width = x.shape
    row = x.new_zeros(n, 1, width) if row is None else row.view(1, 1, width).expand(n, 1, width)
    return tx.cat([x, row], 1)


def multi_head(
    inputs: tuple[Any, Any, Any],
    heads: int,
    weights: Any,
    bias: Any,
    bias_kv: tuple[Any, Any],
    add_zero_attn: bool,
    dropout_p: float,
    out_proj: tuple[Any, Any],
    masks: tuple[Any, Any],
    need_weights: bool,
    average: bool,
    is_causal: bool,
    batch_first: bool,
    static: tuple[Any, Any] = (None, None),
) -> tuple[Any, Any]:
    """The computation of ``multi_head_attention_forward`` for checked inputs, batched or not, in either layout."""
    batched = inputs[0].dim() == 3
    q, k, v = (
        x if batch_first and batched else x.transpose(0, 1) if batched else x.unsqueeze(0)
        for x in _project(*inputs, weights, bias)
    )
    key_padding_mask, attn_mask = masks
    if not batched and key_padding_mask is not None:
        key_padding_mask = key_padding_mask.unsqueeze(0)
    n, length, embed = q.shape
    extra = 0
    if bias_kv[0] is not None:
        k, v, extra = _appended(k, bias_kv[0]), _appended(v, bias_kv[1]), 1
    width = embed // heads
    q = q.reshape(n, length, heads, width).transpose(1, 2)
    k, v = (
        x.view(n, -1, heads, width).transpose(1, 2) if given is None else given.view(n, heads, *given.shape[1:])
        for given, x in zip(static, (k, v), strict=True)
    )
    if add_zero_attn:
        k, v = (tx.cat([x, x.new_zeros(n, heads, 1, width)], 2) for x in (k, v))
        extra += 1
    if extra:  # the added steps are never masked
        key_padding_mask, attn_mask = (
            None if m is None else tx.nn.functional.pad(m, (0, extra)) for m in (key_padding_mask, attn_mask)
        )
    merged = merged_masks(key_padding_mask, attn_mask, heads)
    w = attention_weights(q, k, merged, is_causal, 1 / math.sqrt(width), safe=not need_weights)
    if dropout_p > 0:
        w = tx.dropout(w, dropout_p, True)
    out = (w @ v).transpose(1, 2) if batch_first or not batched else (w @ v).permute(2, 0, 1, 3)
    out = tx.linear(out.reshape(*out.shape[:2], embed), *out_proj)
    if not batched:
        out, w = out.squeeze(0), w.squeeze(0)
    if not need_weights:
        return out, None
    return out, w.mean(-3) if average else w


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """What :class:`tensorx.nn.MultiheadAttention` computes, with all its tensors given; inputs are (L, N, E) or (L, E).

    Returns (output, weights); weights is None unless ``need_weights``. A query whose keys are all masked gives NaN
    with ``need_weights``, else zeros, as in PyTorch. AssertionError or RuntimeError for shapes that do not fit.

    Example:
        >>> import tensorx as tx
        >>> x, w = tx.ones(3, 1, 4), tx.ones(12, 4)
        >>> out, weights = tx.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, tx.eye(4), None)
        >>> out.shape, weights.shape
        (tensorx.Size([3, 1, 4]), tensorx.Size([1, 3, 3]))
    """
    packed = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    return checked_multi_head(
        (query, key, value),
        embed_dim_to_check,
        num_heads,
        packed,
        in_proj_bias,
        (bias_k, bias_v),
        add_zero_attn,
        dropout_p if training else 0.0,
        (out_proj_weight, out_proj_bias),
        (key_padding_mask, attn_mask),
        need_weights,
        average_attn_weights,
        is_causal,
        False,
        (static_k, static_v),
    )


def checked_multi_head(inputs: Any, embed: int, heads: int, weights: Any, *rest: Any) -> tuple[Any, Any]:
    """:func:`multi_head` after its checks."""
    bias, bias_kv, zero, p, out_proj, masks, need_weights, average, is_causal, batch_first, *static = rest
    query, key, value = inputs
    batched = _check_shapes(inputs, masks[0], masks[1], heads, batch_first)
    if query.shape[-1] != embed:
        raise AssertionError(f"was expecting embedding dimension of {embed}, but got {query.shape[-1]}")
    if embed % heads:
        raise AssertionError(f"embed_dim {embed} not divisible by num_heads {heads}")
    if isinstance(weights, tuple):
        if key.shape[:-1] != value.shape[:-1]:
            got = f"{key.shape[:-1]} does not match value's sequence and batch dims {value.shape[:-1]}"
            raise AssertionError(f"key's sequence and batch dims {got}")
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    padding, attn_mask = masks
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and padding is None and not need_weights:
        attn_mask = None  # the hint says what the mask holds: no need to read it
    else:
        is_causal = False
    if padding is not None:
        want = (key.shape[0 if batch_first else 1], key.shape[1 if batch_first else 0]) if batched else (key.shape[0],)
        if tuple(padding.shape) != want:
            raise AssertionError(f"expecting key_padding_mask shape of {want}, but got {tuple(padding.shape)}")
    masks = (padding, attn_mask)
    settings = (zero, p, out_proj, masks, need_weights, average, is_causal, batch_first)
    return multi_head(inputs, heads, weights, bias, bias_kv, *settings, *static)
