"""Attention whose scores and mask are functions of positions.

A function gets whole index tensors that broadcast - batch (B, 1, 1, 1), head (1, H, 1, 1), query (1, 1, L, 1) and key
(1, 1, 1, S) - and so is called once; it must be made of tensor ops (``where`` for a branch), as PyTorch asks, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorx as tx
from tensorx.ops.attention import repeat_heads, weights

_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What ``return_aux`` asks for besides the output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What ``return_aux`` gave, None for what was not asked for."""

    lse: Any = None
    max_scores: Any = None


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """Everything is seen."""
    return batch.new_ones(size=(), dtype=tx.bool, device=batch.device)


def and_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask function that is True where all of ``mask_mods`` are.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.nn.attention.flex_attention import and_masks, create_mask
        >>> both = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
        >>> create_mask(both, 1, 1, 3, 3, device="cpu")[0, 0].int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [0, 1, 1]], dtype=tensorx.int32)
    """
    return _joined(mask_mods, lambda a, b: a & b, "and_masks")


def or_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask function that is True where one of ``mask_mods`` is.

    Example:
        >>> from tensorx.nn.attention.flex_attention import or_masks
        >>> callable(or_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k == 0))
        True
    """
    return _joined(mask_mods, lambda a, b: a | b, "or_masks")


def _joined(mods: tuple[Callable[..., Any], ...], join: Callable[[Any, Any], Any], name: str) -> Callable[..., Any]:
    if not all(callable(mod) for mod in mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mods}")

    def mask(b: Any, h: Any, q: Any, kv: Any) -> Any:
        found = mods[0](b, h, q, kv)
        for mod in mods[1:]:
            found = join(found, mod(b, h, q, kv))
        return found

    return mask


def _places(sizes: tuple[int, int, int, int], device: Any) -> tuple[Any, ...]:
    """Index tensors of batch, head, query and key, each along its own dimension."""
    return tuple(
        tx.arange(n, dtype=tx.int32, device=device).view(*(n if i == d else 1 for i in range(4)))
        for d, n in enumerate(sizes)
    )


