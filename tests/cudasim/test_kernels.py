"""CUDA C++ on fibers: shared memory, barriers, warp functions, atomics, narrow floats, conversions."""

from __future__ import annotations

import pytest
from simulated import built, output

pytestmark = built
ORDERS = pytest.mark.parametrize("order", ["forward", "reverse"])


@ORDERS
def test_reductions(order):
    """A tree in shared memory, shuffles in a warp, an atomic for the rest; static and dynamic arrays."""
    code = """
m = module('''
__global__ void tree(float *y, const float *x) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int w = 128; w; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void warps(float *y, const float *x) {
  extern __shared__ float part[];
  float v = x[threadIdx.x];
  for (int w = 16; w; w >>= 1) v += __shfl_down_sync(0xffffffffu, v, w);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(y, part[threadIdx.x]);
}''')
x = np.arange(1024, dtype=np.float32)
y = zeros(4)
m.get_function("tree")(y, cuda.to_device(x), block=(256, 1, 1), grid=(4, 1))
assert (read(y, 4) == x.reshape(4, 256).sum(1)).all()
y = zeros(1)
m.get_function("warps")(y, cuda.to_device(x), block=(256, 1, 1), grid=(1, 1), shared=32)
assert read(y, 1) == x[:256].sum()
"""
    output(code, ORDER=order, RACES="1")


def test_indices_of_three_dimensions():
    code = """
f = kernel('''extern "C" __global__ void f(int *y) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int size = blockDim.x * blockDim.y * blockDim.z;
  y[block * size + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
    blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
}''')
y = zeros(5 * 3 * 2 * 4 * 3 * 2, np.int32)
f(y, block=(4, 3, 2), grid=(5, 3, 2))
got = read(y, 720, np.int32).reshape(2, 3, 5, 2, 3, 4)
at = np.indices(got.shape)
assert (got == at[2] + 10 * at[1] + 100 * at[0] + 1000 * at[5] + 10000 * at[4] + 100000 * at[3]).all()
"""
    output(code)


@ORDERS
def test_votes_and_shuffles(order):
    code = """
f = kernel('''extern "C" __global__ void f(unsigned *y) {
  const unsigned t = threadIdx.x;
  unsigned v[8];
  v[0] = __ballot_sync(0xffffffffu, t % 3 == 0);
  v[1] = __any_sync(0xffffffffu, t == 40) * 2 + __all_sync(0xffffffffu, t < 64);
  v[2] = __shfl_sync(0xffffffffu, t, 5);
  v[3] = __shfl_xor_sync(0xffffffffu, t, 3);
  v[4] = __shfl_up_sync(0xffffffffu, t, 2, 8);
  v[5] = __shfl_down_sync(0xffffffffu, t, 2, 8);
  v[6] = (unsigned)__shfl_sync(0xffffffffu, 1.5 * t, t + 1, 16);
  v[7] = t % 2 ? __shfl_sync(0xaaaaaaaau, t, 31) : __shfl_sync(0x55555555u, t, 0);
  for (int i = 0; i < 8; ++i) y[t * 8 + i] = v[i];
}''')
y = zeros(64 * 8, np.uint32)
f(y, block=(64, 1, 1))
got = read(y, 512, np.uint32).reshape(64, 8).T
t = np.arange(64)
lane, first = t % 32, t // 32 * 32
ballots = [sum(1 << i for i in range(32) if (base + i) % 3 == 0) for base in (0, 32)]
assert (got[0] == np.repeat(ballots, 32)).all()
assert (got[1] == np.where(t < 32, 1, 3)).all()
assert (got[2] == first + 5).all() and (got[3] == first + (lane ^ 3)).all()
assert (got[4] == np.where(t % 8 < 2, t, t - 2)).all() and (got[5] == np.where(t % 8 > 5, t, t + 2)).all()
assert (got[6] == np.floor(1.5 * (t // 16 * 16 + (t + 1) % 16))).all()
assert (got[7] == np.where(t % 2, first + 31, first)).all()
"""
    output(code, ORDER=order)


