"""Streams, events, `synchronize` and memory statistics as PyTorch scripts write them, on every device."""

from __future__ import annotations

import gc
import time

import pytest

import tensorx as tx
from tensorx.errors import BackendUnavailable

MB = 1 << 20


def work(device, rounds=3):
    x = tx.ones(200_000, device=device)
    for _ in range(rounds):
        x = x * 1.5 + 1
    return x


def test_a_script_with_streams(device):
    """Two streams, events between them, timing: the idiom of PyTorch's own notes."""
    with device:
        side, main = tx.cuda.Stream(), tx.cuda.current_stream()
        start, end = tx.cuda.Event(enable_timing=True), tx.cuda.Event(True)
        assert start.query() and side == main == tx.cuda.default_stream() and side.device is device
        side.wait_stream(main)
        with tx.cuda.stream(side) as nothing:
            start.record()
            x = work(device)
            x.record_stream(main)
            end.record(side)
        assert nothing is None
        main.wait_stream(side)
        main.wait_event(end)
        end.wait()
        ready = side.record_event()
        ready.synchronize()
        assert start.query() and end.query() and ready.query()
        assert 0 <= start.elapsed_time(end) < 60_000
        tx.cuda.synchronize()
        with tx.cuda.StreamContext(side):
            assert work(device)[0].item() == x[0].item() == 8.125
    assert side.priority_range() == (0, 0) and not side.is_capturing()
    assert (side.device_type, side.device_index, side.stream_id) == (device.type, device.index or 0, 0)


def test_generic_streams_and_events(device):
    s = tx.Stream(device)
    a, b = tx.Event(device, enable_timing=True), tx.Event(device, enable_timing=True)
    assert a.device is device
    a.record()
    work(device)
    s.record_event(b)
    b.synchronize()
    assert b.query() and a.elapsed_time(b) >= 0 and hash(s) == hash(tx.Stream(device)) and str(device) in repr(s)
    with s as entered:
        assert entered is s
    assert s.record_event().device is device


def test_an_idle_stream_says_so(device):
    """A loop that polls comes to an end, also where nothing else makes the driver begin."""
    s = tx.Stream(device)
    for query in (s.query, s.record_event().query):
        work(device)
        until = time.monotonic() + 30
        while not query():
            assert time.monotonic() < until


def test_events_of_two_devices(device, other):
    cpu, there = tx.Event("cpu", enable_timing=True), tx.Event(other, enable_timing=True)
    cpu.record()
    there.record()
    with pytest.raises(RuntimeError, match="clocks of two devices"):
        cpu.elapsed_time(there)
    tx.Stream("cpu").wait_event(there)
    assert there.query()
    tx.Stream("cpu").wait_stream(tx.Stream(other))
    tx.Stream(other).wait_stream(tx.Stream("cpu"))
    assert tx.Stream("cpu") != tx.Stream(other)


def test_waiting_on_the_same_device_does_not_block(device, monkeypatch):
    """What is queued later runs later: the host need not stand still."""
    event = tx.Event(device)
    event.record()
    monkeypatch.setattr(event, "synchronize", lambda: pytest.fail("the host waited"))
    event.wait()
    event.wait(tx.Stream(device))
    monkeypatch.setattr(tx.Stream, "synchronize", lambda self: pytest.fail("the host waited"))
    tx.Stream(device).wait_stream(tx.Stream(device))


def test_what_cannot_be_is_refused():
    for refused in (
        lambda: tx.Event(interprocess=True),
        lambda: tx.cuda.Event(interprocess=True),
        lambda: tx.Event("cpu").ipc_handle(),
        lambda: tx.Event.from_ipc_handle("cpu", b""),
        lambda: tx.cuda.ExternalStream(0),
        tx.cuda.CUDAGraph,
    ):
        with pytest.raises(NotImplementedError):
            refused()
    for module in (tx.xpu, tx.mps):
        with pytest.raises(BackendUnavailable):
            module.synchronize()
        with pytest.raises(BackendUnavailable):
            module.Event()
    with pytest.raises(RuntimeError, match="recorded"):
        tx.Event("cpu", enable_timing=True).elapsed_time(tx.Event("cpu", enable_timing=True))


