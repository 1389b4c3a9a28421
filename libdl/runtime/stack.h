// SPDX-License-Identifier: Apache-2.0

// Kernels keep their tiles on the stack, which may need more room than a small thread has. If too
// little of the calling thread's stack is left they run on a separate one, allocated where failure
// can be reported and kept for the thread's next call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libdl {

constexpr size_t kKernelStack = 192 * 1024;  // more than any kernel and the hooks it calls need

// The range of stack pointers, on the thread's stack or one of ours, that leave enough room. Empty
// until the stack's bounds are known.
struct StackBounds {
  uintptr_t first = 0, count = 0;
};
extern constinit thread_local StackBounds stack_bounds;

// Also true on a stack that we do not know (a coroutine's).
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

// Runs body(arg), on another stack if this one turns out to be too short. Throws std::bad_alloc and
// whatever body throws.
void with_stack(void (*body)(void* arg), void* arg);

// Out of line, so that the copy of what body captures does not cost every call.
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