def test_part_of_a_warp():
    """Lanes that have returned, and those that do not exist, are not waited for."""
    code = """
f = kernel('''extern "C" __global__ void f(int *y) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  y[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, 1));
  __syncwarp();
}''')
y = zeros(48, np.int32)
f(y, block=(48, 1, 1))
assert (read(y, 48, np.int32) == [32] * 32 + [8] * 8 + [0] * 8).all()
"""
    output(code)


def test_atomics():
    code = """
f = kernel('''extern "C" __global__ void f(int *i, unsigned *u, unsigned long long *l, float *x, double *d) {
  const int t = threadIdx.x;
  atomicAdd(i, 2), atomicSub(i + 1, 1), atomicMin(i + 2, -t), atomicMax(i + 3, t), atomicExch(i + 4, 9);
  atomicAnd(u, ~(1u << t % 32)), atomicOr(u + 1, 1u << t % 32), atomicXor(u + 2, 5u), atomicInc(u + 3, 9u);
  unsigned old = atomicOr(u + 4, 0u), seen;
  do { seen = old; old = atomicCAS(u + 4, seen, seen + 3u); } while (old != seen);
  atomicAdd(l, 1ull << 40), atomicAdd(x, 0.5f), atomicAdd(d, 0.25);
}''')
i, l, x, d = zeros(5, np.int32), zeros(1, np.uint64), zeros(1), zeros(1, np.float64)
u = cuda.to_device(np.array([0xffffffff, 0, 0, 0, 0], np.uint32))
f(i, u, l, x, d, block=(64, 1, 1), grid=(2, 1))
assert read(i, 5, np.int32).tolist() == [256, -128, -63, 63, 9]
assert read(u, 5, np.uint32).tolist() == [0, 0xffffffff, 0, 8, 384]
assert (read(l, 1, np.uint64) == 128 << 40).all() and read(x, 1) == 64 and read(d, 1, np.float64) == 32
"""
    output(code)


def test_every_half_and_every_rounding_of_float():
    code = """
m = module('''
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void widen(float *y, const __half *x) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = __half2float(x[i]);
}
__global__ void narrow(unsigned short *y, unsigned short *z, const float *x) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = __half_as_ushort(__float2half_rn(x[i])), z[i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
}
__global__ void arithmetic(__half *h, __nv_bfloat16 *b) {
  h[0] = h[1] * h[2] + h[3], b[0] = b[1] + b[2];
}''')
bits = np.arange(65536, dtype=np.uint16)
y = zeros(65536)
m.get_function("widen")(y, cuda.to_device(bits), block=(256, 1, 1), grid=(256, 1))
assert np.array_equal(read(y, 65536), bits.view(np.float16).astype(np.float32), equal_nan=True)
rng = np.random.default_rng(0)
x = rng.integers(0, 2**32, 65536, dtype=np.uint32).view(np.float32)
x[:32768] = (rng.normal(size=32768) * 10.0 ** rng.integers(-9, 6, 32768)).astype(np.float32)
x[:4] = 65519.996, 65520, 2**-25, np.float32(2**-25) * np.float32(1.0000001)
y, z = zeros(65536, np.uint16), zeros(65536, np.uint16)
m.get_function("narrow")(y, z, cuda.to_device(x), block=(256, 1, 1), grid=(256, 1))
with np.errstate(all="ignore"):
    assert np.array_equal(read(y, 65536, np.uint16).view(np.float16), x.astype(np.float16), equal_nan=True)
    import ml_dtypes
    want = x.astype(ml_dtypes.bfloat16).astype(np.float32)
got = (read(z, 65536, np.uint16).astype(np.uint32) << 16).view(np.float32)
assert np.array_equal(got, want, equal_nan=True)
h = cuda.to_device(np.array([0, 1.5, 2.25, 0.1], np.float16))
b = cuda.to_device(np.array([0, 1, 0.00390625], ml_dtypes.bfloat16).view(np.uint16))
m.get_function("arithmetic")(h, b, block=(1, 1, 1))
assert read(h, 1, np.float16) == np.float16(np.float16(1.5 * 2.25) + np.float16(0.1))
assert read(b, 1, np.uint16)[0] == 0x3f80
"""
    output(code)


