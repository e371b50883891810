"""What this library was built with, under the names that scripts ask for."""

from __future__ import annotations

from tensorx import __version__

debug = False
cuda: str | None = None  # no CUDA toolkit is linked in; cards are reached through their drivers
hip: str | None = None
xpu: str | None = None
git_version: str | None = None

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]
