"""What CUDA alone can get wrong: contexts, streams, host memory, a broken card; and that these tests would notice.

Each program of RIGHT runs in a process of its own and passes. Under the simulator (tests/cudasim) it runs once more
with lazy streams, and with the faults of PLANTED, each of which it must notice.
"""

from __future__ import annotations

import pytest
from device_programs import python

from tensorx.devices import registry

REASON = registry.backend("cuda").available()
DEVICES = [] if REASON else registry.backend("cuda").devices()
SIMULATED = bool(DEVICES) and "cudasim" in DEVICES[0].driver
MODES = ["eager", "lazy"] if SIMULATED else ["eager"]

pytestmark = pytest.mark.skipif(bool(REASON), reason=f"cuda: {REASON}")

START = """
import gc, os, sys, threading
import numpy as np
import pycuda.driver as drv
from device_programs import add_kernel, add_source, download, grid, upload
from tensorx.devices import cuda_device, cuda_program, registry, staging
from tensorx.errors import DeviceLost, TensorXError
{plant}
dev = registry.resolve("cuda:0").runtime
none = lambda: drv.Context.get_current() is None
"""

RIGHT = {
    "balance": """
kernel = add_kernel(dev)
x = upload(dev, np.zeros(64, np.float32))
uses = [
    lambda: dev.alloc(100), lambda: dev.copy_in(x, 0, np.ones(4)), lambda: dev.copy(x, 0, x, 128, 64),
    lambda: dev.launch(kernel, grid(64), (x, 0, x, 0, 1.0, 64)), dev.synchronize, lambda: dev.event().wait(),
    lambda: dev.alloc(1 << 50), lambda: dev.build(type("S", (), {"text": "no"})), dev.memory_stats, dev.empty_cache,
    lambda: dev.launch(kernel, grid(1 << 20), (x, 0, x, 0, "no number", 64)),
    lambda: dev.launch(kernel, type("G", (), {"global_size": (4096,), "local_size": (4096,)}), (x, 0, x, 0, 1.0, 64)),
]
def all_uses():
    failed = 0
    for use in uses:
        try:
            use()
        except Exception as error:
            failed += 1
            getattr(error, "path", None) and os.unlink(error.path)
        assert none(), use
    assert failed == 4, failed
all_uses()
thread = threading.Thread(target=all_uses)
thread.start()
thread.join()
""",
    "another library": """
other = drv.Device(0).make_context()
theirs = drv.mem_alloc(1 << 10)
kernel = add_kernel(dev)
x = upload(dev, np.zeros(64, np.float32))
dev.launch(kernel, grid(64), (x, 0, x, 0, 1.0, 64))
assert (download(dev, x, 64) == 1).all()
assert drv.Context.get_current() == other
drv.memcpy_htod(theirs, np.arange(256, dtype=np.float32))
back = np.empty(256, np.float32)
drv.memcpy_dtoh(back, theirs)
assert (back == np.arange(256)).all()
def elsewhere():
    dev.launch(kernel, grid(64), (x, 0, x, 0, 1.0, 64))
    assert none()
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert (download(dev, x, 64) == 2).all()
theirs.free()
other.pop()
other.detach()
""",
    "host memory": """
kernel = add_kernel(dev)
for n in (1, 1000, 1_000_000):
    x = np.arange(n, dtype=np.float32)
    a, b = dev.alloc(4 * n), dev.alloc(4 * n)
    turns = 70 if n < 1_000_000 else 3
    for _ in range(turns):
        dev.staging.send(a, 0, x, lent=False, early=True)
        x += 1  # the copy that was asked for has the old values
    dev.launch(kernel, grid(n), (b, 0, a, 0, 1.0, n))
    del a, x
    again = dev.alloc(4 * n)  # the block that the kernel reads, perhaps
    dev.staging.send(again, 0, np.zeros(n, np.float32), lent=False, early=True)
    got = download(dev, b, n)
    assert (got == np.arange(n) + turns).all(), (n, got)
x = np.arange(100, dtype=np.float32)
dev.copy_in(b, 0, x)
x += 1
assert (download(dev, b, 100) == np.arange(100)).all()
""",
    "order": """
n = 100_000
kernel = add_kernel(dev)
x = upload(dev, np.zeros(n, np.float32))
y = dev.alloc(4 * n)
for turn in range(1, 30):
    dev.launch(kernel, grid(n), (x, 0, x, 0, 1.0, n))
    dev.copy(y, 0, x, 0, 4 * n)
    assert (download(dev, y, n) == turn).all(), turn
    there = dev.staging.pinned(4 * n)  # the card itself writes there, after the call returns if nobody waits
    dev.copy_out(x, 0, there)
    assert (there.view(np.float32) == turn).all()
start = dev.event()
dev.launch(kernel, grid(n), (x, 0, x, 0, 1.0, n))
end = dev.event()
assert 0 <= start.elapsed(end) < 1e5 and end.done
""",
    "exit": """
import builtins
kernel = add_kernel(dev)
n = 10_000
kept = [upload(dev, np.zeros(n, np.float32)) for _ in range(5)]
free = dev.alloc(1 << 20)
del free
event = dev.event()
dev.launch(kernel, grid(n), (kept[0], 0, kept[1], 0, 1.0, n))
class Cycle: pass
cycle = Cycle()
cycle.me, cycle.buffer, cycle.event = cycle, dev.alloc(1000), event
builtins.kept = kept, cycle, event, kernel
""",
}
#: fault -> (the program that must notice it, what is planted). A card finds stray accesses only in other ways.
PLANTED = {
    "push without pop after an error": ("balance", """
def leave(self, kind, error, trace):
    cuda_program.GATE.__exit__()
    if error is None:
        self._pop()
cuda_program.Context.__exit__ = leave"""),
    "push without pop ends the process": ("exit", """
cuda_program.Context._leave = lambda self: None
cuda_program.Context.leave_all = lambda self: None"""),
    "pop without push": ("another library", """
cuda_program.Context.__enter__ = lambda self: cuda_program.GATE.__enter__()"""),
    "host buffer freed too early": ("host memory", """
staging.Staging._keep = lambda self, event, source: None
staging.HostPool._give_back = lambda self, block, ref: self._forget(block)
staging.UNDER_WAY = 1 << 40
import tensorx.devices.pool as pool
pool.BOUNDED = 0  # every block goes by _give_back"""),
    "host buffer used again too early": ("host memory", """
staging.Staging._keep = lambda self, event, source: None"""),
    "read before the stream is done": ("order", """
def copy_out(self, buffer, byte_offset, array):
    with self._context:
        drv.memcpy_dtoh_async(cuda_device._bytes(array), buffer.address + byte_offset, self._stream)
cuda_device.Cuda.copy_out = copy_out"""),
    "pooled block alive at exit": ("exit", """
cuda_device.Cuda.close = lambda self: None
cuda_program.Keeper.owner = lambda self, thing: thing"""),
}  # fmt: skip


