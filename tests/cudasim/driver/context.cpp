// Start, the one device, contexts.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "sim.h"

namespace sim {

std::mutex lock;
bool initialised = false, ended = false;

namespace {

size_t size_of(const char *text, size_t otherwise) {
  if (!text || !*text) return otherwise;
  char *end;
  const double value = strtod(text, &end);
  const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  return size_t(value * double(size_t(1) << shift));
}

bool is(const char *name, const char *value) {
  const char *text = getenv(name);
  return text && !strcmp(text, value);
}

Settings read_settings() {
  Settings s{9, 0, size_of(getenv("CUDASIM_MEMORY"), size_t(4) << 30), is("CUDASIM_MODE", "lazy"),
             is("CUDASIM_ORDER", "reverse"), is("CUDASIM_RACES", "1")};
  const char *arch = getenv("CUDASIM_ARCH");
  if (arch && !strncmp(arch, "sm_", 3)) {
    const int number = atoi(arch + 3);
    s.major = number / 10, s.minor = number % 10;
  }
  return s;
}

Context *primary = nullptr;
unsigned primary_flags = 0, retained = 0;
std::set<Context *> alive;

thread_local std::vector<Context *> stack;

// On a card the driver ends with the process: what comes later, from another exit handler, is refused.
__attribute__((destructor)) void end() { ended = true; }

Context *known(CUcontext handle) {
  Context *context = reinterpret_cast<Context *>(handle);
  return alive.count(context) ? context : nullptr;
}

CUcontext handle(Context *context) { return reinterpret_cast<CUcontext>(context); }

Context *create(unsigned flags, bool is_primary) {
  Context *context = new Context;
  context->flags = flags;
  context->primary = is_primary;
  alive.insert(context);
  return context;
}

void destroy(Context *context) {
  release_contents(*context);
  alive.erase(context);
  delete context;
}

void reset_primary() {
  if (primary) destroy(primary);
  primary = nullptr, retained = 0;
}

// Python loads this library for itself alone; modules have to find what they call in it.
void offer_symbols() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&settings), &info)) dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace

const Settings &settings() {
  static const Settings s = read_settings();
  return s;
}

Context *current() {
  if (stack.empty()) return nullptr;
  return alive.count(stack.back()) ? stack.back() : nullptr;
}

void release_contents(Context &context) {
  finish(context);
  for (Module *module : std::set<Module *>(context.modules)) unload(module);
  for (char *block : context.memory) device_memory().free(block);
  for (char *block : context.pinned) pinned_memory().free(block);
  for (Event *event : context.events) delete event;
}

}  // namespace sim

using namespace sim;

EXPORT CUresult cuInit(unsigned flags) {
  const std::lock_guard<std::mutex> guard(lock);
  if (ended) return CUDA_ERROR_DEINITIALIZED;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (is("CUDASIM_DEVICES", "0")) return CUDA_ERROR_NO_DEVICE;
  if (!initialised) offer_symbols();
  initialised = true;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- the device

EXPORT CUresult cuDeviceGetCount(int *count) {
  return in_driver([&] { return *count = 1, CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return in_driver([&] { return *device = 0, ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return in_driver([&] {
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    strncpy(name, "cudasim", size_t(length));
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice) {
  return in_driver([&] { return memcpy(uuid->bytes, "cudasim-device-0", 16), CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice) {
  return in_driver([&] { return strncpy(id, "0000:00:00.0", size_t(length)), CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *) {
  return in_driver([&] { return *device = 0, CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice) {
  return in_driver([&] { return *bytes = settings().memory, CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice) {
  return in_driver([&] { return *major = settings().major, *minor = settings().minor, CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) {
  return in_driver([&] { return *can = 0, CUDA_SUCCESS; });
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return in_driver([&] {
    static const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, int(DYNAMIC_SHARED_MAX)},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, CUDASIM_WARP},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 256},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4 << 20},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    };
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    const auto found = values.find(attribute);
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? settings().major
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? settings().minor
             : found == values.end()                                     ? 0
                                                                         : found->second;
    return CUDA_SUCCESS;
  });
}

// ---------------------------------------------------------------- contexts

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
  return in_driver([&] {
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    if (!primary) primary = create(primary_flags, true);
    ++retained;
    *out = handle(primary);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return in_driver([&] {
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    if (!retained) return CUDA_ERROR_INVALID_CONTEXT;
    if (!--retained) reset_primary();
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return in_driver([&] { return device ? CUDA_ERROR_INVALID_DEVICE : (reset_primary(), CUDA_SUCCESS); });
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned flags) {
  return in_driver([&] {
    primary_flags = flags;
    if (primary) primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active) {
  return in_driver([&] { return *flags = primary_flags, *active = primary != nullptr, CUDA_SUCCESS; });
}

#undef cuCtxCreate
EXPORT CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) {
  return in_driver([&] {
    if (device) return CUDA_ERROR_INVALID_DEVICE;
    Context *context = create(flags, false);
    stack.push_back(context);
    *out = handle(context);
    return CUDA_SUCCESS;
  });
}

#if CUDA_VERSION >= 13000
EXPORT CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(out, flags, device);
}
#endif

EXPORT CUresult cuCtxDestroy(CUcontext context) {
  return in_driver([&] {
    Context *c = known(context);
    if (!c || c->primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack.empty() && stack.back() == c) stack.pop_back();
    destroy(c);
    return CUDA_SUCCESS;
  });
}

#undef cuCtxAttach
EXPORT CUresult cuCtxAttach(CUcontext *out, unsigned) {
  return in_driver([&] {
    *out = handle(current());
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  });
}

EXPORT CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy(context); }

EXPORT CUresult cuCtxPushCurrent(CUcontext context) {
  return in_driver([&] {
    if (!known(context)) return CUDA_ERROR_INVALID_CONTEXT;
    stack.push_back(known(context));
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuCtxPopCurrent(CUcontext *out) {
  return in_driver([&] {
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (out) *out = handle(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return in_driver([&] {
    if (context && !known(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(known(context));
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *out) {
  return in_driver([&] { return *out = handle(current()), CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
  return in_driver([&] { return current() ? (*device = 0, CUDA_SUCCESS) : CUDA_ERROR_INVALID_CONTEXT; });
}

EXPORT CUresult cuCtxGetFlags(unsigned *flags) {
  return in_context([&](Context &c) { return *flags = c.flags, CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxGetApiVersion(CUcontext, unsigned *version) {
  return in_driver([&] { return *version = 3020, CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxSynchronize() {
  return waiting([](Context &c) { return finish(c), CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  return in_context([&](Context &) {
    *value = limit == CU_LIMIT_STACK_SIZE ? 1024 : limit == CU_LIMIT_PRINTF_FIFO_SIZE ? 1 << 20 : 8 << 20;
    return limit < CU_LIMIT_MAX ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
  });
}

EXPORT CUresult cuCtxSetLimit(CUlimit, size_t) {
  return in_context([](Context &) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  return in_context([&](Context &) { return *config = CU_FUNC_CACHE_PREFER_NONE, CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return in_context([](Context &) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return in_context([&](Context &) { return *least = 0, *greatest = -5, CUDA_SUCCESS; });
}
