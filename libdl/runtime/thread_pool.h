// SPDX-License-Identifier: Apache-2.0

// The library's thread pool. A caller opens a job and works on it itself; free threads help. It
// never waits for a thread that has not started on the job, so on a busy machine a parallel run is
// never slower than a serial one. Helpers spin for some microseconds after work and then sleep.
#pragma once

#include <cstdint>

namespace libdl {

// Runs body(arg, first, last) over disjoint ranges that cover [0, chunks), on this thread and on
// helpers, in any order, under the default floating-point environment. Returns true when all is
// done, or false if the host interrupted (an unknown part has then been done). A nested call from
// inside a body runs on its own thread alone. The body must not throw. The number of chunks must
// depend on sizes only.
bool parallel(int64_t chunks, void (*body)(void* arg, int64_t first, int64_t last), void* arg);

// The number of threads that work on one job, including the caller: initially LIBDL_NUM_THREADS, or
// as many processors as the process may use. When the number is lowered, surplus threads exit once
// they are free.
void set_threads(int threads);
int threads();

constexpr int kMaxThreads = 1024;
int parse_threads(const char* text);  // LIBDL_NUM_THREADS; 0: not a number from 1 to 1024

// The host's threads instead of the pool's own. run() arranges for task(task_arg) to run once, now
// or later, on any thread; a late task finds its job done and returns at once. A task that is never
// run leaks a few bytes but causes no hang. concurrency: threads that may work together, including
// the caller; threads() then returns this number.
struct Executor {
  void* ctx;
  void (*run)(void* ctx, void (*task)(void* task_arg), void* task_arg);
  int32_t concurrency;
  void (*destroy)(void* ctx);
};
void set_executor(const Executor* executor);  // NULL: the pool's own threads

// Asked on the calling thread between its chunks; anything but 0 ends the job early.
struct Interruption {
  void* ctx;
  int32_t (*ask)(void* ctx);
  void (*destroy)(void* ctx);
};
void set_interruption(const Interruption* interruption);  // NULL: nobody asks

// While one exists on this thread the hook is not asked: for writes that must not stop half way.
class Uninterruptible {
 public:
  Uninterruptible();
  ~Uninterruptible();
  Uninterruptible(const Uninterruptible&) = delete;
  Uninterruptible& operator=(const Uninterruptible&) = delete;
};

// Asks now, for loops outside the pool (nodes of a backward pass).
bool interrupted();

}  // namespace libdl
