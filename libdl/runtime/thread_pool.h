// SPDX-License-Identifier: Apache-2.0

// The library's one thread pool. A caller opens a job, works on it itself, and whoever is free
// helps: nobody is waited for who has not begun, so a run beside busy neighbours is never slower
// than a serial one. Helpers spin for some microseconds after work and then sleep.
#pragma once

#include <cstdint>

namespace libdl {

// Runs body(arg, first, last) over disjoint ranges that cover [0, chunks), on this thread and on
// helpers, in any order, under the default floating-point environment. Returns when all is done, or
// false if the host interrupted (then an unknown part was done). A call from inside a body runs on
// its own thread alone. The body must not throw. Chunks must depend on sizes only.
bool parallel(int64_t chunks, void (*body)(void* arg, int64_t first, int64_t last), void* arg);

// The number of threads that work on one job, the caller among them: at first LIBDL_NUM_THREADS, or
// what the process may use. Threads beyond a lowered number leave when they are free.
void set_threads(int threads);
int threads();

constexpr int kMaxThreads = 1024;
int parse_threads(const char* text);  // LIBDL_NUM_THREADS; 0: it is no number from 1 to 1024

// The host's threads instead of the pool's own. run() arranges that task(task_arg) runs once, now
// or later, on any thread; a task that comes late finds its job done and returns at once. A task
// that is never run is a leak of some bytes, not a hang. concurrency: threads that may work
// together, the caller among them; threads() is then this number.
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

// While one lives on this thread the hook is not asked: for writes that must not stop half way.
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
