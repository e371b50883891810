"""Metal: Apple's GPUs have no backend here."""

from __future__ import annotations


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False: it is asked by code that runs on Metal alone."""
    return False
