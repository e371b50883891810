"""CUDA's switches. float32 is computed in float32: nothing here lowers its precision."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


class _Switches:
    """Attributes to set and read."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


matmul = _Switches(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
    fp32_precision="none",
)
cufft_plan_cache = _Switches(max_size=0, size=0)
_sdp = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """Whether this version has a CUDA backend (see `tensorx.cuda.is_available` for a card)."""
    from tensorx.devices import registry

    return "cuda" in registry.BACKENDS


def preferred_linalg_library(backend: Any = None) -> str:
    """``default``: decompositions run in LAPACK on the host."""
    return "default"


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` set; attention has one form here."""
    return _sdp["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Set what `flash_sdp_enabled` says."""
    _sdp["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` set."""
    return _sdp["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set what `mem_efficient_sdp_enabled` says."""
    _sdp["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` set."""
    return _sdp["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Set what `math_sdp_enabled` says."""
    _sdp["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` set."""
    return _sdp["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set what `cudnn_sdp_enabled` says."""
    _sdp["cudnn"] = bool(enabled)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """Set the attention switches in the block."""
    kept = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _sdp.update(kept)
