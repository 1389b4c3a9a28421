// SPDX-License-Identifier: Apache-2.0

// Host memory: from the operating system, in growing segments of 2 MB pages, or from the host
// program's own allocator.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/contained.h"
#include "memory/source.h"

namespace libdl {

// How much host memory the library may hold. Unless a limit is set: 90 % of the smaller of the
// cgroup's limit and the available memory plus what this process already has.
class MemoryBudget {
 public:
  bool take(size_t bytes);  // false: over the limit
  void give(size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  // Whether take() could succeed if all memory taken so far were given back.
  bool allows(size_t bytes);

  size_t limit();
  void set_limit(size_t bytes);  // 0: automatic
  size_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  bool take_below(size_t most, size_t bytes);

  std::atomic<size_t> taken_{0};
  std::atomic<size_t> chosen_{
      SIZE_MAX};                      // set_limit's, 0 automatic, SIZE_MAX: ask LIBDL_MEMORY_LIMIT
  std::atomic<size_t> automatic_{0};  // the last measured
  std::atomic<int64_t> measured_at_{0};  // nanoseconds
};
MemoryBudget& host_budget();

// Bytes from "1500000", "512M", "4G", "1T" (powers of 1024), or 0 if it is none of these.
size_t parse_bytes(const char* text);

// LIBDL_MEMORY_KEEP: how much free host memory stays for later tensors; SIZE_MAX: all of it.
size_t kept_at_most();
bool is_kept_at_most(const char* text);  // whether the text is a value of it

class HostSource : public Source {
 public:
  explicit HostSource(MemoryBudget& budget) : budget_(budget) {}
  void* reserve(size_t& bytes, bool small) override;
  void release(void* base, size_t bytes) override;
  size_t granule(bool) const override { return size_t{2} << 20; }
  bool commit(void* at, size_t bytes, bool) override;
  void decommit(void* at, size_t bytes) override;
  size_t limit() const override { return budget_.limit(); }

 private:
  MemoryBudget& budget_;
};

// The host program's allocator. allocate returns NULL if it has no memory; `alignment` is a power
// of two.
struct HostAllocator {
  void* ctx;
  void* (*allocate)(void* ctx, size_t bytes, size_t alignment);
  void (*deallocate)(void* ctx, void* data, size_t bytes, size_t alignment);
  void (*destroy)(void* ctx);
};

// destroy runs when the source is destroyed, that is after its last segment has been released.
class CallbackSource : public Source {
 public:
  CallbackSource(MemoryBudget& budget, const HostAllocator& callbacks)
      : budget_(budget), callbacks_(callbacks) {}
  ~CallbackSource() override { run_destroy(callbacks_.destroy, callbacks_.ctx); }
  void* reserve(size_t& bytes, bool small) override;
  void release(void* base, size_t bytes) override;
  size_t limit() const override { return budget_.limit(); }

 private:
  MemoryBudget& budget_;
  HostAllocator callbacks_;
};

}  // namespace libdl
