// The stand-in driver's own view of itself: contexts, streams, memory, modules, and the checks of a running kernel.
// One lock guards everything; it is held during every call of the API, also while a kernel runs.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../include/cudasim_abi.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace sim {

// ---------------------------------------------------------------- settings
struct Settings {
  int major, minor;  // CUDASIM_ARCH=sm_90: the compute capability
  size_t memory;     // CUDASIM_MEMORY=4G: the device's
  bool lazy;         // CUDASIM_MODE=lazy: streams run only when somebody waits for them
  bool reverse;      // CUDASIM_ORDER=reverse: blocks and threads run from the last to the first
  bool races;        // CUDASIM_RACES=1: a race in shared memory is a fault
};
const Settings &settings();

// ---------------------------------------------------------------- memory
// One reserved range of addresses with a shadow: for each 8 bytes, how many of them, from the first, may be touched.
class Arena {
 public:
  explicit Arena(size_t size);
  char *allocate(size_t bytes);  // null: no room
  bool free(char *address);      // false: not the start of a block
  // The block that holds the address; {null, 0} if none does.
  std::pair<char *, size_t> block(const void *address) const;
  bool contains(const void *address) const { return size_t((const char *)address - base) < size; }
  bool holds(const void *address, size_t bytes) const;  // in one block
  bool may_touch(const void *address, size_t bytes) const;
  size_t used() const { return in_use; }

  char *base;
  const size_t size;
  unsigned char *shadow;

 private:
  std::map<char *, size_t> blocks;  // live: start, asked size
  std::map<char *, size_t> gaps;    // free: start, size
  char *next;                       // next fit: freed addresses come back late, so that their use is found
  size_t in_use = 0;
};
Arena &device_memory();
Arena &pinned_memory();
void paint(unsigned char *shadow, size_t bytes, bool allowed);  // from a multiple of 8

// ---------------------------------------------------------------- contexts, streams, events
struct Context;
struct Module;
struct Stream;

struct Work {
  std::function<void()> run;
  std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> after;  // streams, and how far each must be
};

struct Stream {
  Context *context;
  bool blocking;  // ordered with the default stream
  uint64_t enqueued = 0, done = 0;
  std::deque<Work> queue = {};
};

struct Mark {  // one recording of an event
  std::shared_ptr<Stream> stream;
  uint64_t place;
  std::chrono::steady_clock::time_point when;
  bool done() const { return stream->done >= place; }
};

struct Event {
  Context *context;
  bool timed;
  std::shared_ptr<Mark> mark;
};

struct Context {
  bool primary = false;
  unsigned flags = 0;
  CUresult error = CUDA_SUCCESS;  // of an asynchronous operation: it stays, as on a card
  std::shared_ptr<Stream> standard = std::make_shared<Stream>(Stream{this, true});
  std::map<Stream *, std::shared_ptr<Stream>> streams;
  std::set<Event *> events;
  std::set<Module *> modules;
  std::set<char *> memory, pinned;
  std::map<char *, size_t> registered;  // page-locked memory of the caller's own
};

// Appends work to a stream, and runs it unless streams are lazy.
void enqueue(const std::shared_ptr<Stream> &stream, std::function<void()> run);
void finish(const std::shared_ptr<Stream> &stream, uint64_t place);
void finish(const std::shared_ptr<Stream> &stream);
void finish(Context &context);
std::shared_ptr<Stream> stream_of(Context &context, CUstream handle);  // null: no such stream
void release_contents(Context &context);                              // before a context goes
void unload(Module *module);

// ---------------------------------------------------------------- modules and running kernels
struct Function {
  Module *module;
  const cudasim_kernel *kernel;
  int dynamic_shared_limit = 48 << 10;
};

struct Module {
  Context *context;
  void *library;
  const cudasim_module *table;
  std::map<std::string, Function> functions;
  char *image_begin, *image_end;       // where the library lies
  char *checked_begin, *checked_end;   // its variables with red zones between them, and their shadow
  std::vector<unsigned char> shadow;
};

struct Launch {
  Function *function;
  cudasim_uint3 grid, block;
  unsigned dynamic_shared;
  std::vector<char> parameters;
};
// Runs all blocks; the error that the kernel ends with.
CUresult run(const Launch &launch);
// Ends the running kernel with an error, from one of its threads.
[[noreturn]] void abort_kernel(CUresult error, const std::string &why);
bool on_fiber_stack(const void *address);  // of the running kernel
unsigned thread_now();                     // its number in its block
unsigned phase_now();                      // the number of barriers that the block has passed
void start_checks(const Launch &launch);
void start_block();
void warp_met(unsigned warp);          // its lanes have passed a warp barrier
void adopt_variables(Module &module);  // those that registered while the library was loaded

char *dynamic_shared_memory();
constexpr size_t DYNAMIC_SHARED_MAX = 227 << 10;  // what a block may opt in to on sm_90

// ---------------------------------------------------------------- the API's calls
extern std::mutex lock;
extern bool initialised, ended;
Context *current();

template <class Body>
CUresult in_driver(Body body) {
  const std::lock_guard<std::mutex> guard(lock);
  if (ended) return CUDA_ERROR_DEINITIALIZED;
  return initialised ? body() : CUDA_ERROR_NOT_INITIALIZED;
}

// With the calling thread's context, which must not have failed.
template <class Body>
CUresult in_context(Body body) {
  return in_driver([&]() -> CUresult {
    Context *context = current();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->error) return context->error;
    const CUresult result = body(*context);
    return result;
  });
}

// The same for calls that report what asynchronous work came to.
template <class Body>
CUresult waiting(Body body) {
  return in_context([&](Context &context) -> CUresult {
    const CUresult result = body(context);
    return context.error ? context.error : result;
  });
}

}  // namespace sim
