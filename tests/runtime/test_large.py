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


def far_calls(d, wide, large):
    """(what, a call on elements that lie 2**31 apart, its result); in order: the last ones write."""
    u8, at = tensorx.uint8, tensorx.tensor([[1, 0], [2, 3]], device=d)
    far = tensorx.tensor([2**31, 2**31 + 3, 0], device=d)
    keys = tensorx.tensor([[2], [5]], dtype=u8, device=d)
    return [
        ("sort", lambda: wide.sort(1).values, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("sort across", lambda: wide.sort(0, descending=True).indices, [[1] * 4, [0] * 4]),
        ("topk", lambda: wide.topk(2, 1).values, [[3, 2], [7, 6]]),
        ("reduce", lambda: wide.amax(0), [7, 5, 6, 4]),
        ("reduce to places", lambda: wide.argmin(1), [3, 3]),
        ("scan", lambda: wide.cumsum(0), [[3, 1, 2, 0], [10, 6, 8, 4]]),
        (
            "rowwise",
            lambda: wide.double().softmax(0)[0].mul(1e4).round().int() if d.runtime.capabilities.fp64 else None,
            [180] * 4,
        ),
        ("contract", lambda: wide.float() @ wide.float().t(), [[14, 38], [38, 126]]),
        ("pool", lambda: tensorx.nn.functional.max_pool1d(wide[None].float(), 2), [[[3, 2], [7, 6]]]),
        ("search", lambda: tensorx.searchsorted(wide.flip(1).sort(1).values, keys), [[2], [1]]),
        ("join", lambda: tensorx.cat([wide, wide[1:]]), [[3, 1, 2, 0], [7, 5, 6, 4], [7, 5, 6, 4]]),
        ("gather", lambda: wide.gather(1, at), [[1, 3], [6, 4]]),
        ("select", lambda: wide.index_select(0, tensorx.tensor([1, 0], device=d)), [[7, 5, 6, 4], [3, 1, 2, 0]]),
        ("take", lambda: tensorx.take(large, far), [7, 4, 3]),
        ("dynamic", lambda: tensorx.nonzero(wide > 5), [[1, 0], [1, 2]]),
        (
            "put",
            lambda: large.index_put_((far[:1].expand(2),), tensorx.tensor([1, 2], dtype=u8, device=d), accumulate=True)[
                far
            ],
            [10, 4, 3],
        ),
        (
            "scatter",
            lambda: wide.scatter_add_(1, at, tensorx.ones(2, 2, dtype=u8, device=d)),
            [[4, 2, 2, 0], [10, 5, 7, 5]],
        ),
        ("fill", lambda: wide.index_fill_(0, tensorx.tensor([1], device=d), 9), [[4, 2, 2, 0], [9] * 4]),
        ("mask", lambda: wide.masked_fill_(wide > 8, 1), [[4, 2, 2, 0], [1] * 4]),
    ]


def test_every_kind_at_a_far_stride(large, device):
    wide = large.as_strided((2, 4), (2**31, 1))
    wide.copy_(tensorx.tensor([[3, 1, 2, 0], [7, 5, 6, 4]], device=device))
    wrong = []
    for what, call, want in far_calls(device, wide, large):
        got = call()
        if got is not None and got.tolist() != want:
            wrong.append(f"{what}: {got.tolist()} instead of {want}")
    assert not wrong, "\n".join(wrong)


def test_an_index_beyond_what_32_bits_hold(device):
    """Extents, not addresses, pass 2**31: an expanded dimension is one element in memory."""
    seen = tensorx.full((1,), 7, dtype=tensorx.uint8, device=device).expand(2**31 + 8)
    at = tensorx.tensor([2**31 + 7, 0, -1], device=device)
    assert seen[at].tolist() == [7] * 3
    assert tensorx.take(seen, at[:1]).tolist() == [7]
    with pytest.raises(IndexError, match=str(2**31 + 8)):
        tensorx.take(seen, at[:1] + 1).tolist()
    columns = tensorx.arange(4, dtype=tensorx.uint8, device=device).view(4, 1).expand(4, 2**31 + 8)
    assert columns.index_select(1, at[:2]).tolist() == [[k] * 2 for k in range(4)]
    assert columns.gather(1, at[:1].expand(4, 1)).tolist() == [[0], [1], [2], [3]]


def available() -> int:
    """Bytes of memory that could be had without swapping."""
    with open("/proc/meminfo") as file:
        return 1024 * int(next(line for line in file if line.startswith("MemAvailable")).split()[1])


def test_a_buffer_over_4_gb(device):
    """Bytes whose addresses in one buffer pass 2**32. Little of it is touched."""
    caps, size = device.runtime.capabilities, 4_500_000_000
    if caps.max_alloc < size or caps.total_mem < 2 * size or available() < size + 2**31:
        pytest.skip(f"capability: {device} lacks {size} bytes in one buffer")
    try:
        x = tensorx.empty(size, dtype=tensorx.uint8, device=device)
        x[2**32 + 5], x[5], x[-3:] = 9, 1, tensorx.tensor([1, 2, 3], dtype=tensorx.uint8, device=device)
        assert (x[2**32 + 5].item(), x[5].item(), x[-3:].tolist()) == (9, 1, [1, 2, 3])
        assert x[tensorx.tensor([2**32 + 5, 5, size - 1], device=device)].tolist() == [9, 1, 3]
        assert x.as_strided((2,), (2**32,), 5).sum().item() == 10
        far = x[2**32 + 4096 :].view(tensorx.float32)[:1000]
        far.fill_(0.5)
        assert far.sum().item() == 500 and x[4096:4100].view(tensorx.float32).item() != 0.5
    finally:
        x = far = None
        device.runtime.empty_cache()


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