def test_synchronize_takes_every_form(device):
    work(device)
    for form in (device, str(device)):
        tx.synchronize(form)
        tx.Stream(form).synchronize()
    with device:
        tx.synchronize()
        tx.cuda.synchronize()
        tx.cuda.synchronize(None)
        if device.type != "cpu":
            tx.accelerator.synchronize()
            tx.accelerator.synchronize(device.index)
            assert tx.accelerator.current_stream().device is device
            assert tx.float32 in tx.accelerator.get_device_capability()["supported_dtypes"]
            tx.accelerator.empty_host_cache()
            tx.accelerator.reset_accumulated_memory_stats()
    with pytest.raises(RuntimeError):
        tx.synchronize("no such device")


@pytest.fixture
def stats(device, need):
    """The device's figures. Without a compiler NumPy allocates results, which no pool counts."""
    need(compiler=True)
    gc.collect()
    tx.synchronize(device)
    device.runtime.empty_cache()
    device.runtime.reset_peak()
    return device.runtime.memory_stats


def test_statistics_follow_tensors(device, stats):
    before = stats()
    assert before["cached"] == 0 or device.type == "cpu"  # whose small blocks are cut from slabs that stay
    x = tx.empty(3 * MB, device=device)
    y = tx.empty(MB, device=device)
    held = stats()
    assert 16 * MB <= held["used"] - before["used"] <= 20 * MB
    view = x[5:]
    del x
    assert stats()["used"] == held["used"]  # the view holds it
    del view
    less = stats()
    assert 12 * MB <= held["used"] - less["used"] <= 15 * MB
    assert less["cached"] >= 12 * MB and less["peak"] >= held["used"] and less["limit"] == held["limit"]
    device.runtime.empty_cache()
    assert stats()["cached"] <= before["cached"] and stats()["used"] == less["used"]
    del y
    device.runtime.reset_peak()
    now = stats()
    assert now["peak"] == now["used"] + now["cached"] < less["peak"]


def test_freed_memory_is_used_again(device, stats):
    x = tx.empty(2 * MB, device=device)
    reserved = stats()["used"] + stats()["cached"]
    del x
    for _ in range(5):
        tx.empty(2 * MB, device=device)
    assert stats()["used"] + stats()["cached"] == reserved


def test_the_names_of_pytorch(device, stats):
    """``cuda`` and ``accelerator`` give the figures of the same device."""
    with device:
        x = tx.ones(MB)
        used, free = tx.cuda.memory_allocated(), tx.cuda.mem_get_info()
        assert used == stats()["used"] and tx.cuda.memory_reserved() == used + stats()["cached"]
        assert free == (stats()["limit"] - tx.cuda.memory_reserved(), stats()["limit"])
        assert tx.cuda.max_memory_allocated() == tx.cuda.max_memory_reserved() >= used
        keys = ("allocated_bytes.all.current", "reserved_bytes.all.current", "reserved_bytes.all.peak")
        assert [tx.cuda.memory_stats()[k] for k in keys] == [used, tx.cuda.memory_reserved(), stats()["peak"]]
        assert "allocated_bytes.all.peak" in tx.cuda.memory_summary()
        if device.type != "cpu":
            assert tx.accelerator.memory_stats() == tx.cuda.memory_stats()
            assert tx.accelerator.get_memory_info() == free
        del x
        tx.cuda.empty_cache()
        assert tx.cuda.memory_allocated() <= used - 4 * MB
        tx.cuda.reset_peak_memory_stats()
        assert tx.cuda.max_memory_allocated() == tx.cuda.memory_reserved()


def test_copies_are_not_device_memory(device, stats):
    """Host memory of the staging pool does not count; nothing of a copy stays."""
    before = stats()["used"]
    host = tx.ones(MB, device="cpu")
    x = host.to(device, non_blocking=True, copy=True)
    del host
    tx.synchronize(device)
    assert stats()["used"] - before <= 5.1 * MB + (8 << 10)
    assert x.sum().item() == MB
    del x
    gc.collect()
    assert stats()["used"] == before
