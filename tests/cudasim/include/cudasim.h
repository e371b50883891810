// CUDA C++ for a processor: what nvcc predefines, given its meaning for threads that are fibers (see ../README.md).
// Every kernel source is compiled behind this file. No standard header is included, so that kernels may use its names.
#pragma once

#include "cudasim_abi.h"

#define CUDASIM 1
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __builtin_assume(x) ((void)0)
#define __constant__
#define __managed__
#define __grid_constant__
#define __global__
// Static shared arrays lie in one section, with red zones between them. (The compiler command turns
// `extern __shared__ T name[]` into a pointer before this macro sees it.)
#define __shared__ static __attribute__((section("cudasim_shared"), aligned(16)))

extern "C" int printf(const char *, ...);
#define assert(e) ((e) ? (void)0 : cudasim_trap("assert(" #e ") failed"))

typedef unsigned char uchar;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

// ---------------------------------------------------------------- indices
typedef cudasim_uint3 uint3;
struct dim3 : uint3 {
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : uint3{a, b, c} {}
};
// Of this file's translation unit alone; the driver writes them through the module's table.
static uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = CUDASIM_WARP;
static void *cudasim_dynamic_shared;

#include "cudasim_vectors.h"
#include "cudasim_math.h"
#include "cudasim_half.h"
#include "cudasim_threads.h"

// ---------------------------------------------------------------- the module's table
namespace cudasim {

template <class... A>
struct Layout;
template <>
struct Layout<> {
  static constexpr unsigned fill(unsigned *, unsigned *, unsigned at) { return at; }
};
// The packed buffer of cuLaunchKernel: each parameter at the next multiple of its alignment.
template <class A, class... Rest>
struct Layout<A, Rest...> {
  static constexpr unsigned fill(unsigned *offsets, unsigned *sizes, unsigned at) {
    at = (at + alignof(A) - 1) / alignof(A) * alignof(A);
    *offsets = at, *sizes = sizeof(A);
    return Layout<Rest...>::fill(offsets + 1, sizes + 1, at + sizeof(A));
  }
};

template <unsigned... I>
struct Indices {};
template <unsigned N, unsigned... I>
struct Range : Range<N - 1, N - 1, I...> {};
template <unsigned... I>
struct Range<0, I...> {
  typedef Indices<I...> type;
};

template <auto function, class F>
struct Entry;
template <auto function, class... A>
struct Entry<function, void (*)(A...)> {
  struct Places {
    unsigned offsets[sizeof...(A) + 1] = {}, sizes[sizeof...(A) + 1] = {}, bytes = 0;
    constexpr Places() { bytes = Layout<A...>::fill(offsets, sizes, 0); }
  };
  static constexpr Places places{};

  template <unsigned... I>
  __attribute__((no_sanitize_address)) static void spread(const char *packed, Indices<I...>) {
    function(*reinterpret_cast<const A *>(packed + places.offsets[I])...);
  }
  __attribute__((no_sanitize_address)) static void call(const char *packed) {
    spread(packed, typename Range<sizeof...(A)>::type());
  }
};

template <auto function>
constexpr cudasim_kernel kernel(const char *name, unsigned max_threads) {
  typedef Entry<function, decltype(function)> E;
  return {name, E::call, sizeof(E::places.sizes) / sizeof(unsigned) - 1, E::places.offsets, E::places.sizes,
          E::places.bytes, max_threads};
}

}  // namespace cudasim
