// CUDA's mathematical functions: the host library's where C has them, written out where it does not.
#pragma once

#define CUDASIM_FN static inline __attribute__((always_inline))
typedef unsigned int uint;

#define CUDASIM_1(name)                                       \
  CUDASIM_FN float name##f(float x) { return __builtin_##name##f(x); } \
  CUDASIM_FN double name(double x) { return __builtin_##name(x); }     \
  CUDASIM_FN float name(float x) { return __builtin_##name##f(x); }
#define CUDASIM_2(name)                                                       \
  CUDASIM_FN float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  CUDASIM_FN double name(double x, double y) { return __builtin_##name(x, y); }    \
  CUDASIM_FN float name(float x, float y) { return __builtin_##name##f(x, y); }
CUDASIM_1(acos) CUDASIM_1(acosh) CUDASIM_1(asin) CUDASIM_1(asinh) CUDASIM_1(atan) CUDASIM_1(atanh) CUDASIM_1(cbrt)
CUDASIM_1(ceil) CUDASIM_1(cos) CUDASIM_1(cosh) CUDASIM_1(erf) CUDASIM_1(erfc) CUDASIM_1(exp) CUDASIM_1(exp2)
CUDASIM_1(exp10) CUDASIM_1(expm1) CUDASIM_1(fabs) CUDASIM_1(floor) CUDASIM_1(lgamma) CUDASIM_1(log) CUDASIM_1(log10)
CUDASIM_1(log1p) CUDASIM_1(log2) CUDASIM_1(logb) CUDASIM_1(nearbyint) CUDASIM_1(rint) CUDASIM_1(round) CUDASIM_1(sin)
CUDASIM_1(sinh) CUDASIM_1(sqrt) CUDASIM_1(tan) CUDASIM_1(tanh) CUDASIM_1(tgamma) CUDASIM_1(trunc) CUDASIM_1(j0)
CUDASIM_1(j1) CUDASIM_1(y0) CUDASIM_1(y1)
CUDASIM_2(atan2) CUDASIM_2(copysign) CUDASIM_2(fdim) CUDASIM_2(fmax) CUDASIM_2(fmin) CUDASIM_2(fmod) CUDASIM_2(hypot)
CUDASIM_2(nextafter) CUDASIM_2(pow) CUDASIM_2(remainder)
#undef CUDASIM_1
#undef CUDASIM_2

#define CUDASIM_BOTH(T, F)                                                                           \
  CUDASIM_FN T fma##F(T a, T b, T c) { return __builtin_fma##F(a, b, c); }                           \
  CUDASIM_FN T ldexp##F(T x, int e) { return __builtin_ldexp##F(x, e); }                             \
  CUDASIM_FN T scalbn##F(T x, int e) { return __builtin_scalbn##F(x, e); }                           \
  CUDASIM_FN T frexp##F(T x, int *e) { return __builtin_frexp##F(x, e); }                            \
  CUDASIM_FN T modf##F(T x, T *whole) { return __builtin_modf##F(x, whole); }                        \
  CUDASIM_FN int ilogb##F(T x) { return __builtin_ilogb##F(x); }                                     \
  CUDASIM_FN long lrint##F(T x) { return __builtin_lrint##F(x); }                                    \
  CUDASIM_FN long lround##F(T x) { return __builtin_lround##F(x); }                                  \
  CUDASIM_FN long long llrint##F(T x) { return __builtin_llrint##F(x); }                             \
  CUDASIM_FN long long llround##F(T x) { return __builtin_llround##F(x); }                           \
  CUDASIM_FN T rsqrt##F(T x) { return 1 / __builtin_sqrt##F(x); }                                    \
  CUDASIM_FN T rcbrt##F(T x) { return 1 / __builtin_cbrt##F(x); }                                    \
  CUDASIM_FN T sinpi##F(T x) { return __builtin_sin##F((T)3.14159265358979323846 * __builtin_fmod##F(x, 2)); } \
  CUDASIM_FN T cospi##F(T x) { return __builtin_cos##F((T)3.14159265358979323846 * __builtin_fmod##F(x, 2)); } \
  CUDASIM_FN T normcdf##F(T x) { return __builtin_erfc##F(x * (T)-0.70710678118654752440) / 2; }     \
  CUDASIM_FN T nan##F(const char *) { return __builtin_nan##F(""); }                                 \
  CUDASIM_FN void sincos##F(T x, T *s, T *c) { *s = __builtin_sin##F(x), *c = __builtin_cos##F(x); } \
  CUDASIM_FN bool isnan(T x) { return __builtin_isnan(x); }                                          \
  CUDASIM_FN bool isinf(T x) { return __builtin_isinf(x); }                                          \
  CUDASIM_FN bool isfinite(T x) { return __builtin_isfinite(x); }                                    \
  CUDASIM_FN bool signbit(T x) { return __builtin_signbit(x); }                                      \
  CUDASIM_FN T abs(T x) { return __builtin_fabs##F(x); }                                             \
  CUDASIM_FN T max(T a, T b) { return __builtin_fmax##F(a, b); }                                     \
  CUDASIM_FN T min(T a, T b) { return __builtin_fmin##F(a, b); }
CUDASIM_BOTH(float, f)
CUDASIM_BOTH(double, )
#undef CUDASIM_BOTH
CUDASIM_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#define CUDASIM_WHOLE(T)                                  \
  CUDASIM_FN T max(T a, T b) { return a > b ? a : b; }    \
  CUDASIM_FN T min(T a, T b) { return a < b ? a : b; }
CUDASIM_WHOLE(int) CUDASIM_WHOLE(unsigned) CUDASIM_WHOLE(long) CUDASIM_WHOLE(unsigned long) CUDASIM_WHOLE(long long)
CUDASIM_WHOLE(unsigned long long)
#undef CUDASIM_WHOLE
CUDASIM_FN int abs(int x) { return x < 0 ? -x : x; }
CUDASIM_FN long abs(long x) { return x < 0 ? -x : x; }
CUDASIM_FN long long abs(long long x) { return x < 0 ? -x : x; }
CUDASIM_FN long long llabs(long long x) { return x < 0 ? -x : x; }

// ---------------------------------------------------------------- bits
template <class To, class From>
CUDASIM_FN To cudasim_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "cudasim_as: two types of one size");
  return __builtin_bit_cast(To, value);
}
CUDASIM_FN float __int_as_float(int x) { return cudasim_as<float>(x); }
CUDASIM_FN float __uint_as_float(unsigned x) { return cudasim_as<float>(x); }
CUDASIM_FN int __float_as_int(float x) { return cudasim_as<int>(x); }
CUDASIM_FN unsigned __float_as_uint(float x) { return cudasim_as<unsigned>(x); }
CUDASIM_FN double __longlong_as_double(long long x) { return cudasim_as<double>(x); }
CUDASIM_FN long long __double_as_longlong(double x) { return cudasim_as<long long>(x); }
CUDASIM_FN int __double2hiint(double x) { return (int)(cudasim_as<long long>(x) >> 32); }
CUDASIM_FN int __double2loint(double x) { return (int)cudasim_as<long long>(x); }
CUDASIM_FN double __hiloint2double(int hi, int lo) {
  return cudasim_as<double>((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}
CUDASIM_FN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
CUDASIM_FN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
CUDASIM_FN int __ffs(int x) { return __builtin_ffs(x); }
CUDASIM_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
CUDASIM_FN int __popc(unsigned x) { return __builtin_popcount(x); }
CUDASIM_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUDASIM_FN unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
CUDASIM_FN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
CUDASIM_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (unsigned)(both >> ((s >> 4 * i & 7u) * 8) & 255u) << 8 * i;
  return r;
}
CUDASIM_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
CUDASIM_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
CUDASIM_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
CUDASIM_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
CUDASIM_FN long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
CUDASIM_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

// ---------------------------------------------------------------- conversions
// Out of range they saturate, NaN gives 0 (for 64 bits the most negative value): PTX cvt.
template <class To, class From>
CUDASIM_FN To cudasim_saturate(From x) {
  constexpr To low = (To)-1 < 0 ? (To)(1ull << (sizeof(To) * 8 - 1)) : 0, high = (To)~low;
  if (x != x) return sizeof(To) == 8 ? (To)(1ull << 63) : 0;
  return x <= (From)low ? low : x >= (From)high ? high : (To)x;
}
#define CUDASIM_TO(name, From, To, F)                                                                   \
  CUDASIM_FN To name##_rn(From x) { return cudasim_saturate<To>(__builtin_rint##F(x)); }                 \
  CUDASIM_FN To name##_rz(From x) { return cudasim_saturate<To>(__builtin_trunc##F(x)); }                \
  CUDASIM_FN To name##_rd(From x) { return cudasim_saturate<To>(__builtin_floor##F(x)); }                \
  CUDASIM_FN To name##_ru(From x) { return cudasim_saturate<To>(__builtin_ceil##F(x)); }
CUDASIM_TO(__float2int, float, int, f) CUDASIM_TO(__float2uint, float, unsigned, f)
CUDASIM_TO(__float2ll, float, long long, f) CUDASIM_TO(__float2ull, float, unsigned long long, f)
CUDASIM_TO(__double2int, double, int, ) CUDASIM_TO(__double2uint, double, unsigned, )
CUDASIM_TO(__double2ll, double, long long, ) CUDASIM_TO(__double2ull, double, unsigned long long, )
#undef CUDASIM_TO
CUDASIM_FN float __int2float_rn(int x) { return (float)x; }
CUDASIM_FN float __uint2float_rn(unsigned x) { return (float)x; }
CUDASIM_FN float __ll2float_rn(long long x) { return (float)x; }
CUDASIM_FN float __ull2float_rn(unsigned long long x) { return (float)x; }
CUDASIM_FN float __double2float_rn(double x) { return (float)x; }
CUDASIM_FN double __int2double_rn(int x) { return x; }
CUDASIM_FN double __ll2double_rn(long long x) { return (double)x; }

// ---------------------------------------------------------------- arithmetic that is never contracted, fast forms
#define CUDASIM_ROUNDED(p, T, F)                                        \
  CUDASIM_FN T p##add_rn(T a, T b) { return a + b; }                    \
  CUDASIM_FN T p##sub_rn(T a, T b) { return a - b; }                    \
  CUDASIM_FN T p##mul_rn(T a, T b) { return a * b; }                    \
  CUDASIM_FN T p##div_rn(T a, T b) { return a / b; }                    \
  CUDASIM_FN T p##rcp_rn(T a) { return 1 / a; }                         \
  CUDASIM_FN T p##sqrt_rn(T a) { return __builtin_sqrt##F(a); }
CUDASIM_ROUNDED(__f, float, f)
CUDASIM_ROUNDED(__d, double, )
#undef CUDASIM_ROUNDED
CUDASIM_FN float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUDASIM_FN double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
CUDASIM_FN float __frsqrt_rn(float a) { return 1 / __builtin_sqrtf(a); }
CUDASIM_FN float __expf(float x) { return expf(x); }
CUDASIM_FN float __exp10f(float x) { return exp10f(x); }
CUDASIM_FN float __logf(float x) { return logf(x); }
CUDASIM_FN float __log2f(float x) { return log2f(x); }
CUDASIM_FN float __log10f(float x) { return log10f(x); }
CUDASIM_FN float __sinf(float x) { return sinf(x); }
CUDASIM_FN float __cosf(float x) { return cosf(x); }
CUDASIM_FN float __tanf(float x) { return tanf(x); }
CUDASIM_FN float __powf(float x, float y) { return powf(x, y); }
CUDASIM_FN float __fdividef(float x, float y) { return x / y; }
CUDASIM_FN float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