def create_mask(
    mod_fn: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Any:
    """``mod_fn`` at all positions as a bool mask (B, H, Q_LEN, KV_LEN): of a mask function, or of a function of scores,
    where it is not -inf.

    Example:
        >>> from tensorx.nn.attention.flex_attention import create_mask
        >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 2)
        tensor([[[[ True, False],
                  [ True,  True]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    places = _places(sizes, tx.get_default_device() if device is None else device)
    scores = mod_fn.__code__.co_argcount > 4 if hasattr(mod_fn, "__code__") else False
    found = ~mod_fn(tx.zeros(sizes, device=places[0].device), *places).isneginf() if scores else mod_fn(*places)
    return found.expand(sizes)


class BlockMask:
    """A mask function with the sizes it was made for; what :func:`create_block_mask` gives.

    Blocks are counted (`sparsity`, ``kv_num_blocks``, ``kv_indices``), but none is skipped: the mask is dense here.
    """

    def __init__(self, mask_mod: Callable[..., Any], sizes: tuple[int, int, int, int], device: Any, block: Any) -> None:
        self.mask_mod, self.sizes, self.device = mask_mod, sizes, tx.device(device)
        self.BLOCK_SIZE = (block, block) if isinstance(block, int) else tuple(block)
        self._dense: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, Q_LEN, KV_LEN)."""
        return self.sizes

    @property
    def seq_lengths(self) -> tuple[int, int]:
        """(Q_LEN, KV_LEN)."""
        return self.sizes[2:]

    def mask(self) -> Any:
        """The bool mask, broadcasting to (B, H, Q_LEN, KV_LEN)."""
        if self._dense is None:
            self._dense = self.mask_mod(*_places(self.sizes, self.device))
        return self._dense

    def _counts(self) -> Any:
        """How many elements of each block are seen, (B, H, blocks of queries, blocks of keys)."""
        (rows, columns), (b, h, q, kv) = self.BLOCK_SIZE, self.sizes
        padded = tx.nn.functional.pad(self.mask().expand(self.sizes), (0, -kv % columns, 0, -q % rows))
        blocks = padded.reshape(b, h, -(-q // rows), rows, -(-kv // columns), columns)
        return blocks.sum((3, 5))

    def to_dense(self) -> Any:
        """1 for each block of which something is seen, (B, H, blocks of queries, blocks of keys)."""
        return (self._counts() > 0).to(tx.int32)

    def _blocks(self, full: bool) -> Any:
        """Which blocks are seen altogether, or in part."""
        counts, whole = self._counts(), math.prod(self.BLOCK_SIZE)
        return (counts == whole) if full else (counts > 0) & (counts < whole)

    def sparsity(self) -> float:
        """The percentage of blocks of which nothing is seen."""
        seen = self.to_dense()
        return 100 * (1 - seen.sum().item() / seen.numel())

    @property
    def kv_num_blocks(self) -> Any:
        """How many blocks of keys each block of queries sees in part."""
        return self._blocks(False).sum(-1).to(tx.int32)

    @property
    def kv_indices(self) -> Any:
        """The blocks of keys of each block of queries, those first that it sees in part."""
        return self._blocks(False).to(tx.int32).argsort(-1, descending=True, stable=True).to(tx.int32)

    @property
    def full_kv_num_blocks(self) -> Any:
        """How many blocks of keys each block of queries sees altogether."""
        return self._blocks(True).sum(-1).to(tx.int32)

    @property
    def full_kv_indices(self) -> Any:
        """The blocks of keys of each block of queries, those first that it sees altogether."""
        return self._blocks(True).to(tx.int32).argsort(-1, descending=True, stable=True).to(tx.int32)

    def to(self, device: Any) -> BlockMask:
        """The same mask on another device."""
        return BlockMask(self.mask_mod, self.sizes, device, self.BLOCK_SIZE)

    def numel(self) -> int:
        """The number of elements of the mask."""
        return math.prod(self.sizes)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE})"


def create_block_mask(
    mask_mod: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: Any = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """The mask of ``mask_mod(b, h, q_idx, kv_idx)``, True where a key is seen; B or H of None holds for all.

    Example:
        >>> from tensorx.nn.attention.flex_attention import create_block_mask
        >>> create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 256, 256).sparsity()
        25.0
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    return BlockMask(mask_mod, sizes, tx.get_default_device() if device is None else device, BLOCK_SIZE)


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable[..., Any] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention of (B, H, L, E), (B, H, S, E) and (B, H, S, Ev) with ``score_mod(score, b, h, q_idx, kv_idx)`` applied
    to the scaled scores and keys left out by ``block_mask``.

    Returns the output, or (output, logsumexp of the scores) with ``return_lse``, or (output, AuxOutput) with
    ``return_aux``. ValueError for inputs that are not 4-D or do not fit; ``kernel_options`` change nothing.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.nn.attention.flex_attention import flex_attention
        >>> q = tx.ones(1, 1, 2, 4)
        >>> v = tx.eye(2).view(1, 1, 2, 2)
        >>> flex_attention(q, q, v, lambda s, b, h, q, k: tx.where(q >= k, s, float("-inf")))
        tensor([[[[1.0000, 0.0000],
                  [0.5000, 0.5000]]]])
    """
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={query.shape[1]} and "
            f"Hkv={key.shape[1]}. Try setting enable_gqa=True for GQA."
        )
    if query.shape[1] % key.shape[1]:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={query.shape[1]} and "
            f"Hkv={key.shape[1]}."
        )
    times = query.shape[1] // key.shape[1]
    key, value = repeat_heads(key, times), repeat_heads(value, times)
    scores = (query @ key.mT) * ((1 / math.sqrt(query.shape[-1])) if scale is None else scale)
    if score_mod is not None:
        scores = score_mod(scores, *_places(tuple(scores.shape), query.device))
    keep = None
    if block_mask is not None:
        if block_mask.seq_lengths != tuple(scores.shape[-2:]):
            raise ValueError(
                f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={scores.shape[-2]} and "
                f"kv_len={scores.shape[-1]}. Hint: create another one for these lengths"
            )
        keep = block_mask.mask()
    out = weights(scores, keep, None, None, None, 1.0, -1).to(value.dtype) @ value
    if not return_lse and return_aux is None:
        return out
    seen = scores if keep is None else tx.where(keep, scores, float("-inf"))
    if return_lse:
        return out, seen.logsumexp(-1)
    asked = return_aux or AuxRequest()
    return out, AuxOutput(seen.logsumexp(-1) if asked.lse else None, seen.amax(-1) if asked.max_scores else None)
