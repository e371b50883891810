// Switching stacks: the registers that a call must keep, and the stack pointer. swapcontext would do, with two system
// calls each time; a kernel of 256 threads and ten barriers switches 5000 times.
#pragma once

#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void cudasim_switch(void **save, void *load);

#if defined(__x86_64__)
asm(R"(
.text
.globl cudasim_switch
.hidden cudasim_switch
.type cudasim_switch, @function
cudasim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#else
asm(R"(
.text
.globl cudasim_switch
.hidden cudasim_switch
.type cudasim_switch, %function
cudasim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
#endif

namespace sim {

struct Fiber {
  void *sp = nullptr;

  void start(char *stack, size_t size, void (*entry)()) {
    uint64_t *top = reinterpret_cast<uint64_t *>(stack + size);
#if defined(__x86_64__)
    *--top = 0;  // where a return address would be: a function finds its stack 8 off a multiple of 16
    *--top = reinterpret_cast<uint64_t>(entry);
    top -= 6;
#else
    top -= 20;
    top[11] = reinterpret_cast<uint64_t>(entry);  // x30
#endif
    sp = top;
  }
  static void swap(Fiber &from, Fiber &to) { cudasim_switch(&from.sp, to.sp); }
};

}  // namespace sim

#else  // any other processor

#include <ucontext.h>

namespace sim {

struct Fiber {
  ucontext_t state;

  void start(char *stack, size_t size, void (*entry)()) {
    getcontext(&state);
    state.uc_stack.ss_sp = stack, state.uc_stack.ss_size = size, state.uc_link = nullptr;
    makecontext(&state, entry, 0);
  }
  static void swap(Fiber &from, Fiber &to) { swapcontext(&from.state, &to.state); }
};

}  // namespace sim

#endif
