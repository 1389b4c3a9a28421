// SPDX-License-Identifier: Apache-2.0

#include "emulator.h"

#include <cuda.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>

#include "fault.h"

emulator::Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

namespace {

const Kernel* kernels;

constexpr size_t kStack = size_t{256} << 10;  // bytes; the kernels' largest frames stay far below
constexpr unsigned kWarp = 32;

enum class Waits : uint8_t { kNothing, kBlock, kWarp, kEnded };

struct Fiber {
  ucontext_t context;
  Waits waits = Waits::kEnded;
};

struct Block {
  Fiber fibers[kMostThreads];
  ucontext_t scheduler;
  char* stacks = nullptr;
  unsigned threads = 0, current = 0;
  const Kernel* kernel = nullptr;
  const void* params = nullptr;
  alignas(16) char slots[kMostThreads][16];
} block;

void enter_fiber() {
  block.kernel->run(block.params);
  block.fibers[block.current].waits = Waits::kEnded;
  setcontext(&block.scheduler);
}

void wait(Waits what) {
  Fiber& self = block.fibers[block.current];
  if (!block.kernel->block)
    fail(
        {CUDA_ERROR_LAUNCH_FAILED, nullptr, "it waits, and is declared as a kernel without waits"});
  self.waits = what;
  swapcontext(&self.context, &block.scheduler);
}

[[noreturn]] void hang() {
  fail({CUDA_ERROR_LAUNCH_TIMEOUT, nullptr, "threads wait for others that never come"});
}

// Whether all that a thread waits for have come: its block's or its warp's.
bool all_wait(Waits what, unsigned first, unsigned end) {
  for (unsigned t = first; t < end; ++t)
    if (block.fibers[t].waits != what && block.fibers[t].waits != Waits::kEnded) return false;
  return true;
}

void release(Waits what, unsigned first, unsigned end) {
  for (unsigned t = first; t < end; ++t)
    if (block.fibers[t].waits == what) block.fibers[t].waits = Waits::kNothing;
}

void run_fibers() {
  if (!block.stacks) {
    void* const memory = mmap(nullptr, kMostThreads * kStack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    block.stacks = static_cast<char*>(memory);
  }
  for (unsigned t = 0; t < block.threads; ++t) {
    Fiber& fiber = block.fibers[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = block.stacks + t * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    fiber.waits = Waits::kNothing;
    makecontext(&fiber.context, enter_fiber, 0);
  }
  for (unsigned ended = 0; ended < block.threads;) {
    ended = 0;
    bool ran = false;
    for (unsigned t = 0; t < block.threads; ++t) {
      if (block.fibers[t].waits == Waits::kEnded) ++ended;
      if (block.fibers[t].waits != Waits::kNothing) continue;
      block.current = threadIdx.x = t;
      swapcontext(&block.scheduler, &block.fibers[t].context);
      ran = true;
    }
    for (unsigned first = 0; first < block.threads; first += kWarp) {
      const unsigned end = first + kWarp < block.threads ? first + kWarp : block.threads;
      if (all_wait(Waits::kWarp, first, end)) release(Waits::kWarp, first, end);
    }
    if (all_wait(Waits::kBlock, 0, block.threads)) release(Waits::kBlock, 0, block.threads);
    for (unsigned t = 0; t < block.threads; ++t) ran |= block.fibers[t].waits == Waits::kNothing;
    if (!ran && ended < block.threads) hang();
  }
}

}  // namespace

void enter(Kernel& kernel) {
  kernel.next = kernels;
  kernels = &kernel;
}

const Kernel* find(const char* name) {
  for (const Kernel* kernel = kernels; kernel; kernel = kernel->next)
    if (std::strcmp(kernel->name, name) == 0) return kernel;
  return nullptr;
}

void wait_block() { wait(Waits::kBlock); }
void wait_warp() { wait(Waits::kWarp); }
unsigned lane() { return threadIdx.x % kWarp; }
void* slot(unsigned lane) { return block.slots[threadIdx.x / kWarp * kWarp + lane]; }

void run(const Kernel& kernel, Index grid, Index size, const void* params) {
  gridDim = grid;
  blockDim = size;
  block.kernel = &kernel;
  block.params = params;
  block.threads = size.x;
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
      if (kernel.block) {
        run_fibers();
        continue;
      }
      for (threadIdx.x = 0; threadIdx.x < size.x; ++threadIdx.x) kernel.run(params);
    }
  }
}

}  // namespace emulator
