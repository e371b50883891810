"""Pixels from channels, and back (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class PixelShuffle(Module):
    """(.., C * r * r, H, W) as (.., C, H * r, W * r), r being ``upscale_factor``.

    RuntimeError where the channels are no multiple of r * r.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.PixelShuffle(3)(tx.ones(1, 9, 4, 4)).shape
        tensorx.Size([1, 1, 12, 12])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(.., C, H * r, W * r) as (.., C * r * r, H, W), r being ``downscale_factor``.

    RuntimeError where height or width is no multiple of r.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.PixelUnshuffle(3)(tx.ones(1, 1, 12, 12)).shape
        tensorx.Size([1, 9, 4, 4])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
