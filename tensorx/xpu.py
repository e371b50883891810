"""PyTorch's name for Intel's GPUs. They are reached as ``opencl:intel`` here, so there is no device of type ``xpu``.

>>> is_available(), device_count()
(False, 0)
"""

from __future__ import annotations

from typing import Any

from tensorx.errors import BackendUnavailable


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no device (and one generator serves all devices, see `tensorx.manual_seed`)."""


manual_seed_all = manual_seed


def _refuse(name: str) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        raise BackendUnavailable(f"xpu.{name}: there is no device type 'xpu'. Hint: use device 'opencl:intel'")

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Raises BackendUnavailable, a RuntimeError."
    return f


synchronize, empty_cache, Stream, Event = map(_refuse, ("synchronize", "empty_cache", "Stream", "Event"))
current_device, set_device, get_device_name = map(_refuse, ("current_device", "set_device", "get_device_name"))
get_device_properties, current_stream = map(_refuse, ("get_device_properties", "current_stream"))
memory_allocated, max_memory_allocated = map(_refuse, ("memory_allocated", "max_memory_allocated"))
memory_reserved, reset_peak_memory_stats = map(_refuse, ("memory_reserved", "reset_peak_memory_stats"))
