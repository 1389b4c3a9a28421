// SPDX-License-Identifier: Apache-2.0

#include "runtime/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

#include "base/contained.h"
#include "runtime/float_environment.h"
#include "runtime/futex.h"
#include "runtime/hook.h"
#include "runtime/host_limits.h"
#include "runtime/log.h"
#include "runtime/stack.h"

namespace libdl {
namespace {

constexpr auto kSpin = std::chrono::microseconds(30);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls for some microseconds; whether done() came true.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// One call of parallel. Helpers enter while it is open, and the caller closes it and waits until
// those who entered have left. The chunks lie in lanes, one a thread: each begins with its own, the
// same in every call, so that arrays used again lie in its cache, and then helps with the others.
struct alignas(128) Job {
  static constexpr int kLanes = 64;  // more threads share them
  struct alignas(64) Lane {
    std::atomic<int64_t> next;
    int64_t end;

    bool is_empty() const { return next.load(std::memory_order_relaxed) >= end; }
  };

  static constexpr uint32_t kOpen = 1u << 31;
  static constexpr uint32_t kSleeping = 1u << 30;  // the caller sleeps until the last helper leaves
  static constexpr uint32_t kHelpers = kSleeping - 1;

  std::atomic<uint32_t> state{0};
  bool lost = false;  // a fork took helpers, and the chunks in their hands, away
  void (*body)(void*, int64_t, int64_t);
  void* arg;
  int64_t batch;
  int lanes;
  std::atomic<int32_t> references{0};  // of a job on the heap
  Lane lane[kLanes];

  void open(int64_t count, void (*function)(void*, int64_t, int64_t), void* argument, int width) {
    body = function;
    arg = argument;
    batch = std::max<int64_t>(1, count / (32 * width));
    lanes = std::min(width, kLanes);
    int64_t first = 0;
    for (int i = 0; i < lanes; ++i) {
      lane[i].next.store(first, std::memory_order_relaxed);
      lane[i].end = first += (count - first) / (lanes - i);
    }
    lost = false;
    state.store(kOpen, std::memory_order_release);
  }

  // One batch, of the thread's own lane if there is one left; false when nothing is left.
  bool work(int thread) {
    for (int i = 0; i < lanes; ++i) {
      Lane& from = lane[(thread + i) % lanes];
      if (from.is_empty()) continue;
      const int64_t first = from.next.fetch_add(batch, std::memory_order_relaxed);
      if (first >= from.end) continue;
      body(arg, first, std::min(first + batch, from.end));
      return true;
    }
    return false;
  }
  bool is_dealt_out() const {
    return std::all_of(lane, lane + lanes, [](const Lane& each) { return each.is_empty(); });
  }
  void drop_the_rest() {
    for (int i = 0; i < lanes; ++i) lane[i].next.store(lane[i].end, std::memory_order_relaxed);
  }

  bool enter() {
    uint32_t seen = state.load(std::memory_order_relaxed);
    while (seen & kOpen) {
      if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  void leave() {
    const uint32_t before = state.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & kSleeping) && (before & kHelpers) == 1) futex_wake(state, 1);
  }

  bool help(int thread) {
    if (!enter()) return false;
    bool worked = false;
    while (work(thread)) worked = true;
    leave();
    return worked;
  }

  void forget_helpers() {
    const uint32_t seen = state.load(std::memory_order_relaxed);
    if (seen & kHelpers) lost = true;
    state.store(seen & kOpen, std::memory_order_relaxed);
  }

