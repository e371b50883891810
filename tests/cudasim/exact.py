"""A pytest plugin for the cuda lane: every buffer is a block of the driver's own, of the size that was asked for.

    python -m pytest -p tests.cudasim.exact --device cuda:0 tests/conformance

PyCUDA's pool hands out blocks of up to a quarter more and keeps them when they are freed: what a kernel does there
looks right to the driver. Without the pool an element too far is a fault, and so is memory after its end. (Freeing
waits for the device, so this goes with eager streams.)
"""

from __future__ import annotations

import functools
from typing import Any

import pytest


class Block:
    """Memory that is given back when the object dies; its context must be current then."""

    def __init__(self, pool: ExactPool, nbytes: int) -> None:
        import pycuda.driver as drv

        self._memory, self._pool, self._nbytes = drv.mem_alloc(nbytes), pool, nbytes
        pool.active_bytes += nbytes

    def __int__(self) -> int:
        return int(self._memory)

    def __del__(self) -> None:
        if hasattr(self, "_memory"):
            self._pool.active_bytes -= self._nbytes


class ExactPool:
    """What the backend uses of ``pycuda.driver.DeviceMemoryPool``."""

    def __init__(self) -> None:
        self.active_bytes = 0

    @property
    def managed_bytes(self) -> int:
        return self.active_bytes

    def allocate(self, nbytes: int) -> Block:
        return Block(self, nbytes)

    def bin_number(self, nbytes: int) -> int:
        """Each size is a class of its own."""
        return nbytes

    def alloc_size(self, number: int) -> int:
        return number

    def free_held(self) -> None:
        """Nothing is held."""

    stop_holding = free_held


def pytest_configure(config: pytest.Config) -> None:
    from tensorx.devices.cuda_device import Cuda

    pool: Any = functools.cached_property(lambda self: ExactPool())
    pool.__set_name__(Cuda, "_pool")
    Cuda._pool = pool
