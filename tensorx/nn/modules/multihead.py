"""Multi-head attention."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import init
from tensorx.nn.functional.attention import checked_multi_head
from tensorx.nn.parameter import Parameter

from .linear import NonDynamicallyQuantizableLinear
from .module import Module


class MultiheadAttention(Module):
    """``Concat(head_1, ..., head_h) @ out_proj`` with ``head_i = attention(q_i, k_i, v_i)`` (Vaswani et al. 2017).

    Args:
        embed_dim: size of the output, shared among the heads.
        num_heads: how many heads; divides ``embed_dim``.
        dropout: probability with which an attention weight is dropped in training mode.
        bias: whether the projections have biases.
        add_bias_kv: append a learned step to keys and values.
        add_zero_attn: append a step of zeros to keys and values.
        kdim, vdim: sizes of keys and values, ``embed_dim`` unless given.
        batch_first: inputs and outputs are (N, L, E), not (L, N, E).

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.MultiheadAttention(8, 2, batch_first=True)
        >>> out, weights = layer(tx.ones(4, 3, 8), tx.ones(4, 5, 8), tx.ones(4, 5, 8))
        >>> out.shape, weights.shape
        (tensorx.Size([4, 3, 8]), tensorx.Size([4, 3, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            got = f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            raise ValueError(f"embed_dim and num_heads must be greater than 0, {got}")
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        def make(*shape: int) -> Parameter:
            return Parameter(tx.empty(shape, device=device, dtype=dtype))

        if not self._qkv_same_embed_dim:
            self.q_proj_weight = make(embed_dim, embed_dim)
            self.k_proj_weight = make(embed_dim, self.kdim)
            self.v_proj_weight = make(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight = make(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        self.register_parameter("in_proj_bias", make(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k: Any = make(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v: Any = make(1, 1, embed_dim) if add_bias_kv else None
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # modules pickled by PyTorch before 1.1 lack it
        super().__setstate__(state)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """(output, weights) of queries (L, N, E), keys (S, N, kdim) and values (S, N, vdim), or without N.

        Args:
            key_padding_mask: (N, S); bool (True is left out) or added to the scores.
            need_weights: whether to return the weights (N, L, S); None otherwise, which is faster.
            attn_mask: (L, S) or (N * num_heads, L, S); bool (True is left out) or added to the scores.
            average_attn_weights: return the mean over the heads, else the weights (N, num_heads, L, S).
            is_causal: says that ``attn_mask`` is the causal one, which must be given, too.
        """
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        return checked_multi_head(
            (query, key, value),
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight if self._qkv_same_embed_dim else separate,
            self.in_proj_bias,
            (self.bias_k, self.bias_v),
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            (self.out_proj.weight, self.out_proj.bias),
            (key_padding_mask, attn_mask),
            need_weights,
            average_attn_weights,
            is_causal,
            self.batch_first,
        )

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> tuple[Any, int | None]:
        """One mask (N, num_heads, L, S) of both, bool or added, and its kind (2: both, 1: padding, 0: attention)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        merged = attn_mask.view(n, -1, length, length) if attn_mask.dim() == 3 else attn_mask.view(1, 1, length, length)
        merged = merged.expand(n, self.num_heads, length, length)
        if key_padding_mask is None:
            return merged, 0 if attn_mask.dim() == 2 else 2
        return merged + key_padding_mask.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2
