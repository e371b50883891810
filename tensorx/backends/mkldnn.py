"""oneDNN: layers are kernels of our own."""

from __future__ import annotations


def is_available() -> bool:
    """False."""
    return False


enabled = True
deterministic = False
allow_tf32 = True


def is_acl_available() -> bool:
    """False."""
    return False
