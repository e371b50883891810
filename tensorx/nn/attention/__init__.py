"""Which kernel attention uses (there is one), masks, and attention with functions for masks."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import bias, flex_attention


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of scaled_dot_product_attention, by name."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_allowed: list[SDPBackend] = [backend for backend in SDPBackend if backend >= 0]


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[str, Any]]:
    """Say which of PyTorch's kernels may run; here it is always the same one, which gives the answers of all.

    AssertionError for anything but a SDPBackend or a list of them.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.nn.attention import SDPBackend, sdpa_kernel
        >>> q = tx.ones(1, 2, 4)
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     tx.nn.functional.scaled_dot_product_attention(q, q, q).shape
        tensorx.Size([1, 2, 4])
    """
    global _allowed
    if not isinstance(backends, (SDPBackend, list)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    before, _allowed = _allowed, [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    try:
        yield {}
    finally:
        _allowed = before


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(_allowed)


__all__ = ["SDPBackend", "bias", "flex_attention", "sdpa_kernel"]
