// What a compiled module and the stand-in driver know of each other. Included by both.
#pragma once

typedef unsigned long long cudasim_bits;

struct cudasim_uint3 {
  unsigned x, y, z;
};

// One __global__ function. `call` takes the packed parameter buffer of cuLaunchKernel.
struct cudasim_kernel {
  const char *name;
  void (*call)(const char *packed);
  unsigned count;  // parameters
  const unsigned *offsets, *sizes;
  unsigned bytes;        // of the packed buffer
  unsigned max_threads;  // __launch_bounds__, or 1024
};

// The one symbol that a module exports: cudasim_module_table.
struct cudasim_module {
  unsigned version;
  unsigned count;
  const cudasim_kernel *kernels;
  cudasim_uint3 *thread, *block, *block_size, *grid_size;  // threadIdx, blockIdx, blockDim, gridDim
  char *shared_begin, *shared_end;                         // all static __shared__ variables
  void **dynamic_shared;                                   // set to the extern __shared__ array
  const char *const *global_names;                         // __device__ and __constant__ variables
  void *const *globals;
  const unsigned long *global_sizes;
  unsigned global_count;
};

enum { CUDASIM_VERSION = 1, CUDASIM_WARP = 32 };

// What kernels call; the driver exports these.
extern "C" {
void cudasim_sync_block();
// All living lanes of `mask` meet; a lane that is not in its own mask is a fault.
void cudasim_sync_warp(unsigned mask);
// The 32 exchange cells of the calling thread's warp.
cudasim_bits *cudasim_cells();
// Which lanes of the warp exist and have not returned.
unsigned cudasim_alive();
unsigned cudasim_lane();
// Checks an access that is no race with others of its kind.
void cudasim_atomic(const void *address, unsigned size);
[[noreturn]] void cudasim_trap(const char *why);
}
