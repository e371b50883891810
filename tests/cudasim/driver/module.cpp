// Modules: the stand-in compiler's "cubin" is a shared object with one table (../include/cudasim_abi.h). Functions,
// their attributes, launches.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim.h"

namespace sim {
namespace {

// An image comes without its length: the section headers of an ELF file are its end.
size_t image_size(const void *image) {
  const auto *head = static_cast<const ElfW(Ehdr) *>(image);
  if (memcmp(head->e_ident, ELFMAG, SELFMAG)) return 0;
  return head->e_shoff + size_t(head->e_shentsize) * head->e_shnum;
}

// The dynamic loader wants a file, of another name each time. It is removed once it is mapped.
void *open_image(const void *image, size_t bytes, std::string &why) {
  char path[] = "/tmp/cudasim-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return nullptr;
  const bool written = write(file, image, bytes) == ssize_t(bytes);
  close(file);
  void *library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) why = written ? dlerror() : "cannot write /tmp";
  unlink(path);
  return library;
}

void find_image(Module &m) {
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        Module &module = *static_cast<Module *>(data);
        char *begin = nullptr, *end = nullptr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          char *from = reinterpret_cast<char *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          if (!begin || from < begin) begin = from;
          if (from + info->dlpi_phdr[i].p_memsz > end) end = from + info->dlpi_phdr[i].p_memsz;
        }
        const char *table = reinterpret_cast<const char *>(module.table);
        if (table < begin || table >= end) return 0;
        module.image_begin = begin, module.image_end = end;
        return 1;
      },
      &m);
}

CUresult load(Context &c, CUmodule *out, const void *image, size_t bytes, std::string &why) {
  if (!bytes) return why = "not a module of the stand-in compiler", CUDA_ERROR_INVALID_IMAGE;
  void *library = open_image(image, bytes, why);
  if (!library) return CUDA_ERROR_INVALID_IMAGE;
  const auto *table = static_cast<const cudasim_module *>(dlsym(library, "cudasim_module_table"));
  if (!table || table->version != CUDASIM_VERSION) {
    dlclose(library);
    why = "a module of another version of the stand-in compiler";
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  Module *module = new Module{&c, library, table, {}, nullptr, nullptr, nullptr, nullptr, {}};
  for (unsigned i = 0; i < table->count; ++i)
    module->functions[table->kernels[i].name] = Function{module, &table->kernels[i]};
  find_image(*module);
  adopt_variables(*module);
  c.modules.insert(module);
  *out = reinterpret_cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

Module *known(Context &c, CUmodule handle) {
  Module *module = reinterpret_cast<Module *>(handle);
  return c.modules.count(module) ? module : nullptr;
}

Function *known(Context &c, CUfunction handle) {
  Function *function = reinterpret_cast<Function *>(handle);
  for (Module *module : c.modules) {
    const auto found = module->functions.find(function ? function->kernel->name : "");
    if (found != module->functions.end() && &found->second == function) return function;
  }
  return nullptr;
}

// The parameters as one packed buffer, from either form that cuLaunchKernel takes.
CUresult pack(const cudasim_kernel &kernel, void **each, void **extra, std::vector<char> &packed) {
  packed.resize(kernel.bytes);
  if (each) {
    for (unsigned i = 0; i < kernel.count; ++i) memcpy(&packed[kernel.offsets[i]], each[i], kernel.sizes[i]);
    return CUDA_SUCCESS;
  }
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t *>(extra[1]);
  }
  if (bytes < kernel.bytes || (kernel.bytes && !buffer)) return CUDA_ERROR_INVALID_VALUE;
  if (kernel.bytes) memcpy(packed.data(), buffer, kernel.bytes);
  return CUDA_SUCCESS;
}

bool fits(unsigned value, unsigned limit) { return value && value <= limit; }

}  // namespace

void unload(Module *module) {
  module->context->modules.erase(module);
  dlclose(module->library);
  delete module;
}

}  // namespace sim

using namespace sim;

// ---------------------------------------------------------------- modules