def run(program: str, mode: str, plant: str = ""):
    return python(START.format(plant=plant) + RIGHT[program], CUDASIM_MODE=mode, timeout=120)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", RIGHT)
def test_it_is_right(program, mode):
    done = run(program, mode)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.skipif(not SIMULATED, reason="faults are planted under the simulator")
@pytest.mark.parametrize("fault", PLANTED)
def test_the_fault_would_be_noticed(fault):
    program, plant = PLANTED[fault]
    done = run(program, "lazy", plant)
    assert done.returncode != 0, f"{program} passes with: {plant}"
    assert "NameError" not in done.stderr and "AttributeError" not in done.stderr, done.stderr


LOST = """
import tensorx as tx
kernel = add_kernel(dev)
n = 4096
x, other = upload(dev, np.ones(n, np.float32)), tx.ones(3, device="cuda")
said = []
def attempt(use):
    try:
        use()
    except DeviceLost as error:
        said.append(str(error))
def spoil():
    dev.launch(kernel, grid(n), (x, 1 << 40, x, 0, 1.0, n))
    dev.synchronize()
thread = threading.Thread(target=lambda: attempt(spoil))
thread.start()
thread.join()
attempt(lambda: other + 1)
attempt(lambda: dev.copy_out(x, 0, np.empty(n, np.float32)))
attempt(lambda: dev.alloc(4))
assert len(said) == 4 and "is lost" in said[0] and all("was lost" in text for text in said[1:]), said
assert (tx.ones(3) + 1).tolist() == [2, 2, 2]
del x
gc.collect()
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_lost_device(mode):
    """The call that notices raises, later ones too; the cpu goes on; only the simulator's report is on stderr."""
    done = python(START.format(plant="") + LOST, CUDASIM_MODE=mode)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("cudasim: ")] == []


def test_no_card():
    if SIMULATED:
        done = python("from tensorx.devices import registry; registry.resolve('cuda')", CUDASIM_DEVICES="0")
        last = done.stderr.splitlines()[-1]
        assert last.startswith("tensorx.errors.BackendUnavailable: device: backend 'cuda' is not available here"), last


def test_the_ordered_compiler_must_work():
    done = python(START.format(plant=""), TENSORX_NVCC="/bin/false")
    assert done.stderr.splitlines()[-1].startswith(
        "tensorx.errors.DeviceError: TENSORX_NVCC: must name an nvcc that runs"
    )


def test_the_compatible_names_tell_of_the_card():
    import tensorx as torch

    assert torch.cuda.is_available() and torch.cuda.device_count() == len(DEVICES)
    properties = torch.cuda.get_device_properties(0)
    assert (properties.name, properties.major) == (DEVICES[0].name, torch.cuda.get_device_capability()[0])
    assert properties.major >= 5 and properties.multi_processor_count > 0
    before = torch.cuda.memory_allocated()
    x = torch.ones(1 << 18, device="cuda")
    assert x.is_cuda and torch.cuda.memory_allocated() - before >= 1 << 20
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    x = x * 2
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total == properties.total_memory
