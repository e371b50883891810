#pragma OPENCL FP_CONTRACT OFF

typedef short i16;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ushort f16;
typedef ushort bf16;
typedef float f32;

#define TX_GLOBAL __global
#define TX_FN static inline
#define TX_UNROLL _Pragma("unroll")
#define TX_KERNEL(gx, gy, gz) __kernel __attribute__((reqd_work_group_size(gx, gy, gz))) void
#define TX_LID(d) get_local_id(d)
#define TX_GROUP(d) get_group_id(d)
#define TX_STORE_i16(p, i, v) ((p)[i] = (v))
#define TX_LOAD_f32(p, i) ((p)[i])
#define TX_STORE_f32(p, i, v) ((p)[i] = (v))

TX_FN f32 TX_AS_F32(u32 u) { return as_float(u); }
TX_FN u32 TX_AS_U32(f32 f) { return as_uint(f); }
/* vload_half and vstore_half are in the core language: no cl_khr_fp16 needed. */
#define TX_LOAD_f16(p, i) vload_half(i, (const __global half *)(p))
#define TX_STORE_f16(p, i, v) vstore_half_rte(v, i, (__global half *)(p))
TX_FN f32 TX_UNPACK_f16(u16 h) { return vload_half(0, (const half *)&h); }
TX_FN u16 TX_PACK_f16(f32 v) { u16 h; vstore_half_rte(v, 0, (half *)&h); return h; }
/* bfloat16 is the upper half of an f32; the store rounds to nearest even and keeps NaN a NaN. */
TX_FN u16 TX_PACK_bf16(f32 v) {
  const u32 b = TX_AS_U32(v);
  return (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
#define TX_LOAD_bf16(p, i) TX_AS_F32((u32)(p)[i] << 16)
#define TX_STORE_bf16(p, i, v) ((p)[i] = TX_PACK_bf16(v))

static inline i32 tx_cast_f32_i32(f32 x) { f32 t = (x >= -2147483648.0f && x < 2147483648.0f) ? x : -2147483648.0f; return (i32)t; }
static inline i16 tx_cast_f32_i16(f32 x) { return (i16)tx_cast_f32_i32(x); }

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
