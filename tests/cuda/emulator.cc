// SPDX-License-Identifier: Apache-2.0

#undef _FORTIFY_SOURCE  // whose longjmp refuses to change stacks

#include "emulator.h"

#include <cuda.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "fault.h"

#ifdef LIBDL_EMULATED_ADDRESS
#include <sanitizer/common_interface_defs.h>
#endif

emulator::Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

namespace {

// Filled in by the constructors of the kernels' library, which come before this one's.
constinit const Kernel* kernels = nullptr;
constinit char *shared_first = nullptr, *shared_end = nullptr;

constexpr size_t kStack = size_t{256} << 10;  // bytes; the kernels' largest frames stay far below
constexpr unsigned kWarp = 32;

enum class Waits : uint8_t { kNothing, kBlock, kWarp, kEnded };

uint64_t draw(uint64_t& seed) {  // splitmix64
  uint64_t x = seed += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// The numbers below n, each once, in an order drawn from the seed.
class Order {
 public:
  Order(uint64_t& seed, uint64_t n) : n_(n), next_(draw(seed) % n), step_(draw(seed) % n | 1) {
    while (std::gcd(step_, n) != 1) step_ += 2;  // n is odd or the step is
    step_ %= n;
  }
  uint64_t next() {
    const uint64_t now = next_;
    next_ += step_;
    if (next_ >= n_) next_ -= n_;
    return now;
  }

 private:
  uint64_t n_, next_, step_;
};

// Runs one thread after another. Its context is made once, and jumps do the rest: to make or switch
// one costs a system call, which was nine tenths of the time.
struct Fiber {
  ucontext_t context;
  jmp_buf place;  // where it goes on
  bool is_made = false, is_started = false;
  Waits waits = Waits::kEnded;
};

struct Block {
  Fiber fibers[kMostThreads];
  jmp_buf scheduler;
  bool runs = false;
  char* stacks = nullptr;
  unsigned threads = 0, current = 0;
  const Kernel* kernel = nullptr;
  const void* params = nullptr;
  alignas(16) char slots[kMostThreads][16];
} block;

// The sanitizers follow jumps, and lose their way between stacks; the kernels' own one is told.
#if defined(LIBDL_SANITIZE) || defined(LIBDL_EMULATED_ADDRESS)
ucontext_t scheduler;
struct Stack {
  const void* bottom = nullptr;
  size_t bytes = 0;
} schedulers;
#ifdef LIBDL_EMULATED_ADDRESS
void leave_for(const void* bottom, size_t bytes) {
  __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
}
void arrive(Stack* from) {
  __sanitizer_finish_switch_fiber(nullptr, from ? &from->bottom : nullptr,
                                  from ? &from->bytes : nullptr);
}
#else
void leave_for(const void*, size_t) {}
void arrive(Stack*) {}
#endif
void to_scheduler(Fiber& self) {
  leave_for(schedulers.bottom, schedulers.bytes);
  swapcontext(&self.context, &scheduler);
  arrive(&schedulers);
}
void to_fiber(Fiber& fiber) {
  leave_for(fiber.context.uc_stack.ss_sp, kStack);
  swapcontext(&scheduler, &fiber.context);
  arrive(nullptr);
}
void begin_fiber() { arrive(&schedulers); }
#else
void begin_fiber() {}
void to_scheduler(Fiber& self) {
  if (_setjmp(self.place) == 0) _longjmp(block.scheduler, 1);
}
[[gnu::noinline]] void to_fiber(Fiber& fiber) {
  if (_setjmp(block.scheduler) != 0) return;
  if (fiber.is_started) _longjmp(fiber.place, 1);
  fiber.is_started = true;
  setcontext(&fiber.context);
}
#endif

void enter_fiber() {
  begin_fiber();
  Fiber& self = block.fibers[block.current];
  for (;;) {
    block.kernel->run(block.params);
    self.waits = Waits::kEnded;
    to_scheduler(self);
  }
}

// Until it waits or ends.
void resume(unsigned t) {
  Fiber& fiber = block.fibers[t];
  block.current = threadIdx.x = t;
  if (!fiber.is_made) {
    fiber.is_made = true;
    fiber.is_started = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = block.stacks + t * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter_fiber, 0);
  }
  to_fiber(fiber);
}

void wait(Waits what) {
  Fiber& self = block.fibers[block.current];
  if (!block.kernel->block)
    fail(
        {CUDA_ERROR_LAUNCH_FAILED, nullptr, "it waits, and is declared as a kernel without waits"});
  self.waits = what;
  to_scheduler(self);
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

// Warps sit out turns at random, so that some run ahead of others as far as the waits let them.
void run_fibers(Order order, uint64_t& seed) {
  if (!block.stacks) {
    void* const memory = mmap(nullptr, kMostThreads * kStack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    block.stacks = static_cast<char*>(memory);
  }
  for (unsigned t = 0; t < block.threads; ++t) block.fibers[t].waits = Waits::kNothing;
  for (unsigned ended = 0; ended < block.threads;) {
    ended = 0;
    bool ran = false;
    const uint64_t idle = block.threads > kWarp ? draw(seed) : 0;  // a bit for each warp
    for (unsigned i = 0; i < block.threads; ++i) {
      const auto t = static_cast<unsigned>(order.next());
      if (block.fibers[t].waits == Waits::kEnded) ++ended;
      if (block.fibers[t].waits != Waits::kNothing) continue;
      ran = true;
      if (idle >> t / kWarp & 1) continue;
      resume(t);
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

// Not by memset, which the address sanitizer would stop between the variables.
void poison_shared() {
#ifdef LIBDL_EMULATED_ADDRESS
  for (volatile char* at = shared_first; at < shared_end; ++at) *at = '\xff';
#else
  std::fill(shared_first, shared_end, '\xff');
#endif
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

void set_shared_memory(char* first, char* end) {
  shared_first = first;
  shared_end = end;
}

void run(const Kernel& kernel, Index grid, Index size, const void* params, uint64_t seed) {
  gridDim = grid;
  blockDim = size;
  block.kernel = &kernel;
  block.params = params;
  block.threads = size.x;
  if (block.runs)  // a kernel failed: its fibers are within it
    for (Fiber& fiber : block.fibers) fiber.is_made = false;
  block.runs = true;
  const uint64_t blocks = uint64_t{grid.x} * grid.y;
  Order order(seed, blocks);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t number = order.next();
    blockIdx.x = static_cast<unsigned>(number % grid.x);
    blockIdx.y = static_cast<unsigned>(number / grid.x);
    Order threads(seed, size.x);
    if (kernel.block) {
      poison_shared();
      run_fibers(threads, seed);
      continue;
    }
    for (unsigned t = 0; t < size.x; ++t) {
      threadIdx.x = static_cast<unsigned>(threads.next());
      kernel.run(params);
    }
  }
  block.runs = false;
}

}  // namespace emulator
