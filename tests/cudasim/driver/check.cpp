// Every access of a kernel comes here first. Kernels are compiled with -fsanitize=kernel-address and calls for checks:
// the compiler then calls the functions below and expects no shadow memory and no run-time library of its own, so that
// nothing has to be preloaded into Python. What is not the kernel's ends it with CUDA error 700 before it happens.
#include <cstdio>
#include <cstring>

#include "sim.h"

namespace sim {
namespace {

constexpr size_t DYNAMIC_ROOM = 256 << 10;
alignas(256) char dynamic_room[DYNAMIC_ROOM];

// Of the running kernel.
Module *module = nullptr;
unsigned dynamic_bytes = 0;

// ---------------------------------------------------------------- races in shared memory
struct Access {
  unsigned phase = 0;  // of the block's barriers; 0: never
  unsigned meeting = 0;  // of the warp's barriers
  unsigned short thread = 0;
  bool several = false, atomic = false;
};
struct Cell {
  Access read, write;
};
std::vector<Cell> cells;        // by byte: the dynamic array, then the module's variables
unsigned meetings[32];          // of each warp, counted
bool next_is_atomic = false;

// Whether an earlier access and one now of another thread are in no order.
bool unordered(const Access &earlier, unsigned thread) {
  if (earlier.phase != phase_now()) return false;
  if (earlier.several) return true;
  if (earlier.thread == thread) return false;
  const bool one_warp = earlier.thread / CUDASIM_WARP == thread / CUDASIM_WARP;
  return !(one_warp && earlier.meeting != meetings[thread / CUDASIM_WARP]);
}

void note(Access &access, unsigned thread, bool atomic) {
  const bool same_phase = access.phase == phase_now();
  access.several = same_phase && unordered(access, thread);
  access.atomic = atomic, access.phase = phase_now(), access.thread = thread;
  access.meeting = meetings[thread / CUDASIM_WARP];
}

void check_race(size_t first, size_t bytes, bool store) {
  const unsigned thread = thread_now();
  const bool atomic = next_is_atomic;
  for (size_t i = first; i < first + bytes; ++i) {
    Cell &cell = cells[i];
    const bool with_write = unordered(cell.write, thread) && !(atomic && cell.write.atomic);
    const bool with_read = store && unordered(cell.read, thread) && !(atomic && cell.read.atomic);
    if (with_write || with_read)
      abort_kernel(CUDA_ERROR_LAUNCH_FAILED,
                   std::string("a race in shared memory: a ") + (store ? "write" : "read") + " and the " +
                       (with_write ? "write" : "read") + " of thread " +
                       std::to_string((with_write ? cell.write : cell.read).thread) + " have no barrier between them");
    note(store ? cell.write : cell.read, thread, atomic);
  }
}

// ---------------------------------------------------------------- bounds
std::string near(const char *address) {
  for (Arena *arena : {&device_memory(), &pinned_memory()}) {
    if (!arena->contains(address)) continue;
    for (size_t back = 0; back <= 4096; ++back) {
      const auto [start, bytes] = arena->block(address - back);
      if (start) return std::to_string(address - start) + " bytes after the start of a block of " + std::to_string(bytes);
    }
    return "in device memory that is not allocated";
  }
  if (size_t(address - dynamic_room) < DYNAMIC_ROOM)
    return std::to_string(address - dynamic_room - dynamic_bytes) + " bytes past the end of the dynamic shared array";
  if (address >= module->checked_begin && address < module->checked_end)
    return "past the end of a shared or constant array";
  return "not an address of the device";
}

[[noreturn]] void fault(const void *address, size_t bytes, bool store) {
  char text[200];
  snprintf(text, sizeof text, "invalid %s of %zu bytes at %p, ", store ? "write" : "read", bytes, address);
  abort_kernel(CUDA_ERROR_ILLEGAL_ADDRESS, text + near(static_cast<const char *>(address)));
}

bool in_shadow(size_t first, size_t bytes) {
  const size_t last = first + bytes - 1;
  for (size_t cell = first / 8; cell < last / 8; ++cell)
    if (module->shadow[cell] != 8) return false;
  return last % 8 < module->shadow[last / 8];
}

void check_elsewhere(const char *address, size_t bytes, bool store) {
  if (on_fiber_stack(address)) return;
  const size_t in_variables = size_t(address - module->checked_begin);
  const size_t room = size_t(module->checked_end - module->checked_begin), in_dynamic = size_t(address - dynamic_room);
  if (in_variables < room) {
    if (in_variables + bytes > room || !in_shadow(in_variables, bytes)) fault(address, bytes, store);
    const cudasim_module &table = *module->table;
    if (settings().races && address >= table.shared_begin && address < table.shared_end)
      check_race(DYNAMIC_ROOM + size_t(address - table.shared_begin), bytes, store);
  } else if (in_dynamic < DYNAMIC_ROOM) {
    if (in_dynamic + bytes > dynamic_bytes) fault(address, bytes, store);
    if (settings().races) check_race(in_dynamic, bytes, store);
  } else if (address < module->image_begin || address + bytes > module->image_end) {
    if (!pinned_memory().may_touch(address, bytes)) fault(address, bytes, store);
  }
}

inline void check(const void *address, size_t bytes, bool store) {
  static Arena &memory = device_memory();
  if (memory.contains(address)) {
    if (!memory.may_touch(address, bytes)) fault(address, bytes, store);
  } else {
    check_elsewhere(static_cast<const char *>(address), bytes, store);
  }
  next_is_atomic = false;
}

// ---------------------------------------------------------------- variables of a module that is being loaded
struct Variable {  // as gcc lays it out
  char *begin;
  size_t size, with_red_zone;
  const char *name, *module_name;
  size_t dynamic;
  void *location;
  size_t indicator;
};
std::vector<Variable> registering;

}  // namespace

char *dynamic_shared_memory() { return dynamic_room; }

void adopt_variables(Module &m) {
  m.checked_begin = m.checked_end = nullptr;
  for (const Variable &v : registering) {
    if (!m.checked_begin || v.begin < m.checked_begin) m.checked_begin = v.begin;
    if (v.begin + v.with_red_zone > m.checked_end) m.checked_end = v.begin + v.with_red_zone;
  }
  m.shadow.assign(size_t(m.checked_end - m.checked_begin) / 8 + 1, 8);
  for (const Variable &v : registering) {
    unsigned char *cells = &m.shadow[size_t(v.begin - m.checked_begin) / 8];
    memset(cells, 0, v.with_red_zone / 8);
    paint(cells, v.size, true);
  }
  registering.clear();
}

void start_checks(const Launch &launch) {
  module = launch.function->module;
  dynamic_bytes = launch.dynamic_shared;
  next_is_atomic = false;
  if (settings().races) cells.assign(DYNAMIC_ROOM + size_t(module->table->shared_end - module->table->shared_begin), {});
}

// Shared memory is not zero when a block begins: as floats it is NaN.
void start_block() {
  memset(dynamic_room, 0xff, dynamic_bytes);
  memset(module->table->shared_begin, 0xff, size_t(module->table->shared_end - module->table->shared_begin));
}

void warp_met(unsigned warp) { ++meetings[warp]; }

}  // namespace sim

using namespace sim;

#define CHECKS(n)                                                                       \
  EXPORT void __asan_load##n##_noabort(const void *p) { check(p, n, false); }           \
  EXPORT void __asan_store##n##_noabort(const void *p) { check(p, n, true); }
CHECKS(1) CHECKS(2) CHECKS(4) CHECKS(8) CHECKS(16)
EXPORT void __asan_loadN_noabort(const void *p, size_t bytes) {
  if (bytes) check(p, bytes, false);
}
EXPORT void __asan_storeN_noabort(const void *p, size_t bytes) {
  if (bytes) check(p, bytes, true);
}
EXPORT void __asan_handle_no_return() {}
EXPORT void __asan_before_dynamic_init(const char *) {}
EXPORT void __asan_after_dynamic_init() {}
EXPORT void __asan_register_globals(Variable *variables, size_t count) {
  registering.insert(registering.end(), variables, variables + count);
}
EXPORT void __asan_unregister_globals(Variable *, size_t) {}

EXPORT void cudasim_atomic(const void *address, unsigned bytes) {
  next_is_atomic = true;
  check(address, bytes, true);
}
