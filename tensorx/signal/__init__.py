"""Signal processing: window functions."""

from tensorx.signal import windows

__all__ = ["windows"]
