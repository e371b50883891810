// Device and pinned memory: two arenas of host memory whose every byte a kernel's access is checked against.
#include "sim.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace sim {

namespace {

constexpr size_t ALIGNMENT = 256;  // cuMemAlloc's
constexpr size_t RED_ZONE = 256;   // after every block
constexpr size_t FILLED = 64 << 10;

char *reserve(size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char *>(p);
}

size_t rounded(size_t bytes) { return (bytes + RED_ZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

}  // namespace

void paint(unsigned char *shadow, size_t bytes, bool allowed) {
  memset(shadow, allowed ? 8 : 0, bytes / 8);
  if (bytes % 8) shadow[bytes / 8] = allowed ? bytes % 8 : 0;
}

// Red zones and fragmentation need room that the device does not report.
Arena::Arena(size_t bytes) : base(reserve(bytes * 2)), size(bytes * 2), next(base) {
  shadow = reinterpret_cast<unsigned char *>(reserve(size / 8));
  gaps[base] = size;
}

char *Arena::allocate(size_t bytes) {
  const size_t whole = rounded(bytes);
  auto gap = gaps.lower_bound(next);
  for (size_t tried = 0; tried <= gaps.size(); ++tried, ++gap) {
    if (gap == gaps.end()) gap = gaps.begin();
    if (gap == gaps.end()) return nullptr;
    if (gap->second >= whole) break;
    if (tried == gaps.size()) return nullptr;
  }
  const auto [start, room] = *gap;
  gaps.erase(gap);
  if (room > whole) gaps[start + whole] = room - whole;
  next = start + whole;
  blocks[start] = bytes;
  in_use += bytes;
  paint(shadow + (start - base) / 8, bytes, true);
  memset(start, 0xcb, bytes < FILLED ? bytes : FILLED);  // new memory is not zero: as f32 it is -26604950
  return start;
}

bool Arena::free(char *address) {
  const auto found = blocks.find(address);
  if (found == blocks.end()) return false;
  const size_t bytes = found->second;
  size_t whole = rounded(bytes);
  in_use -= bytes;
  blocks.erase(found);
  memset(shadow + (address - base) / 8, 0, (bytes + 7) / 8);
  if (whole >= 1 << 20) madvise(address, whole & ~size_t(4095), MADV_DONTNEED);
  auto after = gaps.lower_bound(address);
  if (after != gaps.end() && address + whole == after->first) whole += after->second, after = gaps.erase(after);
  if (after != gaps.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += whole;
      return true;
    }
  }
  gaps[address] = whole;
  return true;
}

std::pair<char *, size_t> Arena::block(const void *address) const {
  const auto after = blocks.upper_bound(static_cast<char *>(const_cast<void *>(address)));
  if (after == blocks.begin()) return {nullptr, 0};
  const auto &[start, bytes] = *std::prev(after);
  return size_t((const char *)address - start) < bytes ? std::make_pair(start, bytes) : std::make_pair(nullptr, 0);
}

bool Arena::holds(const void *address, size_t bytes) const {
  const auto [start, size] = block(address);
  return start && (const char *)address + bytes <= start + size;
}

bool Arena::may_touch(const void *address, size_t bytes) const {
  const size_t first = size_t((const char *)address - base), last = first + bytes - 1;
  if (first >= size || last >= size) return false;
  for (size_t cell = first / 8; cell < last / 8; ++cell)
    if (shadow[cell] != 8) return false;
  return last % 8 < shadow[last / 8];
}

Arena &device_memory() {
  static Arena &arena = *new Arena(settings().memory);
  return arena;
}

Arena &pinned_memory() {
  static Arena &arena = *new Arena(size_t(4) << 30);
  return arena;
}

}  // namespace sim

using namespace sim;

// ---------------------------------------------------------------- device memory

EXPORT CUresult cuMemGetInfo(size_t *available, size_t *total) {
  return in_context([&](Context &) {
    *total = settings().memory;
    const size_t used = device_memory().used();
    *available = used < *total ? *total - used : 0;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) {
  return in_context([&](Context &c) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    Arena &arena = device_memory();
    if (bytes > settings().memory || arena.used() > settings().memory - bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    char *block = arena.allocate(bytes);
    if (!block) return CUDA_ERROR_OUT_OF_MEMORY;
    c.memory.insert(block);
    *out = reinterpret_cast<CUdeviceptr>(block);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned) {
  *pitch = (width + 511) / 512 * 512;
  return cuMemAlloc(out, *pitch * height);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned) { return cuMemAlloc(out, bytes); }

// Waits for the device, as the real call does.
EXPORT CUresult cuMemFree(CUdeviceptr address) {
  return in_context([&](Context &c) {
    if (!address) return CUDA_SUCCESS;
    finish(c);
    char *block = reinterpret_cast<char *>(address);
    if (!c.memory.erase(block)) return CUDA_ERROR_INVALID_VALUE;
    device_memory().free(block);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr address) {
  return in_context([&](Context &) {
    const auto [block, size] = device_memory().block(reinterpret_cast<void *>(address));
    if (!block) return CUDA_ERROR_INVALID_VALUE;
    if (start) *start = reinterpret_cast<CUdeviceptr>(block);
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
  });
}

// ---------------------------------------------------------------- pinned memory

EXPORT CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned) {
  return in_context([&](Context &c) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    char *block = pinned_memory().allocate(bytes);
    if (!block) return CUDA_ERROR_OUT_OF_MEMORY;
    c.pinned.insert(block);
    *out = block;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemAllocHost(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

// Does not wait: a copy that has not run yet then reads or writes freed memory, which is a fault (see copy.cpp).
EXPORT CUresult cuMemFreeHost(void *address) {
  return in_context([&](Context &c) {
    char *block = static_cast<char *>(address);
    if (!c.pinned.erase(block)) return CUDA_ERROR_INVALID_VALUE;
    pinned_memory().free(block);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemHostRegister(void *address, size_t bytes, unsigned) {
  return in_context([&](Context &c) {
    if (!c.registered.emplace(static_cast<char *>(address), bytes).second)
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuMemHostUnregister(void *address) {
  return in_context([&](Context &c) {
    return c.registered.erase(static_cast<char *>(address)) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  });
}

EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *address, unsigned) {
  return in_context([&](Context &) {
    *out = reinterpret_cast<CUdeviceptr>(address);
    return pinned_memory().block(address).first ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *address) {
  return in_context([&](Context &) {
    *flags = 0;
    return pinned_memory().block(address).first ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
