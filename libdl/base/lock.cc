// SPDX-License-Identifier: Apache-2.0

#include "base/lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "base/uncancelled.h"

namespace libdl {

constinit StripeLock::Stripe StripeLock::stripes[kStripes + 1];

namespace {
constinit thread_local int counted = 0;  // locks that this thread holds
constinit std::atomic<uint32_t> generation{1};
constinit std::atomic<Mutex*> mutexes{nullptr};  // the newest first
}  // namespace

// The holder is about to release the lock, but may have been preempted.
void StripeLock::wait(std::atomic<uint32_t>& held) noexcept {
  for (int tries = 0;; ++tries) {
    if (!held.load(std::memory_order_relaxed) && !held.exchange(1, std::memory_order_acquire))
      return;
    if (tries < 100) {
      sched_yield();
    } else {  // needed if the holder has a lower priority
      const timespec moment = {0, 50'000};
      const Uncancelled asleep;
      nanosleep(&moment, nullptr);
    }
  }
}

Mutex::Mutex() : next_(mutexes.load(std::memory_order_relaxed)) {
  while (!mutexes.compare_exchange_weak(next_, this, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}
void Mutex::lock() {
  mutex_.lock();
  ++counted;
}
void Mutex::unlock() {
  --counted;
  mutex_.unlock();
}

// No mutex is taken under another or under a stripe, and of two stripes the outer one is taken
// first: in this order there can be no deadlock.
struct ForkGuard {
  static inline Mutex* taken = nullptr;  // a mutex that is made meanwhile is not among them
  static void before() {
    taken = mutexes.load(std::memory_order_acquire);
    for (Mutex* m = taken; m; m = m->next_) m->mutex_.lock();
    // The outer one first: who holds it may want another.
    for (size_t i = std::size(StripeLock::stripes); i-- > 0;) {
      auto& held = StripeLock::stripes[i].held;
      if (held.exchange(1, std::memory_order_acquire)) StripeLock::wait(held);
    }
  }
  static void after() {
    for (auto& stripe : StripeLock::stripes) stripe.held.store(0, std::memory_order_release);
    for (Mutex* m = taken; m; m = m->next_) m->mutex_.unlock();
  }
  static void in_child() {
    generation.fetch_add(1, std::memory_order_relaxed);
    after();
  }
};
[[maybe_unused]] static const int locks_fork_safe =
    pthread_atfork(ForkGuard::before, ForkGuard::after, ForkGuard::in_child);

int locks_held() {
  int held = counted;
#if !defined(LIBDL_SANITIZE)
  for (const auto& stripe : StripeLock::stripes)
    held += stripe.held.load(std::memory_order_relaxed) != 0;
#endif
  return held;
}

#if defined(LIBDL_SANITIZE)
void StripeLock::note(int change) noexcept { counted += change; }

void check_no_lock_is_held(const char* op) noexcept {
  if (!counted) return;
  std::fprintf(stderr, "libdl: %s begins while its thread holds %d locks\n", op, counted);
  std::abort();
}
#endif

uint32_t process_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace libdl
