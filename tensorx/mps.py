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


def _refuse(name: str) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        raise BackendUnavailable(
            f"mps.{name}: needs a Metal backend, which this version does not have. Hint: python -m tensorx devices"
        )

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Raises BackendUnavailable, a RuntimeError."
    return f


synchronize, empty_cache, seed, Event = map(_refuse, ("synchronize", "empty_cache", "seed", "Event"))
current_allocated_memory = _refuse("current_allocated_memory")
driver_allocated_memory = _refuse("driver_allocated_memory")
get_rng_state, set_rng_state = map(_refuse, ("get_rng_state", "set_rng_state"))
recommended_max_memory = _refuse("recommended_max_memory")
set_per_process_memory_fraction = _refuse("set_per_process_memory_fraction")
