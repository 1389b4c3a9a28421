// SPDX-License-Identifier: Apache-2.0

// The caching allocator, over any Source. Freed memory is kept for later requests until trim() or
// memory pressure; fresh pages cost more than most operators. Small host blocks go through the
// thread's own bins without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/block_table.h"
#include "memory/heap.h"
#include "memory/host_source.h"

namespace libdl {

struct PoolStatistics {
  int64_t allocated = 0;  // bytes in use, rounded up to block sizes
  int64_t active = 0;     // the same, plus bytes cached in threads' bins
  int64_t reserved = 0;   // memory held from the source
};

struct MemoryStatistics {
  PoolStatistics small, large;
  int64_t allocated = 0, active = 0, reserved = 0;
  // Exact with one thread, else to within what the threads' bins hold (at most 2 MB per thread).
  int64_t peak_allocated = 0, peak_reserved = 0;
  int64_t allocations = 0, frees = 0;  // ever
  int64_t segments = 0;
  int64_t trims = 0;          // under pressure or asked for
  int64_t out_of_memory = 0;  // errors thrown
  int64_t limit = 0;          // 0: unknown
};

struct BlockSnapshot {
  int64_t offset, bytes;
  bool used;
};
struct SegmentSnapshot {
  const void* base;
  int64_t bytes;      // of addresses
  int64_t committed;  // with memory behind them
  void* stream;
  bool small;
  std::vector<BlockSnapshot> blocks;
};

struct ThreadBins;

class Allocator {
 public:
  // name: of the device, for messages. Blocks are multiples of `rounding`, a power of two >= 64.
  Allocator(std::string name, std::shared_ptr<Source> source, size_t rounding);
  ~Allocator();  // all blocks have come back
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Aligned to 64 bytes; bytes = 0 gives a pointer that must not be read. Work on `stream` may use
  // the block at once. Throws Error(OUT_OF_MEMORY), whose message includes the statistics.
  void* allocate(size_t bytes, void* stream = nullptr);

  // From any thread; bytes as in allocate. Work on the block's own stream may still be queued.
  void deallocate(void* data, size_t bytes) noexcept;

  // The block is also used by work on another stream: its next user will wait for the work queued
  // there when the block is freed. Throws Error(OUT_OF_MEMORY).
  void record_use(void* data, void* stream);

  MemoryStatistics statistics() const;
  std::vector<SegmentSnapshot> snapshot() const;
  void reset_peaks();

  // Returns all idle memory to the source, except what other threads' bins cache. Returns the
  // number of bytes. Waits for all work on the device, while other threads may allocate and free.
  size_t trim();

  // New blocks come from `source`; the old source is dropped once its last block has been freed and
  // trim() called.
  void set_source(std::shared_ptr<Source> source);

  // Adds or removes the bins of a thread that begins or ends.
  void join(ThreadBins* bins);
  void leave(ThreadBins* bins);

 private:
  struct Host {};
  friend Allocator& host_allocator();
  friend struct AllAllocators;
  explicit Allocator(Host);

  size_t block_bytes(size_t bytes) const;
  void* refill(ThreadBins& bins, int bin, size_t bytes);
  void spill(ThreadBins& bins, int bin);
  void* obtain(size_t block, void* stream, size_t bytes);
  void* take_or_grow(size_t block, void* stream);
  [[noreturn]] void out_of_memory(size_t bytes);

  // With the lock held:
  Heap& heap(void* stream, bool small);
  void* take(size_t block, void* stream, bool& refused);
  void give_back(void* data);
  void count_allocation(size_t block);
  void count_free(size_t block);
  void fold(ThreadBins* bins);
  void empty(ThreadBins& bins);
  MemoryStatistics gather() const;
  size_t idle() const;

  const std::string name_;
  const size_t rounding_;
  const bool has_bins_;  // the host's allocator: small blocks go through ThreadBins
  mutable std::mutex mutex_;
  std::mutex trimming_;  // before mutex_: who waits for it finds what was set aside back in place
  std::shared_ptr<Source> source_;
  BlockCells cells_;
  std::vector<std::unique_ptr<Heap>> heaps_;
  BlockTable used_;
  // Excluding what the threads' bins have not yet passed on.
  PoolStatistics small_, large_;
  int64_t peak_allocated_ = 0, peak_reserved_ = 0;
  int64_t allocations_ = 0, frees_ = 0, trims_ = 0, failures_ = 0;
  ThreadBins* threads_ = nullptr;
  Allocator *next_ = nullptr, *previous_ = nullptr;  // of all allocators
};

// The CPU's. Its source is the system, or what set_host_allocator says.
Allocator& host_allocator();
void set_host_allocator(const HostAllocator* callbacks);  // NULL: the system again

// "1.50 GB"
std::string readable_bytes(int64_t bytes);

}  // namespace libdl
