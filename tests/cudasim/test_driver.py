"""The stand-in driver under the real PyCUDA: contexts, memory, streams, events, threads, the end of a process."""

from __future__ import annotations

import pytest
from simulated import built, output, python

pytestmark = built
MODES = pytest.mark.parametrize("mode", ["eager", "lazy"])
SCALE = """
scale = kernel('extern "C" __global__ void f(float *x, float by, int n)'
               '{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }')
def enlarge(x, by, n, stream=None):
    scale(x, np.float32(by), np.int32(n), block=(64, 1, 1), grid=((n + 63) // 64, 1), stream=stream)
"""


def test_the_device_says_what_it_is():
    code = """
a = cuda.device_attribute
print(device.name(), *device.compute_capability(), device.total_memory() >> 20, device.get_attribute(a.WARP_SIZE))
print(device.get_attribute(a.MAX_GRID_DIM_Y), device.get_attribute(a.MAX_THREADS_PER_BLOCK), cuda.Device.count())
"""
    assert output(code, ARCH="sm_75", MEMORY="64M") == "cudasim 7 5 64 32\n65535 1024 1"


def test_without_a_device():
    done = python("", DEVICES="0")
    assert "no CUDA-capable device is detected" in done.stderr


def test_contexts_are_a_stack_for_each_thread():
    code = """
other = device.make_context()
assert cuda.Context.get_device() == device
cuda.Context.pop()
seen = []
def work():
    try:
        cuda.mem_alloc(4)
    except cuda.LogicError as error:
        seen.append(str(error))
    context.push()
    seen.append(cuda.Context.get_device() == device)
    cuda.Context.pop()
thread = threading.Thread(target=work)
thread.start(), thread.join()
print(*seen)
other.push(); other.pop(); other.detach()
"""
    assert output(code) == "cuMemAlloc failed: invalid device context True"


def test_memory_is_counted_and_ends():
    code = """
free, total = cuda.mem_get_info()
block = cuda.mem_alloc(3 << 20)
assert free - cuda.mem_get_info()[0] == 3 << 20
try:
    cuda.mem_alloc(2 << 20)
except cuda.MemoryError as error:
    print(error)
block.free()
assert cuda.mem_get_info() == (free, total) == (4 << 20, 4 << 20)
blocks = [cuda.mem_alloc(1 << 20) for _ in range(4)]
"""
    assert output(code, MEMORY="4M") == "cuMemAlloc failed: out of memory"


@MODES
def test_pools(mode):
    code = SCALE + """
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool
pool, pinned = DeviceMemoryPool(), PageLockedMemoryPool()
for turn in range(3):
    block = pool.allocate(1000)
    host = pinned.allocate((250,), np.float32)
    host[:] = np.arange(250)
    cuda.memcpy_htod(block, host)
    enlarge(block, 2, 250)
    assert (read(block, 250) == 2 * np.arange(250)).all()
    del block, host
print(pool.active_blocks, pool.held_blocks, pinned.held_blocks)
pool.stop_holding(), pinned.stop_holding()
"""
    assert output(code, MODE=mode) == "0 1 1"


@MODES
def test_streams_and_events(mode):
    code = SCALE + """
one, two = cuda.Stream(), cuda.Stream()
n = 1000
x = ones(n)
host = cuda.pagelocked_empty(n, np.float32)
start, end, between = cuda.Event(), cuda.Event(), cuda.Event(cuda.event_flags.DISABLE_TIMING)
start.record(one)
enlarge(x, 3, n, one)
between.record(one)
two.wait_for_event(between)
enlarge(x, 5, n, two)
cuda.memcpy_dtoh_async(host, x, two)
end.record(two)
end.synchronize()
assert (host == 15).all() and end.query() and start.time_till(end) >= 0
enlarge(x, 2, n, one)
assert (read(x, n) == 30).all()  # the default stream waits for the others
enlarge(x, 2, n)
one.synchronize(), context.synchronize()
assert (read(x, n) == 60).all()
try:
    start.time_till(between)
except cuda.LogicError as error:
    print(error)
"""
    assert output(code, MODE=mode) == "cuEventElapsedTime failed: invalid resource handle"


