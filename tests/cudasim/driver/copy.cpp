// Copies and fills. Which of them the caller waits for is as CUDA's "API synchronization behavior" has it: memory that
// is not page-locked is copied before the call returns, page-locked memory when the stream gets there.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sim.h"

namespace sim {
namespace {

char *device(CUdeviceptr address) { return reinterpret_cast<char *>(address); }

// Both arenas (pinned memory has a device address, its own) and the variables of modules.
bool on_device(Context &c, const void *address, size_t bytes) {
  if (device_memory().holds(address, bytes) || pinned_memory().holds(address, bytes)) return true;
  const char *p = static_cast<const char *>(address);
  return std::any_of(c.modules.begin(), c.modules.end(),
                     [=](Module *m) { return p >= m->image_begin && p + bytes <= m->image_end; });
}

bool page_locked(Context &c, const void *address) {
  if (pinned_memory().contains(address)) return true;
  const char *p = static_cast<const char *>(address);
  auto after = c.registered.upper_bound(const_cast<char *>(p));
  return after != c.registered.begin() && p < std::prev(after)->first + std::prev(after)->second;
}

// Page-locked memory that is gone when its copy's turn comes was freed too early.
bool still_there(Context &c, const void *host, size_t bytes) {
  if (!pinned_memory().contains(host) || pinned_memory().holds(host, bytes)) return true;
  fprintf(stderr, "cudasim: a pending copy uses page-locked memory at %p that was freed\n", host);
  c.error = CUDA_ERROR_ILLEGAL_ADDRESS;
  return false;
}

using StreamPointer = std::shared_ptr<Stream>;

CUresult to_device(Context &c, const StreamPointer &stream, CUdeviceptr to, const void *from, size_t bytes, bool wait) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes) return CUDA_SUCCESS;
  if (!on_device(c, device(to), bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (page_locked(c, from)) {
    enqueue(stream, [=, &c] {
      if (still_there(c, from, bytes)) memcpy(device(to), from, bytes);
    });
  } else {
    const char *bytes_of = static_cast<const char *>(from);
    auto staged = std::make_shared<std::vector<char>>(bytes_of, bytes_of + bytes);
    enqueue(stream, [=] { memcpy(device(to), staged->data(), bytes); });
  }
  if (wait) finish(stream);
  return CUDA_SUCCESS;
}

CUresult to_host(Context &c, const StreamPointer &stream, void *to, CUdeviceptr from, size_t bytes, bool wait) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes) return CUDA_SUCCESS;
  if (!on_device(c, device(from), bytes)) return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, [=, &c] {
    if (still_there(c, to, bytes)) memcpy(to, device(from), bytes);
  });
  if (wait || !page_locked(c, to)) finish(stream);
  return CUDA_SUCCESS;
}

CUresult on_card(Context &c, const StreamPointer &stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes) return CUDA_SUCCESS;
  if (!on_device(c, device(to), bytes) || !on_device(c, device(from), bytes)) return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, [=] { memmove(device(to), device(from), bytes); });
  return CUDA_SUCCESS;
}

template <class T>
CUresult fill(Context &c, const StreamPointer &stream, CUdeviceptr to, size_t pitch, T value, size_t width,
              size_t height) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!width || !height) return CUDA_SUCCESS;
  if (to % sizeof(T) || !on_device(c, device(to), pitch * (height - 1) + width * sizeof(T)))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, [=] {
    for (size_t row = 0; row < height; ++row) {
      T *p = reinterpret_cast<T *>(device(to) + row * pitch);
      std::fill(p, p + width, value);
    }
  });
  return CUDA_SUCCESS;
}

// Rows between any two kinds of memory; arrays are not simulated.
CUresult rectangle(Context &c, const StreamPointer &stream, const CUDA_MEMCPY2D &copy, bool wait) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  const bool from_host = copy.srcMemoryType == CU_MEMORYTYPE_HOST, to_host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (!copy.WidthInBytes || !copy.Height) return CUDA_SUCCESS;
  const size_t from_pitch = copy.srcPitch ? copy.srcPitch : copy.WidthInBytes;
  const size_t to_pitch = copy.dstPitch ? copy.dstPitch : copy.WidthInBytes;
  const char *from = from_host ? static_cast<const char *>(copy.srcHost) : device(copy.srcDevice);
  char *to = to_host ? static_cast<char *>(copy.dstHost) : device(copy.dstDevice);
  from += copy.srcY * from_pitch + copy.srcXInBytes, to += copy.dstY * to_pitch + copy.dstXInBytes;
  const size_t width = copy.WidthInBytes, height = copy.Height;
  if (!from_host && !on_device(c, from, from_pitch * (height - 1) + width)) return CUDA_ERROR_INVALID_VALUE;
  if (!to_host && !on_device(c, to, to_pitch * (height - 1) + width)) return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, [=] {
    for (size_t row = 0; row < height; ++row) memmove(to + row * to_pitch, from + row * from_pitch, width);
  });
  if (wait || (from_host && !page_locked(c, from)) || (to_host && !page_locked(c, to))) finish(stream);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

using namespace sim;

// ---------------------------------------------------------------- copies

EXPORT CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return waiting([&](Context &c) { return to_device(c, c.standard, to, from, bytes, true); });
}
EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return in_context([&](Context &c) { return to_device(c, stream_of(c, stream), to, from, bytes, false); });
}
EXPORT CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return waiting([&](Context &c) { return to_host(c, c.standard, to, from, bytes, true); });
}
EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return in_context([&](Context &c) { return to_host(c, stream_of(c, stream), to, from, bytes, false); });
}
EXPORT CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return in_context([&](Context &c) { return on_card(c, c.standard, to, from, bytes); });
}
EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return in_context([&](Context &c) { return on_card(c, stream_of(c, stream), to, from, bytes); });
}
EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return cuMemcpyDtoD(to, from, bytes);
}
EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync(to, from, bytes, stream);
}
EXPORT CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  return waiting([&](Context &c) { return rectangle(c, c.standard, *copy, true); });
}
EXPORT CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) { return cuMemcpy2D(copy); }
EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  return in_context([&](Context &c) { return rectangle(c, stream_of(c, stream), *copy, false); });
}

// ---------------------------------------------------------------- fills

#define FILL(bits, T)                                                                                              \
  EXPORT CUresult cuMemsetD##bits(CUdeviceptr to, T value, size_t count) {                                         \
    return in_context([&](Context &c) { return fill<T>(c, c.standard, to, 0, value, count, 1); });                 \
  }                                                                                                                \
  EXPORT CUresult cuMemsetD##bits##Async(CUdeviceptr to, T value, size_t count, CUstream stream) {                 \
    return in_context([&](Context &c) { return fill<T>(c, stream_of(c, stream), to, 0, value, count, 1); });       \
  }                                                                                                                \
  EXPORT CUresult cuMemsetD2D##bits(CUdeviceptr to, size_t pitch, T value, size_t width, size_t height) {          \
    return in_context([&](Context &c) { return fill<T>(c, c.standard, to, pitch, value, width, height); });        \
  }                                                                                                                \
  EXPORT CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, T value, size_t width, size_t height,     \
                                           CUstream stream) {                                                      \
    return in_context([&](Context &c) { return fill<T>(c, stream_of(c, stream), to, pitch, value, width, height); }); \
  }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
