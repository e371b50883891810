"""Offsets past 2**31 elements: in memory of 2 GB of uint8, and in views that reach far or are expanded."""

from __future__ import annotations

import pytest

import tensorx

FAR = 2**31 + 5000


@pytest.fixture
def large(device):
    """More than 2**31 elements, or a skip where the device has no room."""
    caps = device.runtime.capabilities
    if caps.max_alloc < FAR + 4096 or caps.total_mem < 3 * FAR:
        pytest.skip(f"capability: {device} lacks {FAR} bytes in one buffer")
    try:
        yield tensorx.empty(FAR, dtype=tensorx.uint8, device=device)
    finally:
        device.runtime.empty_cache()


def test_the_far_end(large, device):
    end = large[-3000:]
    end.fill_(7)
    end[::3] = tensorx.arange(1000, device=device).to(tensorx.uint8)
    assert end[:7].tolist() == [0, 7, 7, 1, 7, 7, 2]
    assert end.sum(dtype=tensorx.int64).item() == 14000 + sum(i % 256 for i in range(1000))
    assert large[FAR - 1 :].item() == 7
    at = tensorx.tensor([FAR - 3000, FAR - 2999, -1], device=device)
    assert large[at].tolist() == [0, 7, 7]
    large[at] = tensorx.tensor([9, 8, 6], dtype=tensorx.uint8, device=device)
    assert (end[0].item(), end[1].item(), end[-1].item()) == (9, 8, 6)


def test_a_far_stride(large, device):
    wide = large.as_strided((2, 4), (2**31, 1))
    wide.copy_(tensorx.arange(8, device=device).view(2, 4))
    assert wide.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (wide + wide.flip(0)).tolist() == [[4, 6, 8, 10], [4, 6, 8, 10]]
    assert wide.to(tensorx.float32).sum(0).tolist() == [4, 6, 8, 10]
    assert large[2**31 : 2**31 + 4].tolist() == [4, 5, 6, 7]


def test_more_elements_than_memory(device, need):
    """Reading one element 2**31 + 8 times: counts, not memory, pass 2**31."""
    need(long_loops=True)
    if device.type == "cpu" and not device.runtime.capabilities.compiler:
        pytest.skip(f"capability: {device} lacks compiler=True")
    seen = tensorx.ones(1, dtype=tensorx.uint8, device=device).expand(2**31 + 8)
    assert seen.numel() == 2**31 + 8
    assert seen[2**31 + 1 :].sum().item() == 7
    assert seen.view(2**28 + 1, 8)[2**28 - 1 :, 3:].tolist() == [[1] * 5] * 2
    assert seen.sum(dtype=tensorx.int64).item() == 2**31 + 8
