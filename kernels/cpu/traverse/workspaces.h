// SPDX-License-Identifier: Apache-2.0

// Scratch memory for chunks that run at the same time, warm from one chunk to the next.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace libdl::kernels::cpu {

// Room for as many chunks as run at the same time, up to kMost; others wait for one that ends.
template <class T>
class Workspaces {
 public:
  static constexpr int kMost = 32;

  Workspaces(T* data, int64_t each, int64_t count)
      : data_(data), each_(each), free_(count >= kMost ? ~uint32_t{0} : (1u << count) - 1) {}

  template <class F>
  void with_one(F f) {
    uint32_t free = free_.load(std::memory_order_relaxed);
    for (;;) {
      if (free == 0) {
        std::this_thread::yield();
        free = free_.load(std::memory_order_relaxed);
      } else if (free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
        break;
      }
    }
    const int mine = std::countr_zero(free);  // the lowest, whose lines are the warmest
    f(data_ + mine * each_);
    free_.fetch_or(1u << mine, std::memory_order_release);
  }

 private:
  T* const data_;
  const int64_t each_;
  std::atomic<uint32_t> free_;
};

}  // namespace libdl::kernels::cpu
