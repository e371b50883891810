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


def __getattr__(name: str) -> Any:
    if name in (
        "synchronize",
        "empty_cache",
        "current_device",
        "set_device",
        "get_device_name",
        "get_device_properties",
        "memory_allocated",
        "max_memory_allocated",
        "Stream",
        "Event",
    ):
        raise BackendUnavailable(f"xpu.{name}: there is no device type 'xpu'. Hint: use device 'opencl:intel'")
    raise AttributeError(f"module 'tensorx.xpu' has no attribute '{name}'")
