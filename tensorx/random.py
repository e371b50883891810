"""``torch.random``: the state of the generator. One generator serves all devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tensorx.ops.random import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state


@contextlib.contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """What is drawn or seeded in the block leaves no trace after it (on any device, whatever ``devices`` says).

    >>> import tensorx
    >>> state = tensorx.get_rng_state()
    >>> with fork_rng():
    ...     _ = tensorx.rand(3)
    >>> (tensorx.get_rng_state() == state).all().item()
    True
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
