"""What every backend must do: memory, copies, programs, threads, running out."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from device_programs import Arg, Grid, Source, add_kernel, add_source, download, grid, python, upload

from tensorx.devices.driver import DriverDevice
from tensorx.errors import CompileError, KernelError, OutOfMemory

MB = 1 << 20


@pytest.fixture
def dev(device):
    return device.runtime


@pytest.fixture
def kernel(dev, need):
    need(compiler=True)
    return add_kernel(dev)


def test_copies(dev):
    x = np.arange(1000, dtype=np.float64)
    a, b = upload(dev, x), dev.alloc(x.nbytes)
    dev.copy(b, 80, a, 160, 400)
    assert (download(dev, b, 50, np.float64, 80) == x[20:70]).all()
    dev.copy_in(a, 8, x[:3])
    assert (download(dev, a, 4, np.float64) == [0, 0, 1, 2]).all()


def test_nothing_to_copy(dev):
    nothing = dev.alloc(0)
    dev.copy_in(nothing, 0, np.empty(0, np.float32))
    dev.copy(nothing, 0, nothing, 0, 0)
    assert download(dev, nothing, 0).size == 0


def test_read_only_host_memory_goes_in(dev):
    x = np.arange(7, dtype=np.int32)
    x.flags.writeable = False
    assert (download(dev, upload(dev, x), 7, np.int32) == x).all()


@pytest.mark.parametrize("n", [1, 1000, 100_001])
def test_launch(dev, kernel, n):
    x = np.arange(n, dtype=np.float32)
    a, b = upload(dev, x), upload(dev, np.zeros(n + 1, np.float32))
    dev.launch(kernel, grid(n), (b, 1, a, 0, 0.5, n))
    result = download(dev, b, n + 1)
    assert result[0] == 0
    assert (result[1:] == x + 0.5).all()


def test_launch_of_nothing(dev, kernel):
    nothing = dev.alloc(0)
    dev.launch(kernel, Grid((0,), (64,)), (nothing, 0, nothing, 0, 1.0, 0))
    dev.synchronize()


#: C types of scalar arguments, and a value of each that other types would not bring through.
SCALARS = {
    "b8": ("uchar", 1),
    "i8": ("char", -128),
    "u8": ("uchar", 255),
    "i16": ("short", -(2**15)),
    "u16": ("ushort", 2**16 - 1),
    "i32": ("int", -(2**31)),
    "u32": ("uint", 2**32 - 1),
    "i64": ("long", -(2**62) - 1),
    "f32": ("float", 2.5),
    "u64": ("ulong", 2**63 + 1),
}


def test_every_kind_of_argument(dev, need):
    """Scalars of each width in an order that needs padding, buffers between them, local memory, three dimensions."""
    need(compiler=True, dialect="opencl")
    layout = [Arg(f"a{code}", "scalar", code) for code in SCALARS]
    layout[4:4] = [Arg("y0", "buffer", "i64")]
    layout[9:9] = [Arg("tile", "local", "i32")]
    types = {"buffer": "__global long *y0", "local": "__local int *tile"}
    head = ", ".join(types.get(a.kind) or f"{SCALARS[a.code][0]} {a.name}" for a in layout)
    stores = " ".join(f"y0[{i}] = (long)(a{code}{' * 2' if code == 'f32' else ''});" for i, code in enumerate(SCALARS))
    text = f"""__kernel void every({head}) {{
  int i = get_local_id(0), n = get_local_size(0);
  tile[i] = get_group_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2);
  barrier(CLK_LOCAL_MEM_FENCE);
  int place = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  y0[16 + place] = tile[n - 1 - i];
  if (place == 0) {{ {stores} }}
}}
"""
    source = Source(text, (("every", tuple(layout)),))
    kernel = dev.load(dev.build(source), source)["every"]
    y = upload(dev, np.zeros(16 + 24, np.int64))
    given = {"y0": y, "tile": 4 * 4}
    dev.launch(kernel, Grid((4, 3, 2), (2, 1, 1)), [given.get(a.name) or SCALARS[a.code][1] for a in layout])
    result = download(dev, y, 16 + 24, np.int64)
    expected = [int(value * 2) if code == "f32" else value for code, (_, value) in SCALARS.items()]
    assert result[: len(SCALARS)].tolist() == [v - 2**64 if v >= 2**63 else v for v in expected]
    where = np.arange(24)
    assert (result[16:] == where % 4 // 2 + 10 * (where // 4 % 3) + 100 * (where // 12)).all()


def test_a_refused_launch(dev, need):
    """The kernel is named, and it runs afterwards."""
    need(compiler=True, dialect="opencl")
    kernel, a = add_kernel(dev), upload(dev, np.zeros(8, np.float32))
    too_many = dev.capabilities.max_workgroup * 64
    with pytest.raises(KernelError, match="'add' was refused"):
        dev.launch(kernel, Grid((too_many,), (too_many,)), (a, 0, a, 0, 1.0, 8))
    dev.launch(kernel, grid(8), (a, 0, a, 0, 1.0, 8))
    assert (download(dev, a, 8) == 1).all()


def test_a_binary_loads_again(dev, need):
    need(compiler=True)
    source = add_source(dev.capabilities.dialect, "again")
    blob = dev.build(source)
    kernels = [dev.load(blob, source)["add"] for _ in range(2)]
    a = upload(dev, np.zeros(8, np.float32))
    for kernel in kernels:
        dev.launch(kernel, grid(8), (a, 0, a, 0, 1.0, 8))
    assert (download(dev, a, 8) == 2).all()


FOREIGN = """
from device_programs import add_source
from tensorx.devices import registry
from tensorx.errors import CompileError
dev = registry.resolve({name!r}).runtime
try:
    dev.load(b"no binary at all", add_source(dev.capabilities.dialect))