def test_conversions_saturate_and_bits_are_kept():
    code = """
f = kernel('''extern "C" __global__ void f(long long *y) {
  const float inf = __int_as_float(0x7f800000), nan = __int_as_float(0x7fc00000);
  y[0] = __float2int_rz(3e9f), y[1] = __float2int_rn(2.5f), y[2] = __float2int_rz(nan);
  y[3] = __float2uint_rz(-1.0f), y[4] = __double2ll_rz(-1e30), y[5] = __float2int_rd(-1.5f);
  y[6] = __float2int_ru(-1.5f), y[7] = (long long)isinf(inf), y[8] = __umulhi(0xffffffffu, 0xffffffffu);
  y[9] = (long long)__umul64hi(~0ull, ~0ull), y[10] = __clz(1), y[11] = __ffs(8), y[12] = __popcll(~0ull);
  y[13] = __brev(1u), y[14] = __byte_perm(0x33221100, 0x77665544, 0x7531), y[15] = __float_as_int(-0.0f);
  y[16] = max(-1, 2), y[17] = (long long)fmaxf(nan, 3.0f), y[18] = (long long)rsqrtf(0.25f), y[19] = 7 / 2;
}''')
y = zeros(20, np.int64)
f(y, block=(1, 1, 1))
print(*read(y, 20, np.int64))
"""
    want = [2**31 - 1, 2, 0, 0, -(2**63), -2, -1, 1, 2**32 - 2, -2, 31, 4, 64, 2**31, 0x77553311, -(2**31), 2, 3, 2, 3]
    assert output(code) == " ".join(map(str, want))


def test_contraction_is_off_when_asked():
    """1 + 2**-12 squared, minus its rounded square: 2**-24 with one rounding, 0 with two."""
    code = """
f = kernel('''extern "C" __global__ void f(float *y, float a) {
  y[0] = a * a - (a * a + 0.0f) + 0.0f * y[1], y[1] = fmaf(a, a, -(1.0f + 0x1p-11f)); }''')
y = zeros(2)
f(y, np.float32(1 + 2**-12), block=(1, 1, 1))
assert read(y, 2).tolist() == [0, 2**-24]
"""
    output(code)


def test_parameters_and_variables_of_a_module():
    code = """
m = module('''
struct Pair { char a; double b; };
__constant__ float table[3] = {1, 2, 3};
__device__ int counter;
__global__ void f(Pair p, double *y, char a, short b, float c, long long d) {
  y[0] = a, y[1] = b, y[2] = p.a, y[3] = p.b, y[4] = c, y[5] = (double)d, y[6] = table[2], y[7] = ++counter;
}''')
y = zeros(8, np.float64)
pair = np.zeros(1, np.dtype([("a", "i1"), ("b", "f8")], align=True))
pair["a"], pair["b"] = 3, 4.5
f = m.get_function("f")
cuda.memcpy_htod(m.get_global("counter")[0], np.int32(41))
f(pair[0], y, np.int8(-1), np.int16(-2), np.float32(0.5), np.int64(2**40), block=(1, 1, 1))
assert read(y, 8, np.float64).tolist() == [-1, -2, 3, 4.5, 0.5, 2.0**40, 3, 42]
assert m.get_global("table")[1] == 12
"""
    output(code)


def test_names_of_the_c_library():
    """A kernel may be called as a function of libc is."""
    code = """
f = kernel('extern "C" __global__ void div(int *y) { y[0] = abs(-7); }', "div")
y = zeros(1, np.int32)
f(y, block=(1, 1, 1))
assert read(y, 1, np.int32)[0] == 7
"""
    output(code)


def test_a_source_that_is_wrong():
    code = """
from pycuda.driver import CompileError
try:
    kernel('extern "C" __global__ void f(float *y) { y[0] = undefined_thing; }')
except CompileError as error:
    print("undefined_thing" in error.stderr)
"""
    assert output(code) == "True"