// Of the options only the log is of use: it says why a module was refused.
EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options,
                                   void **values) {
  return in_context([&](Context &c) {
    std::string why;
    const CUresult result = load(c, out, image, image_size(image), why);
    char *log = nullptr;
    size_t room = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log = static_cast<char *>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) room = reinterpret_cast<size_t>(values[i]);
      if (options[i] == CU_JIT_INFO_LOG_BUFFER) *static_cast<char *>(values[i]) = 0;
    }
    if (log && room) snprintf(log, room, "%s", why.c_str());
    return result;
  });
}

EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *image) {
  return cuModuleLoadDataEx(out, image, 0, nullptr, nullptr);
}

EXPORT CUresult cuModuleLoad(CUmodule *out, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::vector<char> image;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) image.insert(image.end(), part, part + n);
  fclose(file);
  if (image.size() < sizeof(ElfW(Ehdr))) return CUDA_ERROR_INVALID_IMAGE;
  return cuModuleLoadData(out, image.data());
}

EXPORT CUresult cuModuleUnload(CUmodule handle) {
  return in_context([&](Context &c) {
    Module *module = known(c, handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    finish(c);
    unload(module);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
  return in_context([&](Context &c) {
    Module *module = known(c, handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    const auto found = module->functions.find(name);
    if (found == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
    *out = reinterpret_cast<CUfunction>(&found->second);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuModuleGetGlobal(CUdeviceptr *out, size_t *bytes, CUmodule handle, const char *name) {
  return in_context([&](Context &c) {
    Module *module = known(c, handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    const cudasim_module &table = *module->table;
    for (unsigned i = 0; i < table.global_count; ++i) {
      if (strcmp(table.global_names[i], name)) continue;
      if (out) *out = reinterpret_cast<CUdeviceptr>(table.globals[i]);
      if (bytes) *bytes = table.global_sizes[i];
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

// ---------------------------------------------------------------- functions

EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  return in_context([&](Context &c) {
    const Function *function = known(c, handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = int(function->kernel->max_threads); break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = settings().major * 10 + settings().minor; break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->dynamic_shared_limit; break;
      default: *value = 0;
    }
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return in_context([&](Context &c) {
    Function *function = known(c, handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      if (value < 0 || size_t(value) > DYNAMIC_SHARED_MAX) return CUDA_ERROR_INVALID_VALUE;
      function->dynamic_shared_limit = value;
    }
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return in_context([](Context &) { return CUDA_SUCCESS; });
}

// PyCUDA calls these before each cuLaunchKernel, which does not look at what they set.
EXPORT CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  return in_context([&](Context &c) {
    if (!known(c, handle)) return CUDA_ERROR_INVALID_HANDLE;
    return x > 0 && y > 0 && z > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

EXPORT CUresult cuFuncSetSharedSize(CUfunction handle, unsigned) {
  return in_context([&](Context &c) { return known(c, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int block_size, size_t) {
  return in_context([&](Context &c) {
    if (!known(c, handle) || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = std::min(32, 2048 / block_size);
    return CUDA_SUCCESS;
  });
}

// What ends a kernel is not the launch's error but that of the next call that waits.
EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream stream_handle, void **each, void **extra) {
  return in_context([&](Context &c) {
    Function *function = known(c, handle);
    const auto stream = stream_of(c, stream_handle);
    if (!function || !stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!fits(gx, 2147483647) || !fits(gy, 65535) || !fits(gz, 65535)) return CUDA_ERROR_INVALID_VALUE;
    if (!fits(bx, 1024) || !fits(by, 1024) || !fits(bz, 64) || bx * by * bz > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (int(shared) > function->dynamic_shared_limit) return CUDA_ERROR_INVALID_VALUE;
    if (bx * by * bz > function->kernel->max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    auto launch = std::make_shared<Launch>(Launch{function, {gx, gy, gz}, {bx, by, bz}, shared, {}});
    if (const CUresult error = pack(*function->kernel, each, extra, launch->parameters)) return error;
    enqueue(stream, [&c, launch] { c.error = run(*launch); });
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuProfilerStart() { return CUDA_SUCCESS; }
EXPORT CUresult cuProfilerStop() { return CUDA_SUCCESS; }
