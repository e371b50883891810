"""Padding."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Widen (or, with negative amounts, crop) the last dimensions.

    Args:
        input: tensor of any shape.
        pad: (before, after) of the last dimension, then of the one before it, and so on.
        mode: 'constant', 'reflect' (around the border element), 'replicate' (the border element) or 'circular'.
        value: what 'constant' fills in, by default 0.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.pad(tx.arange(3), (2, 1))
        tensor([0, 0, 0, 1, 2, 0])
    """
    amounts = [int(n) for n in pad]
    if len(amounts) % 2 or len(amounts) // 2 > input.dim():
        raise RuntimeError(
            f"pad: argument 'pad' must hold pairs for at most {input.dim()} dimensions; got {tuple(amounts)}."
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode != "constant" and value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    pairs = {input.dim() - 1 - i: (amounts[2 * i], amounts[2 * i + 1]) for i in range(len(amounts) // 2)}
    if mode == "constant":
        return _pad_constant(input, pairs, 0 if value is None else value)
    for dim, (before, after) in pairs.items():
        places = _border(mode, input, dim, before, after)
        input = input.index_select(dim, tx.tensor(places, dtype=tx.int64, device=input.device))
    return input


def _pad_constant(input: Any, pairs: dict[int, tuple[int, int]], value: float) -> Any:
    shape = [n + sum(pairs.get(dim, (0, 0))) for dim, n in enumerate(input.shape)]
    if any(n < 0 for n in shape):
        raise RuntimeError(f"pad: the amounts {pairs} must leave sizes of at least 0; the result would have {shape}.")
    out = tx.full(shape, value, dtype=input.dtype, device=input.device)
    inside = out
    for dim, (before, after) in pairs.items():
        first, last = max(-before, 0), input.size(dim) - max(-after, 0)
        input = input.narrow(dim, first, max(last - first, 0))
        inside = inside.narrow(dim, max(before, 0), input.size(dim))
    inside.copy_(input)
    return out


def _border(mode: str, input: Any, dim: int, before: int, after: int) -> list[int]:
    """Which element of ``dim`` stands at each place of the result."""
    n = input.size(dim)
    room = {"reflect": n - 1, "replicate": n and max(before, after), "circular": n}[mode]
    if max(before, after) > room:
        bound = "less than" if mode == "reflect" else "at most"
        raise RuntimeError(
            f"Padding size should be {bound} the corresponding input dimension, but got: padding ({before}, {after}) "
            f"at dimension {dim} of input {list(input.shape)}"
        )
    places = range(-before, n + after)
    if mode == "circular":
        return [i % n for i in places]
    if mode == "replicate":
        return [min(max(i, 0), n - 1) for i in places]
    return [n - 1 - abs(n - 1 - abs(i)) for i in places]
