"""Apple's Metal: there is no such backend.

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


def __getattr__(name: str) -> Any:
    if name in (
        "synchronize",
        "empty_cache",
        "current_allocated_memory",
        "driver_allocated_memory",
        "seed",
        "Event",
        "set_per_process_memory_fraction",
        "get_rng_state",
        "set_rng_state",
        "recommended_max_memory",
    ):
        raise BackendUnavailable(
            f"mps.{name}: needs a Metal backend, which this version does not have. Hint: python -m tensorx devices"
        )
    raise AttributeError(f"module 'tensorx.mps' has no attribute '{name}'")
