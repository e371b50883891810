typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned short f16;
typedef unsigned short bf16;
typedef float f32;

#define TX_GLOBAL
#define TX_FN static __device__ __forceinline__
#define TX_UNROLL _Pragma("unroll")
#define TX_KERNEL(gx, gy, gz) extern "C" __global__ __launch_bounds__(gx * gy * gz) void
#define TX_LID(d) TX_LID_##d
#define TX_LID_0 threadIdx.x
#define TX_LID_1 threadIdx.y
#define TX_LID_2 threadIdx.z
#define TX_GROUP(d) TX_GROUP_##d
#define TX_GROUP_0 blockIdx.x
#define TX_GROUP_1 blockIdx.y
#define TX_GROUP_2 blockIdx.z
#define TX_STORE_i16(p, i, v) ((p)[i] = (v))
#define TX_LOAD_f32(p, i) ((p)[i])
#define TX_STORE_f32(p, i, v) ((p)[i] = (v))

TX_FN f32 TX_AS_F32(u32 u) { return __uint_as_float(u); }
TX_FN u32 TX_AS_U32(f32 f) { return __float_as_uint(f); }
/* IEEE 754 binary16 by its bits: multiplying by 2**112 moves the exponent and normalises subnormals, exactly. */
TX_FN f32 TX_UNPACK_f16(u32 h) {
  const u32 m = (h & 0x7fffu) << 13;
  const u32 v = TX_AS_U32(TX_AS_F32(m) * 5192296858534827628530496329220096.0f);
  return TX_AS_F32(v | ((0u - (u32)(m >= 0x0f800000u)) & 0x7f800000u) | (h & 0x8000u) << 16);
}
/* To nearest even. Adding 2**(e + 13) to a value of exponent e (at least -14: subnormals) rounds it to a multiple of
2**(e - 10), its ulp in binary16; a carry moves on into the exponent, 65536 becomes infinity. No branch: it vectorises. */
TX_FN u16 TX_PACK_f16(f32 v) {
  const u32 b = TX_AS_U32(v), a = b & 0x7fffffffu, c = a < 0x47800000u ? a : 0x47800000u;
  const u32 e = (c & 0x7f800000u) > 0x38800000u ? (c & 0x7f800000u) : 0x38800000u, up = e + 0x06800000u;
  const u32 h = ((e - 0x38800000u) >> 13) + TX_AS_U32(TX_AS_F32(c) + TX_AS_F32(up)) - up;
  return (u16)(h | (u32)(a > 0x7f800000u) << 9 | (b >> 16 & 0x8000u));
}
#define TX_LOAD_f16(p, i) TX_UNPACK_f16((p)[i])
#define TX_STORE_f16(p, i, v) ((p)[i] = TX_PACK_f16(v))
/* bfloat16 is the upper half of an f32; the store rounds to nearest even and keeps NaN a NaN. */
TX_FN u16 TX_PACK_bf16(f32 v) {
  const u32 b = TX_AS_U32(v);
  return (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
#define TX_LOAD_bf16(p, i) TX_AS_F32((u32)(p)[i] << 16)
#define TX_STORE_bf16(p, i, v) ((p)[i] = TX_PACK_bf16(v))

static __device__ __forceinline__ i32 tx_cast_f32_i32(f32 x) { f32 t = (x >= -2147483648.0f && x < 2147483648.0f) ? x : -2147483648.0f; return (i32)t; }
static __device__ __forceinline__ i16 tx_cast_f32_i16(f32 x) { return (i16)tx_cast_f32_i32(x); }

TX_KERNEL(256, 1, 1) tx_add(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i64 n0) {
  y0_p += y0_o;
  x0_p += x0_o;
  x1_p += x1_o;
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0_v[4];
  f32 x1_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0 = TX_LOAD_f32(x0_p, c0); x0_v[k] = x0;
      f32 x1 = TX_LOAD_f32(x1_p, c0); x1_v[k] = x1;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0 = x0_v[k];
      const f32 x1 = x1_v[k];
      f32 y0;
      y0 = x0 + x1;
      TX_STORE_f32(y0_p, c0, y0);
    }
  }
}

TX_KERNEL(256, 1, 1) tx_scale_f16(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, TX_GLOBAL const f16 *x1_p, i64 x1_o, f32 s0, i64 n0) {
  y0_p += y0_o;
  x0_p += x0_o;
  x1_p += x1_o;
  f32 x1 = TX_LOAD_f16(x1_p, 0);
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0 = TX_LOAD_f16(x0_p, c0); x0_v[k] = x0;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0 = x0_v[k];
      f32 y0;
      y0 = x0 * x1 + s0;
      TX_STORE_f16(y0_p, c0, y0);
    }
  }
}

TX_KERNEL(256, 1, 1) tx_bf16_to_i16(TX_GLOBAL i16 *y0_p, i64 y0_o, TX_GLOBAL const bf16 *x0_p, i64 x0_o, i64 n0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0 = TX_LOAD_bf16(x0_p, c0); x0_v[k] = x0;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0 = x0_v[k];
      f32 y0;
      y0 = x0;
      TX_STORE_i16(y0_p, c0, tx_cast_f32_i16(y0));
    }
  }
}