except CompileError:
    print("refused")
"""


def test_a_binary_of_something_else_is_refused(device, need):
    """Some drivers crash on it (PoCL, Mesa), so that only checksummed binaries may reach one; none takes it."""
    need(compiler=True)
    done = python(FOREIGN.format(name=str(device)))
    assert done.returncode < 0 or done.stdout == "refused\n", done.stderr


def test_a_refused_kernel(dev, need):
    need(compiler=True)
    with pytest.raises(CompileError) as caught:
        dev.build(Source("this is\nno kernel\n", ()))
    assert "    2  no kernel" in caught.value.source
    assert caught.value.log
    kept = Path(caught.value.path)
    assert kept.read_text() == "this is\nno kernel\n"
    kept.unlink()


def test_events(dev, kernel):
    a = upload(dev, np.zeros(100_000, np.float32))
    start = dev.event()
    dev.launch(kernel, grid(100_000), (a, 0, a, 0, 1.0, 100_000))
    end = dev.event()
    end.wait()
    assert start.done
    assert end.done
    assert 0 <= start.elapsed(end) < 10_000


def test_events_measure(dev, kernel):
    """Nobody adds so many numbers in a microsecond; where a driver tells no times, the host's clock does."""
    n = 4_000_000
    a = upload(dev, np.zeros(n, np.float32))
    for times in (dev.capabilities.event_times, False):
        other = copy.copy(dev)
        other.capabilities = replace(dev.capabilities, event_times=times)
        start = other.event()
        other.launch(kernel, grid(n), (a, 0, a, 0, 1.0, n))
        end = other.event()
        end.wait()
        assert 1e-3 < start.elapsed(end) < 60_000


def test_eight_threads_are_exact(dev, kernel):
    n, rounds = 512, 200
    shared = upload(dev, np.zeros(8 * n, np.float32))

    def work(i):
        for _ in range(rounds):
            dev.launch(kernel, grid(n), (shared, i * n, shared, i * n, float(i + 1), n))
            dev.alloc(1000 * (i + 1))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (download(dev, shared, 8 * n).reshape(8, n) == rounds * np.arange(1, 9)[:, None]).all()


@pytest.fixture
def small(dev):
    """A device of its own with 16 MB, 8 MB in one piece: the mask is read when a device opens."""
    caps = dev.capabilities
    again = type(dev)() if dev.kind == "cpu" else type(dev)(dev.index, dev._device)
    again.capabilities = replace(caps, total_mem=16 * MB, max_alloc=8 * MB)
    if dev.kind == "cpu":
        again._pool.limit, again._pool.largest = 16 * MB, 8 * MB
    yield again
    again.empty_cache()
    if isinstance(again, DriverDevice):
        again.close()


def test_one_buffer_too_large(small):
    with pytest.raises(OutOfMemory, match=r"one buffer .* at most 8 MiB .* got 9 MiB") as caught:
        small.alloc(9 * MB)
    assert (caught.value.asked, caught.value.limit) == (9 * MB, 8 * MB)
    small.alloc(8 * MB)


def test_out_of_memory_has_figures_and_is_survived(small):
    held = [small.alloc(3 * MB) for _ in range(4)]
    with pytest.raises(OutOfMemory, match=r"asked for 5 MiB.*in use.*limit 16 MiB") as caught:
        small.alloc(5 * MB)
    error = caught.value
    assert error.asked == 5 * MB
    assert 12 * MB <= error.used <= 16 * MB
    assert error.limit == 16 * MB
    assert isinstance(error, MemoryError)
    held.clear()
    assert small.alloc(5 * MB) is not None


def test_cached_blocks_make_room(small):
    held = [small.alloc(1 * MB) for _ in range(14)]
    held.clear()
    assert small.memory_stats()["cached"] > 2 * MB
    assert small.alloc(7 * MB) is not None


def test_stats(small):
    before = small.memory_stats()["used"]
    buffer = small.alloc(MB)
    used = small.memory_stats()["used"] - before
    assert MB <= used <= 1.25 * MB
    del buffer
    assert small.memory_stats()["used"] == before


def test_buffers_too_large_for_a_pool_count(small):
    if not hasattr(small, "_largest_pooled"):
        return  # its pool takes all sizes
    small._largest_pooled = MB
    before = small.memory_stats()
    buffer = small.alloc(4 * MB)
    upload(small, np.arange(9))
    assert small.memory_stats()["used"] - before["used"] >= 4 * MB
    with pytest.raises(OutOfMemory, match="limit 16 MiB"):
        [small.alloc(4 * MB) for _ in range(5)]
    del buffer
    assert small.memory_stats()["used"] == before["used"]
    assert small.memory_stats()["peak"] >= before["peak"] + 4 * MB
