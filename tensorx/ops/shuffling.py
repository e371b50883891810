"""Rows that move elements between channels and space: pixel_shuffle, pixel_unshuffle, channel_shuffle."""

from __future__ import annotations

from typing import Any

from tensorx.ops.families import composite
from tensorx.tensor import Tensor


def _ref_shuffle(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    k = len(lead)
    y = x.reshape(*lead, c // r**2, r, r, h, w).transpose(*range(k + 1), k + 3, k + 1, k + 4, k + 2)
    return y.reshape(*lead, c // r**2, h * r, w * r)


def _ref_unshuffle(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    k = len(lead)
    y = x.reshape(*lead, c, h // r, r, w // r, r).transpose(*range(k + 1), k + 2, k + 4, k + 1, k + 3)
    return y.reshape(*lead, c * r**2, h // r, w // r)


def _planes(name: str, x: Tensor, word: str, factor: int) -> tuple[list[int], int, int, int]:
    if len(x._shape) < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {len(x._shape)} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}, but got {factor}")
    *lead, c, h, w = x._shape
    return lead, c, h, w


@composite("pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", ref=_ref_shuffle, samples=lambda t: [(t((4, 1, 3)), 2), (t((2, 9, 2, 2)), 3)],
           doc="(.., C * r * r, H, W) as (.., C, H * r, W * r): each group of channels is a square of pixels.")
def pixel_shuffle(x: Tensor, r: int) -> Tensor:
    lead, c, h, w = _planes("pixel_shuffle", x, "upscale_factor", r)
    if c % r**2:
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
                           f"input.size(-3)={c} is not divisible by {r**2}")
    k = len(lead)
    y = x.reshape(*lead, c // r**2, r, r, h, w).permute(*range(k + 1), k + 3, k + 1, k + 4, k + 2)
    return y.reshape(*lead, c // r**2, h * r, w * r)


@composite("pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", ref=_ref_unshuffle, samples=lambda t: [(t((1, 2, 6)), 2), (t((2, 2, 3, 6)), 3)],
           doc="(.., C, H * r, W * r) as (.., C * r * r, H, W): the inverse of pixel_shuffle.")
def pixel_unshuffle(x: Tensor, r: int) -> Tensor:
    lead, c, h, w = _planes("pixel_unshuffle", x, "downscale_factor", r)
    for word, n, dim in (("height", h, -2), ("width", w, -1)):
        if n % r:
            raise RuntimeError(f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but input.size({dim})={n} is not divisible by {r}")
    k = len(lead)
    y = x.reshape(*lead, c, h // r, r, w // r, r).permute(*range(k + 1), k + 2, k + 4, k + 1, k + 3)
    return y.reshape(*lead, c * r**2, h // r, w // r)


def _ref_groups(x: Any, groups: int) -> Any:
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


@composite("channel_shuffle(Tensor input, int groups) -> Tensor", samples=lambda t: [(t((1, 6, 2)), 2), (t((2, 4, 2, 2)), 4)],
           ref=_ref_groups,
           doc="The channels (dimension 1) of all groups in turn.")
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    shape = x._shape
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups.")
    return x.reshape(shape[0], groups, shape[1] // groups, *shape[2:]).transpose(1, 2).reshape(shape)


native_channel_shuffle = composite("native_channel_shuffle(Tensor input, int groups) -> Tensor", samples=lambda t: [(t((1, 6, 2)), 2)], ref=_ref_groups,
                                   doc="Another name of channel_shuffle.")(lambda x, groups: channel_shuffle(x, groups))
