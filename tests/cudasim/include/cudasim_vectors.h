// Built-in vector types: float4, make_float4 ... Alignment is CUDA's.
#pragma once

#define CUDASIM_VECTOR(T, N, A2, A4)                                          \
  struct __attribute__((aligned(sizeof(T)))) N##1 { T x; };                   \
  struct __attribute__((aligned(A2))) N##2 { T x, y; };                       \
  struct N##3 { T x, y, z; };                                                 \
  struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                 \
  static inline N##1 make_##N##1(T x) { return {x}; }                         \
  static inline N##2 make_##N##2(T x, T y) { return {x, y}; }                 \
  static inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }         \
  static inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

#define uint3 cudasim_vector_uint3  // the index type above has that name already
#define make_uint3 cudasim_make_uint3
CUDASIM_VECTOR(signed char, char, 2, 4)
CUDASIM_VECTOR(unsigned char, uchar, 2, 4)
CUDASIM_VECTOR(short, short, 4, 8)
CUDASIM_VECTOR(unsigned short, ushort, 4, 8)
CUDASIM_VECTOR(int, int, 8, 16)
CUDASIM_VECTOR(unsigned int, uint, 8, 16)
CUDASIM_VECTOR(long, long, 16, 16)
CUDASIM_VECTOR(unsigned long, ulong, 16, 16)
CUDASIM_VECTOR(long long, longlong, 16, 16)
CUDASIM_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDASIM_VECTOR(float, float, 8, 16)
CUDASIM_VECTOR(double, double, 16, 16)
#undef uint3
#undef make_uint3
#undef CUDASIM_VECTOR
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
