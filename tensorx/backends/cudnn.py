"""cuDNN's switches. There is no cuDNN here: convolutions and recurrent layers are kernels of our own, which need no
tuning switch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False  # for ordered kernels everywhere say tensorx.use_deterministic_algorithms(True)
allow_tf32 = True


def version() -> int | None:
    """None: there is no cuDNN."""
    return None


def is_available() -> bool:
    """False: there is no cuDNN."""
    return False


def is_acceptable(tensor: object) -> bool:
    """False: there is no cuDNN."""
    return False


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Set all switches in the block.

    >>> with flags(benchmark=True):
    ...     pass
    """
    wanted = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    kept = {name: globals()[name] for name in wanted}
    globals().update(wanted)
    try:
        yield
    finally:
        globals().update(kept)
