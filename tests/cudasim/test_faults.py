"""Faults that are planted, each found: that is what the simulator is for."""

from __future__ import annotations

import pytest
from simulated import built, output, python

pytestmark = built
MODES = pytest.mark.parametrize("mode", ["eager", "lazy"])
CATCH = """
def ends(*steps):
    try:
        for step in steps: step()
        context.synchronize()
    except cuda.Error as error:
        print(str(error).split(": ")[1])
    else:
        print("nothing")
"""
ILLEGAL = "an illegal memory access was encountered"
FAILED = "unspecified launch failure"


def fault(code: str, **settings: str) -> tuple[str, str]:
    """(what the program says of the next call that waits, the simulator's report)."""
    done = python(CATCH + code, **settings)
    return done.stdout.strip(), done.stderr


@MODES
@pytest.mark.parametrize(
    "access",
    ["x[64] = 1", "y[0] = x[64]", "x[-1] = 1", "x[1 << 20] = 1", "*(float *)0 = 1", "y[0] = *(const float *)12345",
     "atomicAdd(x + 64, 1.0f)", "((float4 *)x)[16].x = 1", "((char *)x)[256] = 1"],
)  # fmt: skip
def test_an_access_outside_a_block(access, mode):
    code = f"""
f = kernel('extern "C" __global__ void f(float *y, float *x) {{ if (threadIdx.x == 7) {access}; }}')
x, y = ones(64), ones(64)
ends(lambda: f(y, x, block=(32, 1, 1)))
"""
    said, report = fault(code, MODE=mode)
    assert said == ILLEGAL
    assert "kernel f, block (0, 0, 0), thread (7, 0, 0): invalid" in report


@pytest.mark.parametrize("array", ["__shared__ float s[33]", "extern __shared__ float s[]"])
@pytest.mark.parametrize("access", ["s[t + 33]", "s[t - 1]"])
def test_an_access_outside_a_shared_array(array, access):
    code = f"""
f = kernel('''extern "C" __global__ void f(float *y) {{
  __shared__ float before[5];
  {array};
  __shared__ float after[5];
  const int t = threadIdx.x;
  before[t % 5] = after[t % 5] = 0;
  if (t == 0) {access} = 1;
  __syncthreads();
  y[t] = before[t % 5] + after[t % 5] + s[t];
}}''')
y = ones(32)
ends(lambda: f(y, block=(32, 1, 1), shared=33 * 4))
"""
    said, report = fault(code)
    assert said == ILLEGAL
    assert "shared" in report or "not an address" in report


def test_an_access_after_free():
    code = """
f = kernel('extern "C" __global__ void f(float *x) { x[threadIdx.x] = 1; }')
x = ones(64)
address = np.uint64(int(x))
x.free()
ends(lambda: f(address, block=(32, 1, 1)))
"""
    assert fault(code)[0] == ILLEGAL


def test_an_access_of_host_memory():
    code = """
f = kernel('extern "C" __global__ void f(float *x) { x[threadIdx.x] = 1; }')
host, pinned = np.zeros(64, np.float32), cuda.pagelocked_zeros(64, np.float32)
f(np.uint64(pinned.ctypes.data), block=(32, 1, 1))
context.synchronize()
print(pinned.sum())
ends(lambda: f(np.uint64(host.ctypes.data), block=(32, 1, 1)))
"""
    assert fault(code)[0].splitlines() == ["32.0", ILLEGAL]


def test_a_context_stays_lost():
    code = """
f = kernel('extern "C" __global__ void f(float *x) { x[threadIdx.x] = 1; }')
x, y = ones(16), ones(16)
ends(lambda: f(x, block=(32, 1, 1)))
ends(lambda: f(y, block=(16, 1, 1)))
ends(lambda: cuda.mem_alloc(4))
ends(lambda: read(y, 16))
other = device.make_context()
z = ones(4)
print(read(z, 4).sum())
z.free()
cuda.Context.pop()
"""
    assert fault(code)[0].splitlines() == [ILLEGAL] * 4 + ["4.0"]


TREE = """
f = kernel('''extern "C" __global__ void f(float *y, const float *x) {{
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  {barrier}
  for (int w = 32; w; w >>= 1) {{
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }}
  if (t == 0) y[0] = s[0];
}}''')
x, y = ones(64), ones(1)
f(y, x, block=(64, 1, 1))
print(read(y, 1)[0])
"""


