// A grid runs block after block, the threads of a block as fibers of the calling host thread. A thread runs until it
// returns or must wait; when nobody can run, whoever's meeting is complete goes on. A fiber that has finished one thread
// takes the next, so a kernel without barriers uses a single one.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "fiber.h"
#include "sim.h"

namespace sim {
namespace {

constexpr size_t STACK = 128 << 10;
constexpr unsigned STACKS = 1024;

enum class State : unsigned char { READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, DONE };

struct Thread {
  int fiber = -1;
  State state = State::READY;
  unsigned mask = 0;  // of its warp barrier
};

// The one running kernel; guarded by the driver's lock.
struct Running {
  const Launch *launch = nullptr;
  const cudasim_kernel *kernel = nullptr;
  cudasim_uint3 block;
  std::vector<Thread> threads;
  std::vector<cudasim_uint3> places;
  std::vector<cudasim_bits> cells;
  unsigned now = 0, unfinished = 0, at_block_barrier = 0, phase = 0;
  CUresult error = CUDA_SUCCESS;
  Fiber scheduler;
} r;

char *stacks = nullptr;
Fiber fibers[STACKS];
std::vector<int> spare;     // fibers between two threads
unsigned started = 0;       // fibers that have been given a stack

void thread_loop() {
  for (;;) {
    r.kernel->call(r.launch->parameters.data());
    r.threads[r.now].state = State::DONE;
    Fiber::swap(fibers[r.threads[r.now].fiber], r.scheduler);
  }
}

int take_fiber() {
  if (!spare.empty()) {
    const int fiber = spare.back();
    spare.pop_back();
    return fiber;
  }
  if (!stacks)
    stacks = static_cast<char *>(
        mmap(nullptr, STACK * STACKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  fibers[started].start(stacks + STACK * started, STACK, thread_loop);
  return int(started++);
}

// Gives thread `t` the processor until it waits, returns or fails.
void resume(unsigned t) {
  Thread &thread = r.threads[t];
  if (thread.fiber < 0) thread.fiber = take_fiber();
  r.now = t;
  *r.launch->function->module->table->thread = r.places[t];
  Fiber::swap(r.scheduler, fibers[thread.fiber]);
  if (r.error) return;
  if (thread.state == State::DONE) {
    spare.push_back(thread.fiber);
    thread.fiber = -1;
    --r.unfinished;
  }
}

void wait(State state, unsigned mask = 0) {
  Thread &thread = r.threads[r.now];
  thread.state = state, thread.mask = mask;
  Fiber::swap(fibers[thread.fiber], r.scheduler);
}

// Lets the threads go whose meeting is complete; whether there were any.
bool release() {
  bool any = false;
  if (r.at_block_barrier == r.unfinished) {
    for (Thread &thread : r.threads)
      if (thread.state == State::AT_BLOCK_BARRIER) thread.state = State::READY;
    r.at_block_barrier = 0, ++r.phase;
    return true;
  }
  for (size_t first = 0; first < r.threads.size(); first += CUDASIM_WARP) {
    const size_t lanes = std::min<size_t>(CUDASIM_WARP, r.threads.size() - first);
    Thread *warp = &r.threads[first];
    unsigned go = 0;
    for (size_t i = 0; i < lanes; ++i) {
      if (warp[i].state != State::AT_WARP_BARRIER) continue;
      bool complete = true;
      for (size_t j = 0; j < lanes && complete; ++j)
        if (warp[i].mask >> j & 1 && warp[j].state != State::DONE)
          complete = warp[j].state == State::AT_WARP_BARRIER && warp[j].mask == warp[i].mask;
      go |= unsigned(complete) << i;
    }
    for (size_t i = 0; i < lanes; ++i)
      if (go >> i & 1) warp[i].state = State::READY, any = true;
    if (go) warp_met(unsigned(first / CUDASIM_WARP));
  }
  return any;
}

void report_deadlock() {
  r.error = CUDA_ERROR_LAUNCH_FAILED;
  fprintf(stderr, "cudasim: kernel %s, block (%u, %u, %u): %u threads wait for ever, %u of them at __syncthreads\n",
          r.kernel->name, r.block.x, r.block.y, r.block.z, r.unfinished, r.at_block_barrier);
}

void run_block(bool reverse) {
  const unsigned count = unsigned(r.threads.size());
  for (Thread &thread : r.threads) thread = Thread();
  r.unfinished = count, r.at_block_barrier = 0, ++r.phase;
  *r.launch->function->module->table->block = r.block;
  start_block();
  do {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned t = reverse ? count - 1 - i : i;
      if (r.threads[t].state == State::READY) resume(t);
      if (r.error) return;
    }
  } while (r.unfinished && (release() || (report_deadlock(), false)));
}

void place_threads(const cudasim_uint3 &size) {
  r.places.clear();
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x) r.places.push_back({x, y, z});
  r.threads.resize(r.places.size());
  r.cells.resize((r.threads.size() + CUDASIM_WARP - 1) / CUDASIM_WARP * CUDASIM_WARP);
}

}  // namespace

CUresult run(const Launch &launch) {
  const cudasim_module &table = *launch.function->module->table;
  r.launch = &launch, r.kernel = launch.function->kernel, r.error = CUDA_SUCCESS;
  *table.block_size = launch.block, *table.grid_size = launch.grid;
  *table.dynamic_shared = dynamic_shared_memory();
  place_threads(launch.block);
  start_checks(launch);
  const bool reverse = settings().reverse;
  const uint64_t plane = uint64_t(launch.grid.x) * launch.grid.y, count = plane * launch.grid.z;
  for (uint64_t i = 0; i < count && !r.error; ++i) {
    const uint64_t b = reverse ? count - 1 - i : i;
    r.block = {unsigned(b % launch.grid.x), unsigned(b / launch.grid.x % launch.grid.y), unsigned(b / plane)};
    run_block(reverse);
  }
  if (r.error) started = 0, spare.clear();  // whatever the fibers were in the middle of is forgotten
  return r.error;
}

void abort_kernel(CUresult error, const std::string &why) {
  fprintf(stderr, "cudasim: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s\n", r.kernel->name, r.block.x,
          r.block.y, r.block.z, r.places[r.now].x, r.places[r.now].y, r.places[r.now].z, why.c_str());
  r.error = error;
  Fiber::swap(fibers[r.threads[r.now].fiber], r.scheduler);
  abort();  // an ended kernel's fiber is never resumed
}

bool on_fiber_stack(const void *address) { return size_t((const char *)address - stacks) < STACK * STACKS; }
unsigned thread_now() { return r.now; }
unsigned phase_now() { return r.phase; }

}  // namespace sim

using namespace sim;

// ---------------------------------------------------------------- what kernels call

EXPORT void cudasim_sync_block() {
  ++r.at_block_barrier;
  wait(State::AT_BLOCK_BARRIER);
}

EXPORT void cudasim_sync_warp(unsigned mask) {
  if (!(mask >> cudasim_lane() & 1))
    abort_kernel(CUDA_ERROR_LAUNCH_FAILED, "a warp function whose mask lacks the calling lane");
  wait(State::AT_WARP_BARRIER, mask);
}

EXPORT cudasim_bits *cudasim_cells() { return &r.cells[r.now / CUDASIM_WARP * CUDASIM_WARP]; }

EXPORT unsigned cudasim_lane() { return r.now % CUDASIM_WARP; }

EXPORT unsigned cudasim_alive() {
  const size_t first = r.now / CUDASIM_WARP * CUDASIM_WARP;
  unsigned alive = 0;
  for (size_t i = 0; i < CUDASIM_WARP && first + i < r.threads.size(); ++i)
    alive |= unsigned(r.threads[first + i].state != State::DONE) << i;
  return alive;
}

EXPORT void cudasim_trap(const char *why) { abort_kernel(CUDA_ERROR_LAUNCH_FAILED, why); }
