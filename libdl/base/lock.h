// SPDX-License-Identifier: Apache-2.0

// Locks that survive a fork, and that never wait for the host.
//
// A StripeLock guards, for a moment, what one object keeps: a storage's lists, a gradient's slot,
// the history of a tensor. It is one of a fixed set, chosen by the object's address, so that a fork
// can take them all: a child finds no lock held by a thread that it does not have, and each list
// whole. A Mutex does the same for what the process has once.
//
// Under either nothing runs that may call the host or wait for another thread: no operator, no
// callback, no release of what has a destructor of the host's. locks_held() is for tests of that.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace libdl {

// One of two stripes that are held together; the other is an object's.
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
    // Neighbours that are cells have stripes of their own.
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

// For objects of static storage, or that live as long as the process: a fork takes all of them.
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

// Of the calling thread. Only sanitizer builds know whose a stripe is; elsewhere all are counted.
int locks_held();
// At the start of an operator: ends the process where a lock is held. Nothing in other builds.
#if defined(LIBDL_SANITIZE)
void check_no_lock_is_held(const char* op) noexcept;
#else
inline void check_no_lock_is_held(const char*) {}
#endif

// Grows in each forked child: a mark that carries another number was left by a thread that is gone.
uint32_t process_generation();

}  // namespace libdl