def test_a_missing_barrier_gives_wrong_sums():
    assert output(TREE.format(barrier="__syncthreads();")) == "64.0"
    assert output(TREE.format(barrier="")) != "64.0"


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_a_missing_barrier_is_reported_as_a_race(order):
    assert output(TREE.format(barrier="__syncthreads();"), RACES="1", ORDER=order) == "64.0"
    done = python(TREE.format(barrier=""), RACES="1", ORDER=order)
    assert done.returncode and "a race in shared memory" in done.stderr and FAILED in done.stderr


def test_a_barrier_that_not_all_reach():
    code = """
f = kernel('''extern "C" __global__ void f(float *y) {
  if (threadIdx.x == 0) __ballot_sync(3u, 1); else __syncthreads();
}''')
y = ones(1)
ends(lambda: f(y, block=(64, 1, 1)))
"""
    said, report = fault(code)
    assert said == FAILED and "wait for ever" in report


def test_an_assertion_in_a_kernel():
    code = """
f = kernel('''
#include <assert.h>
#include <stdio.h>
extern "C" __global__ void f(int n) { assert(n > 3); printf("%d\\\\n", n); }''')
f(np.int32(4), block=(1, 1, 1))
ends(lambda: f(np.int32(3), block=(1, 1, 1)))
"""
    said, report = fault(code)
    assert sorted(said.splitlines()) == ["4", FAILED] and "assert(n > 3) failed" in report


def test_shared_memory_is_not_zero():
    code = """
f = kernel('extern "C" __global__ void f(float *y) { __shared__ float s[2]; y[0] = s[1]; s[1] = 0; }')
y = ones(1)
f(y, block=(1, 1, 1)); f(y, block=(1, 1, 1))
print(read(y, 1)[0], np.isfinite(read(cuda.mem_alloc(4), 1)[0]))
"""
    assert output(code) == "nan True"


DOUBLE = """
f = kernel('extern "C" __global__ void f(float *x) { x[threadIdx.x] *= 2; }')
stream = cuda.Stream()
"""


def test_a_result_read_before_the_stream_is_done():
    code = DOUBLE + """
x, host = ones(32), cuda.pagelocked_zeros(32, np.float32)
f(x, block=(32, 1, 1), stream=stream)
cuda.memcpy_dtoh_async(host, x, stream)
early = host[0]
stream.synchronize()
print(early, host[0])
"""
    assert output(code, MODE="lazy") == "0.0 2.0"
    assert output(code, MODE="eager") == "2.0 2.0"


def test_a_query_says_once_that_work_is_not_done():
    code = DOUBLE + """
x, event = ones(32), cuda.Event()
f(x, block=(32, 1, 1), stream=stream)
event.record(stream)
print(event.query(), event.query())
"""
    assert output(code, MODE="lazy") == "False True"


def test_a_host_buffer_changed_too_early():
    code = DOUBLE + """
x, host = ones(32), cuda.pagelocked_zeros(32, np.float32)
host[:] = 5
cuda.memcpy_htod_async(x, host, stream)
host[:] = 9
f(x, block=(32, 1, 1), stream=stream)
stream.synchronize()
print(read(x, 32)[0])
"""
    assert output(code, MODE="lazy") == "18.0"
    assert output(code, MODE="eager") == "10.0"


def test_pageable_memory_may_be_changed_at_once():
    """CUDA stages it before the call returns."""
    code = DOUBLE + """
x, host = ones(32), np.full(32, 5, np.float32)
cuda.memcpy_htod_async(x, host, stream)
host[:] = 9
stream.synchronize()
print(read(x, 32)[0])
"""
    assert output(code, MODE="lazy") == "5.0"


def test_a_host_buffer_freed_too_early():
    code = CATCH + DOUBLE + """
x = ones(32)
def copy():
    host = cuda.pagelocked_zeros(32, np.float32)
    cuda.memcpy_htod_async(x, host, stream)
ends(copy)
"""
    done = python(code, MODE="lazy")
    assert done.stdout.strip() == ILLEGAL and "that was freed" in done.stderr


def test_streams_without_an_event_between_them():
    """Lazy streams run no more than was waited for: what one needs of another has to be said."""
    code = DOUBLE + """
x, other, host = ones(32), cuda.Stream(), cuda.pagelocked_zeros(32, np.float32)
f(x, block=(32, 1, 1), stream=stream)
{wait}
cuda.memcpy_dtoh_async(host, x, other)
other.synchronize()
print(host[0])
"""
    assert output(code.replace("{wait}", ""), MODE="lazy") == "1.0"
    wait = "event = cuda.Event(); event.record(stream); other.wait_for_event(event)"
    assert output(code.replace("{wait}", wait), MODE="lazy") == "2.0"
