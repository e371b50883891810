"""OpenCL devices whose driver lifts its limit for one buffer: no such device is at hand, so a limit is made up and the
flag and the option are ones that every driver takes."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from device_programs import add_kernel, download, grid, upload

from tensorx.errors import OutOfMemory

MB = 1 << 20
LIMIT = 64 * MB


@pytest.fixture
def fresh(device, monkeypatch):
    """A function that opens the lane's OpenCL device once more, as one that allows ``LIMIT`` bytes in one buffer."""
    if device.type != "opencl":
        return None
    import pyopencl as cl

    from tensorx.devices.opencl_device import OpenCL

    monkeypatch.setattr(cl.Device, "max_mem_alloc_size", property(lambda self: LIMIT))
    return lambda: OpenCL(device.runtime.index, device.runtime._device)


@pytest.fixture
def lifted(fresh, monkeypatch):
    """The same, with a flag and an option that are known."""
    if fresh is None:
        return None
    import pyopencl as cl

    from tensorx.devices import opencl_limits

    monkeypatch.setattr(opencl_limits, "UNRESTRICTED", int(cl.mem_flags.READ_WRITE))
    monkeypatch.setattr(opencl_limits, "WHOLE_ADDRESSES", "-cl-mad-enable")
    return fresh()


def test_a_driver_that_does_not_know_them_keeps_its_limit(fresh):
    if fresh is None:
        return
    dev = fresh()
    assert (dev.capabilities.unrestricted_alloc, dev.capabilities.max_alloc) == (False, LIMIT)
    with pytest.raises(OutOfMemory, match="one buffer"):
        dev.alloc(LIMIT + 1)
    assert "4GB" not in dev.fingerprint


def test_a_driver_that_knows_them_is_held_to_its_memory_alone(lifted):
    if lifted is None:
        return
    assert lifted.capabilities.unrestricted_alloc
    assert lifted.capabilities.max_alloc == lifted.capabilities.total_mem > LIMIT
    assert "-cl-mad-enable" in lifted.fingerprint  # what is on disk was built so


def test_large_buffers_get_the_flag_and_count(lifted, monkeypatch):
    if lifted is None:
        return
    import pyopencl as cl

    from tensorx.devices import opencl_limits

    monkeypatch.setattr(opencl_limits, "UNRESTRICTED", int(cl.mem_flags.ALLOC_HOST_PTR))  # as harmless, and shows
    n = LIMIT // 4 + 1000
    big, out = lifted.alloc(4 * n), lifted.alloc(LIMIT - 8)  # the second is too large for the pool, within the limit
    assert [bool(b.flags & cl.mem_flags.ALLOC_HOST_PTR) for b in (big, out)] == [True, False]
    assert lifted.memory_stats()["used"] >= 4 * n + LIMIT - 8
    lifted.copy_in(big, 4 * n - 4000, np.arange(1000, dtype=np.float32))
    small = upload(lifted, np.zeros(10, np.float32))
    lifted.launch(add_kernel(lifted), grid(10), (small, 0, big, n - 10, 0.5, 10))
    assert (download(lifted, small, 10) == np.arange(990, 1000) + 0.5).all()
    del big, out, small
    gc.collect()
    lifted.empty_cache()
    assert lifted.memory_stats()["used"] == 0
    assert lifted.memory_stats()["peak"] >= 4 * n + LIMIT - 8


def test_what_lives_outside_the_pool_counts_against_the_memory(fresh, monkeypatch):
    if fresh is None:
        return
    monkeypatch.setenv("TENSORX_CAPS_MASK", "total_mem=100M")
    dev = fresh()
    held = dev.alloc(LIMIT)
    with pytest.raises(OutOfMemory) as caught:
        dev.alloc(LIMIT - 1)
    assert (caught.value.asked, caught.value.used, caught.value.limit) == (LIMIT - 1, LIMIT, 100 * MB)
    del held
    assert dev.alloc(LIMIT - 1) is not None
