"""Padding."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.errors import BadValue


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
    if len(amounts) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(amounts) // 2 > input.dim():
        raise RuntimeError(
            f"pad: argument 'pad' must hold pairs for at most {input.dim()} dimensions; got {tuple(amounts)}."
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode != "constant" and value is not None and value != 0:
        raise BadValue(f'Padding mode "{mode}" doesn\'t take in value argument')
    pairs = {input.dim() - 1 - i: (amounts[2 * i], amounts[2 * i + 1]) for i in range(len(amounts) // 2)}
    if mode == "constant":
        if value is not None and value < 0 and input.dtype in (tx.uint8, tx.bool):
            raise RuntimeError(f"pad: value {value} cannot be converted to type {input.dtype} without overflow")
        return tx.constant_pad_nd(input, amounts, 0 if value is None else value)
    if len(pairs) not in (1, 2, 3) or input.dim() - len(pairs) not in (1, 2):
        raise NotImplementedError(
            f"pad: mode '{mode}' pads the last 1 to 3 dimensions of (N, C, ..) or (C, ..); got {len(amounts)} amounts "
            f"for {input.dim()} dimensions."
        )
    if mode != "circular" and 0 in input.shape[input.dim() - len(pairs) == 2 :]:
        raise RuntimeError(f"pad: only the batch of the input may be empty; got shape {tuple(input.shape)}.")
    for dim, (before, after) in pairs.items():
        input = BORDERS[mode](input, dim, before, after)
    return input


def _room(input: Any, dim: int, before: int, after: int, most: int, bound: str) -> None:
    n = input.size(dim)
    if max(before, after) > most:
        raise RuntimeError(
            f"Padding size should be {bound} the corresponding input dimension, but got: padding ({before}, {after}) "
            f"at dimension {dim} of input {list(input.shape)}"
        )
    if n + before + after < 1:
        raise RuntimeError(f"pad: input of size {n} is too small at dimension {dim} for padding ({before}, {after}).")


def _parts(n: int, before: int, after: int) -> tuple[int, int, int, int]:
    """How many places of the result lie before the input, from where to where inside of it, and how many after."""
    left, right = max(0, before + min(0, n + after)), max(0, after - max(0, -before - n))
    return left, max(0, -before), min(n, n + after), right


def _reflect(input: Any, dim: int, before: int, after: int) -> Any:
    """Mirrored around the first and the last element."""
    n = input.size(dim)
    _room(input, dim, before, after, n - 1, "less than")
    left, first, last, right = _parts(n, before, after)
    pieces = [
        input.narrow(dim, before - left + 1, left).flip(dim) if left else None,
        input.narrow(dim, first, last - first) if last > first else None,
        input.narrow(dim, n - 1 - after, right).flip(dim) if right else None,
    ]
    return _joined(pieces, dim)


def _replicate(input: Any, dim: int, before: int, after: int) -> Any:
    """The first and the last element again and again."""
    n = input.size(dim)
    _room(input, dim, before, after, max(before, after), "")
    left, first, last, right = _parts(n, before, after)

    def repeated(place: int, count: int) -> Any:
        return input.narrow(dim, place, 1).expand([count if i == dim else -1 for i in range(input.dim())])

    pieces = [
        repeated(0, left) if left else None,
        input.narrow(dim, first, last - first) if last > first else None,
        repeated(n - 1, right) if right else None,
    ]
    return _joined(pieces, dim)


def _circular(input: Any, dim: int, before: int, after: int) -> Any:
    """The other end goes on; negative amounts crop first."""
    if max(before, after) > input.size(dim):
        raise RuntimeError("Padding value causes wrapping around more than once.")
    first, last = max(0, -before), input.size(dim) + min(0, after)
    if last < first:
        raise RuntimeError(f"pad: the amounts ({before}, {after}) must leave a size of at least 0 at dimension {dim}.")
    input = input.narrow(dim, first, last - first)
    before, after, n = max(0, before), max(0, after), last - first
    if max(before, after) > n:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    pieces = [
        input.narrow(dim, n - before, before) if before else None,
        input,
        input.narrow(dim, 0, after) if after else None,
    ]
    return _joined(pieces, dim)


def _joined(pieces: list[Any], dim: int) -> Any:
    found = [piece for piece in pieces if piece is not None]
    return found[0] if len(found) == 1 else tx.cat(found, dim)


BORDERS = {"reflect": _reflect, "replicate": _replicate, "circular": _circular}
