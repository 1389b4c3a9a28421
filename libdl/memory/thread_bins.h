// SPDX-License-Identifier: Apache-2.0

// A thread's own cache of small host blocks: a stack of addresses for each size class. A hit takes
// a few nanoseconds; only a miss or an overflow takes the allocator's lock, and moves half a stack.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace libdl {

// Sizes up to 1 KB have a class for every 64 bytes; above that there are four classes per doubling.
struct BinClasses {
  static constexpr size_t kUnit = 64, kMost = 32768;
  static constexpr int kCount = 16 + 4 * 5;

  // The class of a size in 1 .. kMost, and a class's block size.
  static constexpr int of(size_t bytes) {
    const size_t last = (bytes - 1) / kUnit;  // units minus one
    if (last < 16) return static_cast<int>(last);
    const int doubling = static_cast<int>(std::bit_width(last)) - 1;  // 4 .. 8
    return 16 + (doubling - 4) * 4 + static_cast<int>(last >> (doubling - 2) & 3);
  }
  static constexpr size_t bytes(int bin) {
    if (bin < 16) return static_cast<size_t>(bin + 1) * kUnit;
    const int doubling = 4 + (bin - 16) / 4;
    return static_cast<size_t>(5 + (bin - 16) % 4) * (kUnit << (doubling - 2));
  }
  // A stack holds at most 64 KB, but at least four blocks.
  static constexpr uint32_t capacity(int bin) {
    const size_t blocks = 65536 / bytes(bin);
    return static_cast<uint32_t>(blocks < 4 ? 4 : blocks);
  }
  static constexpr uint32_t total() {
    uint32_t sum = 0;
    for (int bin = 0; bin < kCount; ++bin) sum += capacity(bin);
    return sum;
  }
};

// Written only by its own thread. Others read the counters, with the allocator's lock held.
struct ThreadBins {
  struct Bin {
    uint32_t count, capacity;
    void** stack;
  };
  Bin bins[BinClasses::kCount];
  // Since the counters were last passed to the allocator: bytes in use, their peak, and calls.
  std::atomic<int64_t> allocated{0}, highest{0}, allocations{0}, frees{0};
  ThreadBins *next = nullptr, *previous = nullptr;
  void* slots[BinClasses::total()];

  ThreadBins();
  void count_allocation(size_t bytes) {
    const int64_t now = add(allocated, static_cast<int64_t>(bytes));
    if (now > highest.load(std::memory_order_relaxed)) {
      highest.store(now, std::memory_order_relaxed);
    }
    add(allocations, 1);
  }
  void count_free(size_t bytes) {
    add(allocated, -static_cast<int64_t>(bytes));
    add(frees, 1);
  }

  // The calling thread's, made at first use; NULL if there is no memory or the thread is ending.
  static ThreadBins* mine();
  static ThreadBins* make();

 private:
  static int64_t add(std::atomic<int64_t>& counter, int64_t change) {
    const int64_t value = counter.load(std::memory_order_relaxed) + change;
    counter.store(value, std::memory_order_relaxed);
    return value;
  }
};

extern constinit thread_local ThreadBins* thread_bins;

inline ThreadBins* ThreadBins::mine() { return thread_bins ? thread_bins : make(); }

}  // namespace libdl
