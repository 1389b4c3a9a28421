// SPDX-License-Identifier: Apache-2.0

// Locks that survive a fork, and under which nothing ever waits for the host.
//
// A StripeLock briefly guards the state of one object: a storage's lists, a gradient's slot, a
// tensor's history. It is one of a fixed set, chosen by the object's address, so that a fork can
// take them all: in the child no lock is held by a thread that no longer exists, and every list is
// consistent. A Mutex does the same for state of which the process has one.
//
// While either is held nothing runs that may call the host or wait for another thread: no operator,
// no callback, no release of an object whose destructor belongs to the host. locks_held() lets
// tests check that.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace libdl {

// The stripe to take first where two are held together; the second is an object's.
enum class Outer { kPackedForms };

class StripeLock {
 public:
  explicit StripeLock(const void* object) : StripeLock(stripe_of(object)) {}
  explicit StripeLock(Outer) : StripeLock(stripes[kStripes]) {}  // taken before an object's
  ~StripeLock() {
    held_.store(0, std::memory_order_release);
    note(-1);
  }
  StripeLock(const StripeLock&) = delete;
  StripeLock& operator=(const StripeLock&) = delete;

 private:
  friend struct ForkGuard;
  friend int locks_held();
  struct alignas(64) Stripe {
    std::atomic<uint32_t> held{0};
  };
  static constexpr uintptr_t kStripes = 128;  // and the outer one behind them
  static Stripe stripes[kStripes + 1];

  static Stripe& stripe_of(const void* object) {
    // Adjacent cells map to different stripes.
    return stripes[reinterpret_cast<uintptr_t>(object) / sizeof(Stripe) % kStripes];
  }
  explicit StripeLock(Stripe& stripe) : held_(stripe.held) {
    if (held_.exchange(1, std::memory_order_acquire)) [[unlikely]]
      wait(held_);
    note(1);
  }
#if defined(LIBDL_SANITIZE)
  static void note(int change) noexcept;  // for locks_held()
#else
  static void note(int) {}
#endif
  static void wait(std::atomic<uint32_t>& held) noexcept;

  std::atomic<uint32_t>& held_;
};

// For static objects, or objects that live as long as the process: a fork takes all of them.
class Mutex {
 public:
  Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  void unlock();

 private:
  friend struct ForkGuard;
  std::mutex mutex_;
  Mutex* next_;
};

// Locks held by the calling thread. Only sanitizer builds know which thread holds a stripe; other
// builds count those of all threads.
int locks_held();
// At the start of an operator in sanitizer builds: aborts the process if a lock is held.
#if defined(LIBDL_SANITIZE)
void check_no_lock_is_held(const char* op) noexcept;
#else
inline void check_no_lock_is_held(const char*) {}
#endif

// Incremented in each forked child: a mark with another number was left by a thread that no longer
// exists.
uint32_t process_generation();

}  // namespace libdl
