// __half and __nv_bfloat16: storage of 16 bits, arithmetic in float rounded to nearest even after each operation, which
// is what one CUDA instruction does (float holds every sum and product of two halves closely enough).
#pragma once

struct __half;
struct __nv_bfloat16;

CUDASIM_FN float cudasim_half_to_float(unsigned short h) {
  const unsigned sign = (unsigned)(h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return cudasim_as<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return cudasim_as<float>(sign | cudasim_as<unsigned>(cudasim_as<float>(rest << 13) * 0x1p112f));
}
CUDASIM_FN unsigned short cudasim_float_to_half(float value) {
  const unsigned bits = cudasim_as<unsigned>(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return 0x7fffu;  // what cvt.rn.f16.f32 makes of every NaN
  if (size >= 0x477ff000u) return sign | 0x7c00u;
  if (size < 0x38800000u)  // subnormal: adding 0.5 puts the last kept bit at the end of the fraction
    return sign | (unsigned short)(cudasim_as<unsigned>(cudasim_as<float>(size) + 0.5f) - 0x3f000000u);
  return sign | (unsigned short)((size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13);
}
CUDASIM_FN float cudasim_bfloat_to_float(unsigned short b) { return cudasim_as<float>((unsigned)b << 16); }
CUDASIM_FN unsigned short cudasim_float_to_bfloat(float value) {
  const unsigned bits = cudasim_as<unsigned>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

#define CUDASIM_NARROW(H, H2, from, to)                                                              \
  struct __attribute__((aligned(2))) H {                                                             \
    unsigned short x;                                                                                \
    H() = default;                                                                                   \
    H(float value) : x(from(value)) {}                                                               \
    H(double value) : x(from((float)value)) {}                                                       \
    H(int value) : x(from((float)value)) {}                                                          \
    operator float() const { return to(x); }                                                         \
    H &operator+=(H o) { return *this = H((float)*this + (float)o); }                                \
    H &operator-=(H o) { return *this = H((float)*this - (float)o); }                                \
    H &operator*=(H o) { return *this = H((float)*this * (float)o); }                                \
    H &operator/=(H o) { return *this = H((float)*this / (float)o); }                                \
  };                                                                                                 \
  struct __attribute__((aligned(4))) H2 { H x, y; };                                                 \
  CUDASIM_FN H operator+(H a, H b) { return a += b; }                                                \
  CUDASIM_FN H operator-(H a, H b) { return a -= b; }                                                \
  CUDASIM_FN H operator*(H a, H b) { return a *= b; }                                                \
  CUDASIM_FN H operator/(H a, H b) { return a /= b; }                                                \
  CUDASIM_FN H operator-(H a) { a.x ^= 0x8000u; return a; }                                          \
  CUDASIM_FN bool operator<(H a, H b) { return (float)a < (float)b; }                                \
  CUDASIM_FN bool operator>(H a, H b) { return (float)a > (float)b; }                                \
  CUDASIM_FN bool operator<=(H a, H b) { return (float)a <= (float)b; }                              \
  CUDASIM_FN bool operator>=(H a, H b) { return (float)a >= (float)b; }                              \
  CUDASIM_FN bool operator==(H a, H b) { return (float)a == (float)b; }                              \
  CUDASIM_FN bool operator!=(H a, H b) { return (float)a != (float)b; }                              \
  CUDASIM_FN H __hadd(H a, H b) { return a + b; }                                                    \
  CUDASIM_FN H __hsub(H a, H b) { return a - b; }                                                    \
  CUDASIM_FN H __hmul(H a, H b) { return a * b; }                                                    \
  CUDASIM_FN H __hdiv(H a, H b) { return a / b; }                                                    \
  CUDASIM_FN H __hneg(H a) { return -a; }                                                            \
  CUDASIM_FN H __hfma(H a, H b, H c) { return H((float)((double)(float)a * (float)b + (float)c)); }  \
  CUDASIM_FN bool __hlt(H a, H b) { return a < b; }                                                  \
  CUDASIM_FN bool __hgt(H a, H b) { return a > b; }                                                  \
  CUDASIM_FN bool __heq(H a, H b) { return a == b; }                                                 \
  CUDASIM_FN bool __hisnan(H a) { return a != a; }                                                   \
  CUDASIM_FN H2 __hadd2(H2 a, H2 b) { return {a.x + b.x, a.y + b.y}; }                               \
  CUDASIM_FN H2 __hmul2(H2 a, H2 b) { return {a.x * b.x, a.y * b.y}; }                               \
  CUDASIM_FN H2 __hfma2(H2 a, H2 b, H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }

CUDASIM_NARROW(__half, __half2, cudasim_float_to_half, cudasim_half_to_float)
CUDASIM_NARROW(__nv_bfloat16, __nv_bfloat162, cudasim_float_to_bfloat, cudasim_bfloat_to_float)
#undef CUDASIM_NARROW
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
struct __half_raw { unsigned short x; };
struct __nv_bfloat16_raw { unsigned short x; };

CUDASIM_FN float __half2float(__half h) { return h; }
CUDASIM_FN __half __float2half(float f) { return __half(f); }
CUDASIM_FN __half __float2half_rn(float f) { return __half(f); }
CUDASIM_FN __half __double2half(double d) {  // once, not through float
  float f = (float)d;
  const unsigned bits = cudasim_as<unsigned>(f);
  // Round to odd: float keeps enough bits for the second rounding to be the only one.
  if ((double)f != d && !(bits & 1u) && f == f)
    f = cudasim_as<float>(__builtin_fabs((double)f) > __builtin_fabs(d) ? bits - 1 : bits + 1);
  return __half(f);
}
CUDASIM_FN unsigned short __half_as_ushort(__half h) { return h.x; }
CUDASIM_FN short __half_as_short(__half h) { return (short)h.x; }
CUDASIM_FN __half __ushort_as_half(unsigned short x) { __half h; h.x = x; return h; }
CUDASIM_FN __half __short_as_half(short x) { return __ushort_as_half((unsigned short)x); }
CUDASIM_FN __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
CUDASIM_FN float2 __half22float2(__half2 h) { return {h.x, h.y}; }
CUDASIM_FN float __bfloat162float(__nv_bfloat16 b) { return b; }
CUDASIM_FN __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
CUDASIM_FN __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
CUDASIM_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) { return b.x; }
CUDASIM_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { __nv_bfloat16 b; b.x = x; return b; }
