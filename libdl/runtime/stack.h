// SPDX-License-Identifier: Apache-2.0

// Kernels keep their tiles on the stack, more of them than a small thread has. Where the rest of
// the calling thread's stack is short they run on one of their own, which is taken where failure
// can be told and kept for the thread's next call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libdl {

constexpr size_t kKernelStack = 192 * 1024;  // more than any kernel takes, and hooks within it

// The addresses of the running stack, the thread's or one of ours, from which enough of it is left.
// At first, while nothing is known, there are none.
struct StackBounds {
  uintptr_t first = 0, count = 0;
};
extern constinit thread_local StackBounds stack_bounds;

// Also where the stack is none that we know (a coroutine's).
inline bool stack_is_short() {
  uintptr_t here;  // the register itself: asking for the frame's address makes a frame
#if defined(__x86_64__)
  asm("movq %%rsp, %0" : "=r"(here));
#elif defined(__aarch64__)
  asm("mov %0, sp" : "=r"(here));
#else
  here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
  return here - stack_bounds.first >= stack_bounds.count;
}

// Runs body(arg), on another stack if this one is really short. Throws std::bad_alloc, and what
// body throws.
void with_stack(void (*body)(void* arg), void* arg);

// The copy of what body refers to is made here, not where it would cost each call.
template <class F>
[[gnu::noinline, gnu::cold]] void with_other_stack(F body) {
  with_stack([](void* f) { (*static_cast<F*>(f))(); }, &body);
}
template <class F>
void with_enough_stack(F body) {
  if (stack_is_short()) [[unlikely]]
    return with_other_stack(body);
  body();
}

}  // namespace libdl
