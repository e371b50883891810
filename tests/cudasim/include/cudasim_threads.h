// Barriers, warp functions, atomics. One host thread runs all fibers, so a plain read-modify-write is atomic.
#pragma once

CUDASIM_FN void __syncthreads() { cudasim_sync_block(); }
CUDASIM_FN void __syncwarp(unsigned mask = 0xffffffffu) { cudasim_sync_warp(mask); }
CUDASIM_FN void __threadfence() {}
CUDASIM_FN void __threadfence_block() {}
CUDASIM_FN void __threadfence_system() {}
CUDASIM_FN void __trap() { cudasim_trap("__trap()"); }
template <class T>
CUDASIM_FN T __ldg(const T *p) { return *p; }
static long long cudasim_ticks;  // one a call: no kernel may depend on more
CUDASIM_FN long long clock64() { return ++cudasim_ticks; }
CUDASIM_FN long clock() { return (long)clock64(); }

// ---------------------------------------------------------------- votes and shuffles
namespace cudasim {
// Every lane of `mask` gives a word and reads those of the others between two meetings.
template <class Read>
__attribute__((no_sanitize_address)) static inline auto exchange(unsigned mask, cudasim_bits word, Read read) {
  cudasim_bits *cells = cudasim_cells();
  cells[cudasim_lane()] = word;
  cudasim_sync_warp(mask);
  auto result = read(cells, mask & cudasim_alive());
  cudasim_sync_warp(mask);
  return result;
}
template <class T>
static inline cudasim_bits bits(T value) {
  static_assert(sizeof(T) <= 8, "shuffle: a value of at most 8 bytes");
  cudasim_bits word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
__attribute__((no_sanitize_address)) static inline T shuffle(unsigned mask, T value, int from) {
  return exchange(mask, bits(value), [from](cudasim_bits *cells, unsigned) __attribute__((no_sanitize_address)) {
    T result;
    cudasim_bits word = cells[from];
    __builtin_memcpy(&result, &word, sizeof(T));
    return result;
  });
}
static inline unsigned ballot(unsigned mask, bool vote) {
  return exchange(mask, vote, [](cudasim_bits *cells, unsigned lanes) __attribute__((no_sanitize_address)) {
    unsigned votes = 0;
    for (unsigned i = 0; i < CUDASIM_WARP; ++i) votes |= (lanes >> i & 1u && cells[i]) << i;
    return votes;
  });
}
}  // namespace cudasim

template <class T>
static inline T __shfl_sync(unsigned mask, T v, int from, int width = CUDASIM_WARP) {
  const int lane = (int)cudasim_lane(), first = lane & ~(width - 1);
  return cudasim::shuffle(mask, v, first + (from & (width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = CUDASIM_WARP) {
  const int lane = (int)cudasim_lane(), from = lane - (int)delta;
  return cudasim::shuffle(mask, v, from < (lane & ~(width - 1)) ? lane : from);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = CUDASIM_WARP) {
  const int lane = (int)cudasim_lane(), from = lane + (int)delta;
  return cudasim::shuffle(mask, v, from > (lane | (width - 1)) ? lane : from);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = CUDASIM_WARP) {
  const int lane = (int)cudasim_lane(), from = lane ^ bits;
  return cudasim::shuffle(mask, v, from > (lane | (width - 1)) ? lane : from);
}
static inline unsigned __ballot_sync(unsigned mask, int vote) { return cudasim::ballot(mask, vote != 0); }
static inline int __any_sync(unsigned mask, int vote) { return cudasim::ballot(mask, vote != 0) != 0; }
static inline int __all_sync(unsigned mask, int vote) { return cudasim::ballot(mask, vote == 0) == 0; }
static inline unsigned __activemask() { return cudasim_alive(); }
static inline int __syncthreads_count(int vote) {
  __shared__ int count;
  if (!(threadIdx.x | threadIdx.y | threadIdx.z)) count = 0;
  cudasim_sync_block();
  cudasim_atomic(&count, sizeof count);
  count += vote != 0;
  cudasim_sync_block();
  const int result = count;
  cudasim_sync_block();
  return result;
}
static inline int __syncthreads_or(int vote) { return __syncthreads_count(vote) != 0; }
static inline int __syncthreads_and(int vote) { return __syncthreads_count(vote == 0) == 0; }

// ---------------------------------------------------------------- atomics
namespace cudasim {
// Checked as one access.
template <class T, class F>
__attribute__((no_sanitize_address)) static T atomic(T *p, F change) {
  cudasim_atomic(p, sizeof(T));
  const T old = *p;
  *p = change(old);
  return old;
}
}  // namespace cudasim
#define CUDASIM_ATOMIC(name, T, new_value) \
  CUDASIM_FN T name(T *p, T v) { return cudasim::atomic(p, [v](T old) -> T { return new_value; }); }
#define CUDASIM_ATOMICS(T)                            \
  CUDASIM_ATOMIC(atomicAdd, T, old + v)               \
  CUDASIM_ATOMIC(atomicExch, T, v)                    \
  CUDASIM_ATOMIC(atomicMin, T, old < v ? old : v)     \
  CUDASIM_ATOMIC(atomicMax, T, old > v ? old : v)     \
  CUDASIM_ATOMIC(atomicAnd, T, old & v)               \
  CUDASIM_ATOMIC(atomicOr, T, old | v)                \
  CUDASIM_ATOMIC(atomicXor, T, old ^ v)               \
  CUDASIM_FN T atomicCAS(T *p, T expected, T v) {     \
    return cudasim::atomic(p, [=](T old) -> T { return old == expected ? v : old; }); \
  }
CUDASIM_ATOMICS(int) CUDASIM_ATOMICS(unsigned) CUDASIM_ATOMICS(unsigned long long)
CUDASIM_ATOMIC(atomicSub, int, old - v)
CUDASIM_ATOMIC(atomicSub, unsigned, old - v)
CUDASIM_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
CUDASIM_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
CUDASIM_ATOMIC(atomicMin, long long, old < v ? old : v)
CUDASIM_ATOMIC(atomicMax, long long, old > v ? old : v)
CUDASIM_ATOMIC(atomicAdd, float, old + v)
CUDASIM_ATOMIC(atomicAdd, double, old + v)
CUDASIM_ATOMIC(atomicAdd, __half, old + v)
CUDASIM_ATOMIC(atomicAdd, __nv_bfloat16, old + v)
CUDASIM_ATOMIC(atomicExch, float, v)
CUDASIM_FN unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
  return cudasim::atomic(p, [=](unsigned short old) -> unsigned short { return old == expected ? v : old; });
}
#undef CUDASIM_ATOMIC
#undef CUDASIM_ATOMICS
