"""Pooled host memory."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

from tensorx.devices.pool import ALIGN, Pool, adopt

MB = 1 << 20


def test_aligned_and_large_enough():
    pool = Pool(64 * MB)
    for n in (0, 1, 63, 64, 65, 1000, 4097, 32768, 32769, 100_000, 3 * MB + 1):
        buffer = pool.alloc(n)
        assert (buffer.shape, buffer.dtype) == ((n,), np.uint8)
        assert buffer.ctypes.data % ALIGN == 0
        assert buffer._as_parameter_ == buffer.ctypes.data
        buffer[:] = 255
        assert np.ndarray((0, 3), np.float32, buffer).shape == (0, 3)


def test_blocks_do_not_overlap():
    pool = Pool(64 * MB)
    buffers = [pool.alloc(n) for n in (100, 64, 1000, 100, 5000, 32000, 32000, 70000)]
    for i, buffer in enumerate(buffers):
        buffer[:] = i
    assert all((buffer == i).all() for i, buffer in enumerate(buffers))


def test_a_dead_block_is_used_again():
    pool = Pool(64 * MB)
    buffer = pool.alloc(MB)
    address = buffer._as_parameter_
    del buffer
    assert pool.stats()["cached"] == MB
    assert pool.alloc(MB - 100)._as_parameter_ == address


@pytest.mark.parametrize(
    "view",
    [lambda b: b.view(np.float32)[1:], lambda b: np.ndarray((4, 4), np.float32, b).T[1:], np.asarray, lambda b: b[5:]],
)
def test_a_view_keeps_the_block(view):
    pool = Pool(64 * MB)
    buffer = pool.alloc(64)
    alive = view(view(buffer) if view is np.asarray else buffer)
    del buffer
    assert pool.stats()["used"] == 64
    del alive
    gc.collect()
    assert pool.stats()["used"] == 0


def test_limit_then_room_again():
    pool = Pool(4 * MB)
    held = [pool.alloc(MB) for _ in range(4)]
    assert all(buffer is not None for buffer in held)
    assert pool.alloc(MB) is None
    held.pop()
    assert pool.alloc(MB) is not None
    held.clear()
    pool.empty()
    assert pool.stats() == {"used": 0, "cached": 0, "peak": 4 * MB, "limit": 4 * MB}
    assert pool.alloc(4 * MB) is not None


def test_the_cache_is_bounded():
    pool = Pool(16 * MB)
    held = [pool.alloc(MB) for _ in range(16)]
    held.clear()
    assert pool.stats()["cached"] <= pool.cap


def test_threads():
    pool = Pool(256 * MB)
    wrong = []

    def work(mark):
        rng = np.random.default_rng(mark)
        mine = []
        for n in rng.integers(1, 60_000, 300):
            buffer = pool.alloc(int(n))
            buffer[:] = mark
            mine.append(buffer)
            if len(mine) > 10:
                done = mine.pop(int(rng.integers(10)))
                if not (done == mark).all():
                    wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pool.stats()["used"] == 0


def test_adopt_shares():
    array = np.zeros((3, 4), np.float32, order="F")
    buffer = adopt(array)
    buffer.view(np.float32)[1] = 5
    assert array[1, 0] == 5
    assert buffer._as_parameter_ == array.ctypes.data
    assert adopt(np.empty((0, 3))).size == 0
    with pytest.raises(ValueError, match="adopt"):
        adopt(np.zeros((4, 4))[:, ::2])


def test_garbage_keeps_its_memory_until_its_finalizers_have_run():
    pool, seen = Pool(64 * MB), []

    class Loop:
        def __del__(self):
            others = [pool.alloc(4096) for _ in range(4)]
            for other in others:
                other[:] = 0
            seen.append(int(self.buffer.sum()))

    for order in (0, 1):
        for _ in range(5):
            loop = Loop() if order else None
            buffer = pool.alloc(4096)
            buffer[:] = 1
            loop = loop or Loop()
            loop.me, loop.buffer = loop, buffer
            del loop, buffer
        gc.collect()
    assert seen == [4096] * 10
    assert pool.stats()["used"] == 0


def test_a_dying_buffer_runs_no_python_code():
    """Ctrl-C there would be lost."""
    pool = Pool(64 * MB)
    calls = []
    buffer = pool.alloc(1000)
    sys.setprofile(lambda frame, event, arg: calls.append(event))
    del buffer
    sys.setprofile(None)
    assert "call" not in calls
