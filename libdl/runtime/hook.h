// SPDX-License-Identifier: Apache-2.0

// Holds a host callback, which may be replaced while other threads are calling it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "base/contained.h"

namespace libdl {

// T has members ctx and destroy. destroy(ctx) runs once, after the callback has been replaced and
// the last call to it has returned.
template <class T>
class Hook {
 public:
  constexpr Hook() : held_() {}
  ~Hook() {}  // held_ is not destroyed: other threads may call while the process exits

  // Costs one relaxed load while nothing is set.
  std::shared_ptr<const T> get() const {
    if (!is_set()) return nullptr;
    std::lock_guard lock(mutex_);
    return held_;
  }

  bool is_set() const { return set_.load(std::memory_order_relaxed); }

  // Takes ownership of `callback`; NULL removes the current one. Throws bad_alloc, after calling
  // destroy.
  void set(const T* callback) {
    std::shared_ptr<const T> next;
    if (callback) next = own(*callback);
    std::unique_lock lock(mutex_);
    held_.swap(next);
    set_.store(held_ != nullptr, std::memory_order_relaxed);
    lock.unlock();  // the old callback's destroy, which runs now, may use this hook again
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  static std::shared_ptr<const T> own(const T& callback) {
    const auto destroy = [](const T* held) {
      run_destroy(held->destroy, held->ctx);
      delete held;
    };
    T* copy = new (std::nothrow) T(callback);
    if (!copy) {
      run_destroy(callback.destroy, callback.ctx);
      throw std::bad_alloc();
    }
    return std::shared_ptr<const T>(copy, destroy);  // calls destroy if it throws
  }

  mutable std::mutex mutex_;
  union {
    std::shared_ptr<const T> held_;
  };
  std::atomic<bool> set_{false};
};

}  // namespace libdl
