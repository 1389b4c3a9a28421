// SPDX-License-Identifier: Apache-2.0

#include "runtime/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "base/thread_end.h"

namespace libdl {

constinit thread_local StackBounds stack_bounds;

// The sanitizers follow one stack for each thread, and need more of it.
#if defined(LIBDL_SANITIZE) || !(defined(__x86_64__) || defined(__aarch64__))
void with_stack(void (*body)(void*), void* arg) { body(arg); }
#else

namespace {

constexpr size_t kBytes = 2 * kKernelStack, kGuard = 64 * 1024;

struct Area {  // the guard lies below
  std::byte* base;
  std::byte* low() const { return base + kGuard; }
  std::byte* high() const { return base + kGuard + kBytes; }
};

constinit thread_local std::byte* spare = nullptr;

void drop(std::byte* base) noexcept { munmap(base, kGuard + kBytes); }
void leave() noexcept {
  if (std::byte* const base = std::exchange(spare, nullptr)) drop(base);
}
constinit thread_local ThreadEnd thread_end{EndOrder::kBlocks, leave};

Area take() {
  if (std::byte* const base = std::exchange(spare, nullptr)) return {base};
  if (!at_thread_end(thread_end)) throw std::bad_alloc();
  void* const base = mmap(nullptr, kGuard + kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  mprotect(base, kGuard, PROT_NONE);
  return {static_cast<std::byte*>(base)};
}
void give(Area area) noexcept {
  if (spare)
    drop(area.base);
  else
    spare = area.base;
}

struct Task {
  void (*body)(void*);
  void* arg;
  std::exception_ptr failure;
};
void run(void* p) noexcept {
  Task& task = *static_cast<Task*>(p);
  try {
    task.body(task.arg);
  } catch (...) {  // nothing is unwound from one stack to the other
    task.failure = std::current_exception();
  }
}

[[gnu::noinline]] void call_on(std::byte* top, void (*function)(void*), void* arg) {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[function]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(arg)
      : [top] "r"(top), [function] "r"(function)
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "cc", "memory");
#else
  register void* first asm("x0") = arg;
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %[top]\n\t"
      "blr %[function]\n\t"
      "mov sp, x19"
      : "+r"(first)
      : [top] "r"(top), [function] "r"(function)
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
        "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
        "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
        "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#endif
}

StackBounds bounds_of(const void* low, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(low) + kKernelStack;
  return {first, bytes > kKernelStack ? bytes - kKernelStack : 0};
}

// Of the main thread's stack the part that it may still grow into counts.
void ask_bounds() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  stack_bounds = bounds_of(low, bytes);
}

}  // namespace

void with_stack(void (*body)(void*), void* arg) {
  if (!stack_bounds.first) ask_bounds();  // once a thread
  if (!stack_is_short()) return body(arg);
  const Area area = take();
  Task task{body, arg, nullptr};
  const StackBounds before = std::exchange(stack_bounds, bounds_of(area.low(), kBytes));
  call_on(area.high(), run, &task);
  stack_bounds = before;
  give(area);
  if (task.failure) std::rethrow_exception(task.failure);
}
#endif

}  // namespace libdl
