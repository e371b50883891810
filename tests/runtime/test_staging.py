"""Host memory on its way to a device: alive and unchanged until it is there; and these checks catch what breaks it."""

from __future__ import annotations

import contextlib
import gc
import threading

import numpy as np
import pytest
from fresh import quiet
from watching import Mark

import tensorx as tx
from tensorx import nn
from tensorx.devices import staging
from tensorx.devices.staging import Staging
from tensorx.errors import DeviceLost, OutOfMemory

SIZES = {"small": 64, "large": staging.STAGED // 4 + 1}


@contextlib.contextmanager
def caught(text):
    with pytest.raises(AssertionError, match=text):
        yield


def reuse(nbytes):
    """Take, and write over, what the pools have of this size."""
    return [tx.full((nbytes // 4,), -1.0, device="cpu") for _ in range(8)]


def changed_after(watch, other, count, early):
    """The source is overwritten, then freed, right after the call."""
    source = tx.arange(count, dtype=tx.float32, device="cpu")
    moved = source.to(other, non_blocking=early)
    source.fill_(-1.0)
    del source
    reuse(4 * count)
    watch.finish()
    return moved


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_source_may_change(watch, other, size, early):
    count = SIZES[size]
    moved = changed_after(watch, other, count, early)
    assert moved.cpu().tolist() == list(range(count))


def temporaries(watch, other):
    """Host memory of the library's own, which nobody else keeps: made by `tensor`, by strided and by converted copies."""
    source = tx.arange(600.0, device="cpu").view(20, 30)
    made = [
        tx.tensor([[1.5] * 40] * 3, device=other),
        source[:, ::2].to(other),
        source[3].expand(9, 30).to(other, non_blocking=True),
        source.to(other, tx.float16),
        tx.as_tensor(np.arange(5, dtype=np.float32), device=other),
        tx.zeros(20, 30, device=other).copy_(source[:, 3:4], non_blocking=True),
    ]
    gc.collect()
    reuse(600 * 4)
    assert watch.copies or other.runtime.synchronous
    watch.finish()
    return made


def test_temporaries_live(watch, other):
    made = temporaries(watch, other)
    assert made[0].tolist() == [[1.5] * 40] * 3 and made[4].tolist() == [0, 1, 2, 3, 4]
    assert made[1].cpu().tolist() == [[30.0 * i + 2 * j for j in range(15)] for i in range(20)]


def lent(watch, other):
    """Pinned memory that dies right after the call."""
    source = tx.arange(3000.0, device="cpu").pin_memory(other)
    moved = source.to(other, non_blocking=True)
    del source
    again = tx.empty(3000, device="cpu").pin_memory(other).fill_(-1.0)
    watch.finish()
    return moved, again


def test_pinned_memory_lives(watch, other):
    moved, again = lent(watch, other)
    assert moved.cpu().tolist() == list(range(3000)) and again[0].item() == -1


def test_pinned_memory_is_not_staged(watch, other):
    """The caller owns the hazard: what changes during the copy is what these checks see."""
    source = tx.arange(64.0, device="cpu").pin_memory(other)
    source.to(other, non_blocking=False)
    source[0] = 5.0
    watch.finish()
    source.to(other, non_blocking=True)
    source[0] = 6.0
    if source.is_pinned():
        with caught("changed"):
            watch.finish()
    else:
        watch.finish()


# tests of these tests: with a planted fault the check fails


@pytest.mark.parametrize("size", SIZES)
def test_a_source_that_is_not_put_aside_is_caught(watch, other, size, monkeypatch):
    monkeypatch.setattr(Staging, "_aside", lambda self, array: array)
    with caught("changed"):
        changed_after(watch, other, SIZES[size], early=True)


@pytest.mark.parametrize("program", [temporaries, lambda w, o: changed_after(w, o, 64, False)])
def test_memory_that_is_not_kept_is_caught(watch, other, program, monkeypatch):
    monkeypatch.setattr(Staging, "_keep", lambda self, event, source: None)
    with caught("freed"):
        program(watch, other)


def test_memory_that_is_let_go_of_too_early_is_caught(watch, other, monkeypatch):
    monkeypatch.setattr(Mark, "done", True)
    with caught("freed"):
        temporaries(watch, other)


def stalled(runtime):
    """Put a command into an OpenCL queue that waits until the function that is returned is called."""
    import pyopencl as cl

    gate = cl.UserEvent(runtime._context)
    cl.enqueue_barrier(runtime._queue, wait_for=[gate])
    return lambda: gate.set_status(0)


def behind_a_stalled_queue(device):
    """Sources that change while their copies cannot have begun; what arrives."""
    sources = [tx.arange(64.0, device="cpu"), tx.arange(1 << 19, dtype=tx.int64, device="cpu")]
    let = stalled(device.runtime)
    try:
        moved = [s.to(device, non_blocking=True) for s in sources] + [tx.tensor([4.0, 5.0], device=device)]
        for s in sources:
            s.fill_(-1)
        reuse(8)
    finally:
        let()
    assert all(m.cpu().tolist() == list(range(m.numel())) for m in moved[:2])
    assert moved[2].tolist() == [4.0, 5.0]


def test_a_stalled_queue_reads_the_values_of_the_call(device, monkeypatch):
    """On drivers whose queues can be held up: no watching, the copies themselves are late."""
    if device.type != "opencl":
        return
    behind_a_stalled_queue(device)
    monkeypatch.setattr(Staging, "_aside", lambda self, array: array)
    with pytest.raises(AssertionError):
        behind_a_stalled_queue(device)


def test_copies_under_way_are_bounded(watch, other, monkeypatch):
    """Above the limit the oldest is waited for; what is done is let go of."""
    monkeypatch.setattr(staging, "UNDER_WAY", 1000)
    kept = other.runtime.staging._kept
    moved = [tx.full((50,), float(i), device="cpu").to(other, non_blocking=True) for i in range(12)]
    held = len(kept)
    assert held == (0 if other.runtime.synchronous else 5)
    watch.copies = watch.copies[len(watch.copies) - held :]
    watch.finish()
    assert not kept and [m[0].item() for m in moved] == list(range(12))


def test_waiting_lets_go(other):
    x = tx.ones(100, device="cpu").to(other)
    tx.synchronize(other)
    assert not other.runtime.staging._kept
    y = tx.ones(100, device="cpu").to(other)
    assert y.sum().device is x.device and y.cpu().tolist() == [1.0] * 100
    assert not other.runtime.staging._kept


def test_a_copy_that_failed_is_reported_once(watch, other):
    class Failed(Mark):
        @property
        def done(self):
            raise DeviceLost("status -5")

    other.runtime.staging._keep(Failed(), np.zeros(8, np.uint8))
    with pytest.raises(DeviceLost, match="status -5"):
        tx.synchronize(other)
    tx.synchronize(other)
    assert tx.ones(3, device="cpu").to(other).cpu().tolist() == [1.0] * 3


def test_threads_share_a_device(other):
    wrong = []

    def work(i):
        for k in range(40):
            x = tx.full((100 * (i + 1),), float(100 * i + k), device="cpu")
            y = x.to(other, non_blocking=bool(k % 2))
            x.fill_(-1.0)
            if y.cpu()[-1].item() != 100 * i + k:
                wrong.append((i, k))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pinned_memory(device, other):
    """What a driver offers; without an accelerator, and where a driver has none, plain memory and no complaint."""
    x = tx.arange(6.0, device="cpu").view(2, 3)
    p = x.t().pin_memory(other)
    assert p.is_pinned() == (other.runtime.pin(64) is not None) == p.untyped_storage().is_pinned()
    assert p.tolist() == x.t().tolist() and p.stride() == (1, 3) and p[1:].is_pinned() == p.is_pinned()
    assert p.pin_memory(other) is p if p.is_pinned() else x.pin_memory(other) is x
    assert not (p + 1).is_pinned() and not x.is_pinned()
    assert tx.ones(0).pin_memory(other).numel() == 0
    leaf = tx.ones(2, device="cpu", requires_grad=True)
    (leaf.pin_memory(other) * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]
    if device.type != "cpu":
        with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
            tx.ones(2, device=device).pin_memory()
        with pytest.raises(TypeError, match="only CPU memory can be pinned"):
            tx.ones(2, device=device).untyped_storage().pin_memory()


MADE = {
    "empty": lambda k: tx.empty(2, **k),
    "zeros": lambda k: tx.zeros(2, **k),
    "full": lambda k: tx.full((2,), 3, **k),
    "zeros_like": lambda k: tx.zeros_like(tx.ones(2), **k),
    "arange": lambda k: tx.arange(3, **k),
    "linspace": lambda k: tx.linspace(0, 1, 3, **k),
    "eye": lambda k: tx.eye(2, **k),
    "logspace": lambda k: tx.logspace(0, 1, 3, **k),
    "rand_like": lambda k: tx.rand_like(tx.ones(2), **k),
    "rand": lambda k: tx.rand(2, **k),
    "randint": lambda k: tx.randint(0, 5, (2,), **k),
    "randperm": lambda k: tx.randperm(4, **k),
    "tensor": lambda k: tx.tensor([1, 2], **k),
    "hann_window": lambda k: tx.hann_window(4, **k),
    "new_zeros": lambda k: tx.ones(1, device="cpu").new_zeros(2, **k),
}


def pins(device):
    """Whether the device is an accelerator whose driver has pinned memory."""
    return device.type != "cpu" and device.runtime.pin(64) is not None


@pytest.mark.parametrize("name", MADE)
def test_factories_pin(device, name):
    """For the accelerator, which the default device is here; there is none on the cpu's lanes."""
    with device:
        made = MADE[name]({"device": "cpu", "pin_memory": True})
    assert made.is_pinned() == pins(device)


@pytest.mark.parametrize("workers", [0, 1])
def test_loaders_pin(device, workers):
    if workers and device.type != "cpu":
        return  # a device that is open does not survive the fork
    data = [{"x": tx.full((2,), float(i), device="cpu"), "name": str(i)} for i in range(4)]
    with device:
        batches = list(tx.data.DataLoader(data, batch_size=2, pin_memory=True, num_workers=workers))
    assert [b["x"].is_pinned() for b in batches] == [pins(device)] * 2
    assert [b["x"].to(device, non_blocking=True).tolist() for b in batches] == [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
    assert batches[1]["name"] == ["2", "3"]
    with device:
        packed = nn.utils.rnn.pack_sequence([tx.ones(2, device="cpu")]).pin_memory()
    assert packed.is_pinned() == pins(device)


def test_too_much_to_pin(other, monkeypatch):
    """Out of pinned memory: `pin_memory` says so, copies do without."""
    if other.runtime.pin(64) is None:
        return

    def refuse(nbytes):
        raise OutOfMemory("no room")

    monkeypatch.setattr(other.runtime, "pin", refuse)
    other.runtime.staging.empty()
    with pytest.raises(OutOfMemory):
        tx.ones(1 << 20, device="cpu").pin_memory(other)
    x = tx.full((1 << 18,), 2.0, device="cpu")
    y = x.to(other)
    x.fill_(0)
    assert y.cpu().sum().item() == 2 << 18


LEAVES = """
x = tx.arange(300_000.0)
p = x.pin_memory(device)
def send():
    return [x.to(device), x[::2].to(device), p.to(device, non_blocking=True), tx.tensor([1.0] * 1000, device=device)]
"""
FORKS = """
sent = send()
pid = os.fork()
if pid == 0:
    try:
        if device != "cpu":
            p.to(device, non_blocking=True)
    except DeviceError as error:
        assert "fork" in str(error)
    else:
        assert device == "cpu"
    assert p[-1].item() == 299_999
    del sent, p
    gc.collect()
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert sent[2][-1].item() == 299_999
"""
EXITS = """
import builtins
builtins.kept = send(), p  # outlives the modules, with copies under way
send()
"""


@pytest.mark.parametrize("end", [FORKS, EXITS], ids=["fork", "exit"])
def test_processes_end_in_peace(device, request, end):
    quiet(LEAVES + end, request.node.callspec.params["device"])


def test_synchronous_copies(device, request):
    """TENSORX_SYNC=1: nothing is under way after a call."""
    code = LEAVES + "send(); assert not x.to(device).device.runtime.staging._kept"
    quiet(code, request.node.callspec.params["device"], TENSORX_SYNC="1")
