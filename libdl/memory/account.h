// SPDX-License-Identifier: Apache-2.0

// What the tensors that are made under a state may hold together, so that one tenant of a process
// cannot take the memory of the others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libdl {

class Account {
 public:
  // Small tensors count for this much: about what their handles take.
  static constexpr int64_t kLeast = 256;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void take(size_t bytes);         // throws Error(OUT_OF_MEMORY) past the limit
  void check(size_t bytes) const;  // as take, for what the caller gives back before it returns
  void give(size_t bytes) { taken_.fetch_sub(counted(bytes), std::memory_order_relaxed); }

  int64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

 private:
  static int64_t counted(size_t bytes);

  std::atomic<int64_t> references_{1};  // of states and storages
  std::atomic<int64_t> taken_{0};
  std::atomic<int64_t> limit_{INT64_MAX};
};

}  // namespace libdl
