"""What corner tests share."""

from __future__ import annotations

import contextlib

import tensorx


@contextlib.contextmanager
def default_device(device):
    """``device`` as the default device for a while."""
    before = tensorx.get_default_device()
    tensorx.set_default_device(device)
    try:
        yield
    finally:
        tensorx.set_default_device(before)
