"""The switch of the fused path of attention layers."""

from __future__ import annotations

_fastpath = True


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` set; results do not depend on it."""
    return _fastpath


def set_fastpath_enabled(value: bool) -> None:
    """Set what `get_fastpath_enabled` says."""
    global _fastpath
    _fastpath = bool(value)