  void close() {
    state.fetch_and(~kOpen, std::memory_order_acq_rel);
    const auto alone = [this] { return (state.load(std::memory_order_acquire) & kHelpers) == 0; };
    if (!alone() && !spin(alone)) {
      uint32_t seen = state.fetch_or(kSleeping, std::memory_order_acq_rel) | kSleeping;
      while (seen & kHelpers) {
        futex_wait(state, seen);
        seen = state.load(std::memory_order_acquire);
      }
    }
    state.fetch_and(~kSleeping, std::memory_order_relaxed);
  }
};

// The thread's part in the running job, if any.
struct Role {
  Job* job = nullptr;   // the job that this thread called
  bool inside = false;  // calls run serially here
};
thread_local constinit Role role;

constinit Hook<Executor> executor_hook;
constinit Hook<Interruption> interruption_hook;

// Everything is of static storage and needs no destructor: sleeping workers outlive main.
constexpr int kJobs = 64;
Job jobs[kJobs];
std::atomic<uint64_t> used{0};    // jobs that have a caller
std::atomic<uint64_t> opened{0};  // jobs that take helpers
std::atomic<uint32_t> epoch{0};   // moves when a job is opened; idle workers sleep on it
std::atomic<int32_t> sleepers{0};

std::atomic<int32_t> requested{0};  // threads of one job; 0: not asked yet
std::atomic<int32_t> alive{0};      // workers 0 .. alive - 1 exist
std::atomic<int32_t> start_refused_at{kMaxThreads};
std::mutex workers_mutex;

thread_local int uninterruptible = 0;

bool ask(const Interruption& interruption) {
  if (uninterruptible) return false;
  const bool inside = std::exchange(role.inside, true);  // the hook may compute, on this thread
  const bool stop = interruption.ask(interruption.ctx) != 0;
  role.inside = inside;
  return stop;
}

bool help_anyone(int worker) {
  uint64_t mask = std::rotr(opened.load(std::memory_order_acquire), worker % kJobs);
  for (; mask; mask &= mask - 1) {
    if (jobs[(std::countr_zero(mask) + worker) % kJobs].help(worker + 1)) return true;
  }
  return false;
}

// The last worker leaves when it is one too many, so that numbers stay without gaps.
bool retire(int worker) {
  if (worker + 1 < requested.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(workers_mutex);
  if (worker + 1 < requested.load(std::memory_order_relaxed)) return false;
  if (alive.load(std::memory_order_relaxed) != worker + 1) return false;
  alive.store(worker, std::memory_order_relaxed);
  epoch.fetch_add(1);  // now the one before may be the last
  futex_wake(epoch, kMaxThreads);
  return true;
}

void* run_worker(void* number) {
  const int worker = static_cast<int>(reinterpret_cast<intptr_t>(number));
  const DefaultFloatEnvironment environment;
  role.inside = true;
  while (true) {
    const uint32_t seen = epoch.load(std::memory_order_seq_cst);
    if (retire(worker)) return nullptr;
    const bool allowed = worker + 1 < requested.load(std::memory_order_relaxed);
    if (allowed && help_anyone(worker)) continue;
    const auto moved = [seen] { return epoch.load(std::memory_order_seq_cst) != seen; };
    if (spin(moved)) continue;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!moved()) futex_wait(epoch, seen);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

// Workers take over nothing from the thread that happens to start them: not its signals, its
// scheduling, nor the processors it is pinned to.
bool start_worker(int worker) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setstacksize(&attributes, size_t{1} << 20);  // whatever the system's default is
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(getpid(), sizeof mask, &mask) == 0) {
    pthread_attr_setaffinity_np(&attributes, sizeof mask, &mask);
  }
#endif
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int status = pthread_create(&thread, &attributes, run_worker,
                                    reinterpret_cast<void*>(static_cast<intptr_t>(worker)));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
#ifdef __linux__
  if (status == 0) pthread_setname_np(thread, "libdl worker");
#endif
  return status == 0;
}

void before_fork() {
  executor_hook.before_fork();
  interruption_hook.before_fork();
  workers_mutex.lock();
}

void after_fork_in_parent() {
  workers_mutex.unlock();
  interruption_hook.after_fork();
  executor_hook.after_fork();
}

// Only the forking thread lives on. Its own job, if it is in one (a host's hook may fork), goes on
// without helpers; all other jobs have lost their callers.
void after_fork_in_child() {
  if (role.job) role.job->forget_helpers();
  uint64_t own = 0;
  for (int i = 0; i < kJobs; ++i) {
    if (role.job == &jobs[i]) {
      own = uint64_t{1} << i;
    } else {
      jobs[i].state.store(0, std::memory_order_relaxed);
    }
  }
  used.store(own, std::memory_order_relaxed);
  opened.store(own, std::memory_order_relaxed);
  sleepers.store(0, std::memory_order_relaxed);
  alive.store(0, std::memory_order_relaxed);
  start_refused_at.store(kMaxThreads, std::memory_order_relaxed);
  after_fork_in_parent();
}

[[maybe_unused]] const int pool_fork_safe =
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

// Makes sure that `count` workers exist, as far as the system grants them.
void start_workers(int count) {
  if (alive.load(std::memory_order_relaxed) >= count) return;
  if (start_refused_at.load(std::memory_order_relaxed) < count) return;
  std::unique_lock lock(workers_mutex);
  for (int i = alive.load(std::memory_order_relaxed); i < count; ++i) {
    alive.store(i + 1, std::memory_order_relaxed);
    if (start_worker(i)) continue;
    alive.store(i, std::memory_order_relaxed);
    start_refused_at.store(i, std::memory_order_relaxed);  // not asked again until set_threads
    lock.unlock();
    log(LogLevel::kWarning, "threads: the system refused one more than %d beside the caller", i);
    return;
  }
}

}  // namespace

int parse_threads(const char* text) {
  char* end;
  const long number = std::strtol(text, &end, 10);
  return *end == 0 && number >= 1 && number <= kMaxThreads ? static_cast<int>(number) : 0;
}

namespace {

int default_threads() {
  if (const char* text = std::getenv("LIBDL_NUM_THREADS")) {
    if (const int number = parse_threads(text)) return number;
  }
  return std::min(available_cpus(), kMaxThreads);
}

int own_threads() {
  int number = requested.load(std::memory_order_relaxed);
  if (number == 0) {
    int expected = 0;
    try {
      number = default_threads();
    } catch (const std::bad_alloc&) {
      return 1;  // the next call asks again
    }
    if (!requested.compare_exchange_strong(expected, number, std::memory_order_relaxed)) {
      number = expected;
    }
  }
  return number;
}

Job* take_job() {
  uint64_t seen = used.load(std::memory_order_relaxed);
  while (~seen) {
    const int free = std::countr_one(seen);
    if (used.compare_exchange_weak(seen, seen | uint64_t{1} << free, std::memory_order_acquire,
                                   std::memory_order_relaxed)) {
      return &jobs[free];
    }
  }
  return nullptr;  // 64 callers at once: there are threads enough
}

// The caller's share: all chunks that nobody else began. False if the host interrupted.
bool work_to_the_end(Job& job, const Interruption* interruption) {
  while (job.work(0)) {
    if (!interruption || job.is_dealt_out()) continue;
    if (!ask(*interruption)) continue;
    job.drop_the_rest();
    return false;
  }
  return true;
}

bool run_alone(int64_t chunks, void (*body)(void*, int64_t, int64_t), void* arg,
               const Interruption* interruption) {
  if (!interruption) {
    body(arg, 0, chunks);
    return true;
  }
  for (int64_t i = 0; i < chunks; ++i) {
    if (i > 0 && ask(*interruption)) return false;
    body(arg, i, i + 1);
  }
  return true;
}

bool run_on_workers(Job& job, int helpers, const Interruption* interruption) {
  start_workers(helpers);
  const uint64_t bit = uint64_t{1} << (&job - jobs);
  opened.fetch_or(bit, std::memory_order_seq_cst);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  const int asleep = sleepers.load(std::memory_order_seq_cst);
  if (asleep > 0) futex_wake(epoch, std::min(asleep, helpers));

  const bool finished = work_to_the_end(job, interruption);
  opened.fetch_and(~bit, std::memory_order_relaxed);
  job.close();
  const bool whole = finished && !job.lost;
  used.fetch_and(~bit, std::memory_order_release);
  return whole;
}

void release(Job* job) {
  if (job->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete job;
}

// What a host's thread is asked to run. On the caller's own thread (a serial executor) it leaves
// the work to the caller, who also asks the interruption hook.
void help_task(void* task_arg) {
  Job* job = static_cast<Job*>(task_arg);
  if (role.job != job) {
    const DefaultFloatEnvironment environment;
    const bool inside = std::exchange(role.inside, true);
    try {
      with_enough_stack([&] { job->help(1 + job->references.load(std::memory_order_relaxed)); });
    } catch (const std::bad_alloc&) {  // no stack: the others do the work
    }
    role.inside = inside;
  }
  release(job);
}

bool run_on_executor(Job* job, const Executor& executor, int helpers,
                     const Interruption* interruption) {
  job->references.store(helpers + 1, std::memory_order_relaxed);
  for (int i = 0; i < helpers; ++i) contained([&] { executor.run(executor.ctx, help_task, job); });
  const bool finished = work_to_the_end(*job, interruption);
  job->close();
  const bool whole = finished && !job->lost;
  release(job);
  return whole;
}

}  // namespace

bool parallel(int64_t chunks, void (*body)(void* arg, int64_t first, int64_t last), void* arg) {
  if (chunks <= 0) return true;
  const DefaultFloatEnvironment environment;
  if (role.inside) {
    body(arg, 0, chunks);
    return true;
  }
  const auto interruption = chunks > 1 ? interruption_hook.get() : nullptr;
  const auto executor = chunks > 1 ? executor_hook.get() : nullptr;
  const int most = executor ? std::clamp(executor->concurrency, 1, kMaxThreads) : own_threads();
  const int width = static_cast<int>(std::min<int64_t>(chunks, most));
  Job* job = nullptr;
  if (width > 1) job = executor ? new (std::nothrow) Job : take_job();

  role.job = job;
  role.inside = true;
  bool finished;
  if (!job) {
    finished = run_alone(chunks, body, arg, interruption.get());
  } else {
    job->open(chunks, body, arg, width);
    finished = executor ? run_on_executor(job, *executor, width - 1, interruption.get())
                        : run_on_workers(*job, width - 1, interruption.get());
  }
  role.job = nullptr;
  role.inside = false;
  return finished;
}

void set_threads(int number) {
  requested.store(std::clamp(number, 1, kMaxThreads), std::memory_order_relaxed);
  start_refused_at.store(kMaxThreads, std::memory_order_relaxed);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(epoch, kMaxThreads);  // those beyond the number leave
  log(LogLevel::kInfo, "threads: %d", number);
}

int threads() {
  if (const auto executor = executor_hook.get()) {
    return std::clamp(executor->concurrency, 1, kMaxThreads);
  }
  return own_threads();
}

void set_executor(const Executor* executor) {
  executor_hook.set(executor);
  log(LogLevel::kInfo, "threads: %d, %s", threads(), executor ? "the host's" : "libdl's own");
}

Uninterruptible::Uninterruptible() { ++uninterruptible; }
Uninterruptible::~Uninterruptible() { --uninterruptible; }

void set_interruption(const Interruption* interruption) { interruption_hook.set(interruption); }

bool interrupted() {
  if (role.inside) return false;
  const auto interruption = interruption_hook.get();
  return interruption && ask(*interruption);
}

}  // namespace libdl