@MODES
def test_eight_threads(mode):
    code = SCALE + """
x = ones(64)
lines = [ones(640) for _ in range(8)]
def work(mine):
    context.push()
    stream = cuda.Stream()
    for _ in range(20):
        enlarge(mine, 2, 640, stream)
        stream.synchronize()
    del stream
    cuda.Context.pop()
threads = [threading.Thread(target=work, args=[line]) for line in lines]
[thread.start() for thread in threads], [thread.join() for thread in threads]
assert all((read(line, 640) == 2**20).all() for line in lines)
"""
    output(code, MODE=mode)


@MODES
def test_copies_and_fills(mode):
    code = """
x = cuda.mem_alloc(1000)
cuda.memset_d8(x, 7, 1000)
cuda.memset_d16(int(x) + 10, 0x1234, 5)
cuda.memset_d32(int(x) + 100, 0xdeadbeef, 10)
y = cuda.mem_alloc(1000)
cuda.memcpy_dtod(y, x, 1000)
got = read(y, 1000, np.uint8)
want = np.full(1000, 7, np.uint8)
want[10:20], want[100:140] = np.tile([0x34, 0x12], 5), np.tile([0xef, 0xbe, 0xad, 0xde], 10)
assert (got == want).all()
for bad in (lambda: cuda.memcpy_dtod(y, x, 1001), lambda: cuda.memset_d8(int(x) + 999, 0, 2),
            lambda: cuda.memcpy_htod(int(x) - 256, np.zeros(4)), lambda: cuda.mem_alloc(0)):
    try:
        bad()
    except cuda.LogicError as error:
        assert "invalid argument" in str(error)
    else:
        raise AssertionError
pitched, pitch = cuda.mem_alloc_pitch(40, 8, 4)
a = np.arange(80, dtype=np.float32).reshape(8, 10)
copy = cuda.Memcpy2D()
copy.set_src_host(a), copy.set_dst_device(pitched)
copy.width_in_bytes = copy.src_pitch = 40
copy.dst_pitch, copy.height = pitch, 8
copy(aligned=True)
b = np.empty_like(a)
copy = cuda.Memcpy2D()
copy.set_src_device(pitched), copy.set_dst_host(b)
copy.width_in_bytes = copy.dst_pitch = 40
copy.src_pitch, copy.height = pitch, 8
copy(aligned=True)
assert (a == b).all()
"""
    output(code, MODE=mode)


def test_launches_that_a_card_refuses():
    code = """
f = kernel('extern "C" __global__ __launch_bounds__(64) void f(int *x) {}')
x = zeros(4)
for options in ({"block": (1025, 1, 1)}, {"block": (1, 1, 65)}, {"block": (1, 1, 1), "grid": (1, 65536)},
                {"block": (1, 1, 1), "grid": (0, 1)}, {"block": (128, 1, 1)}, {"block": (1, 1, 1), "shared": 50000}):
    try:
        f(x, **options)
    except cuda.Error as error:
        print(str(error).split(": ")[1])
try:
    f(block=(1, 1, 1))
except cuda.Error as error:
    print(str(error).split(": ")[1])
f.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000)
f(x, block=(64, 1, 1), shared=50000)
context.synchronize()
print(f.get_attribute(cuda.function_attribute.MAX_THREADS_PER_BLOCK))
"""
    refused = ["invalid argument"] * 4 + ["too many resources requested for launch"] + ["invalid argument"] * 2
    assert output(code).splitlines() == [*refused, "64"]


def test_a_module_that_is_none():
    code = """
for data in (b"not a module at all, but long enough to have no ELF header" * 4, open("/bin/true", "rb").read()):
    try:
        cuda.module_from_buffer(data)
    except cuda.LogicError as error:
        print(str(error).splitlines()[0])
try:
    kernel('extern "C" __global__ void f() {}', "g")
except cuda.LogicError as error:
    print(error)
"""
    first, second, third = output(code).splitlines()
    assert "device kernel image is invalid" in first and "cuModuleLoadDataEx failed" in second
    assert third == "cuModuleGetFunction failed: named symbol not found"


def test_an_unbalanced_push_is_found_at_exit():
    """As on a card: PyCUDA ends the process when a context is still current."""
    done = python("atexit._clear()")
    assert done.returncode == -6 and "context stack was not empty" in done.stderr


def test_a_pooled_block_alive_at_exit_is_found():
    done = python("from pycuda.tools import DeviceMemoryPool\nkeep = DeviceMemoryPool().allocate(64)\n")
    assert done.returncode or done.stderr
