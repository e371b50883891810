"""How tensors print: PyTorch's format."""

from __future__ import annotations

from typing import Any


def tensor_repr(t: Any) -> str:
    """``tensor([...])``."""
    return f"tensor({t.tolist()}, dtype={t.dtype})"
