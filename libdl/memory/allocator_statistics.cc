// SPDX-License-Identifier: Apache-2.0

// What the allocator reports: statistics, the map of its segments, and the out-of-memory error.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "memory/allocator.h"
#include "memory/thread_bins.h"
#include "runtime/log.h"

namespace libdl {

std::string readable_bytes(int64_t bytes) {
  const char* const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1024 && unit < 4; ++unit) number /= 1024;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", number, units[unit]);
  return text;
}

MemoryStatistics Allocator::gather() const {
  MemoryStatistics s;
  s.small = small_;
  s.large = large_;
  s.allocations = allocations_;
  s.frees = frees_;
  int64_t highest = 0;
  for (const ThreadBins* bins = threads_; bins; bins = bins->next) {
    s.small.allocated += bins->allocated.load(std::memory_order_relaxed);
    s.allocations += bins->allocations.load(std::memory_order_relaxed);
    s.frees += bins->frees.load(std::memory_order_relaxed);
    highest += bins->highest.load(std::memory_order_relaxed);
  }
  for (const auto& heap : heaps_) {
    (heap->small() ? s.small : s.large).reserved += static_cast<int64_t>(heap->reserved());
    for (const Segment* segment = heap->segments(); segment; segment = segment->next) ++s.segments;
  }
  s.allocated = s.small.allocated + s.large.allocated;
  s.active = s.small.active + s.large.active;
  s.reserved = s.small.reserved + s.large.reserved;
  s.peak_allocated = std::max(peak_allocated_, small_.allocated + large_.allocated + highest);
  s.peak_reserved = std::max(peak_reserved_, s.reserved);
  s.trims = trims_;
  s.out_of_memory = failures_;
  s.limit = static_cast<int64_t>(std::min<size_t>(source_->limit(), PTRDIFF_MAX));
  return s;
}

MemoryStatistics Allocator::statistics() const {
  std::lock_guard lock(mutex_);
  return gather();
}

void Allocator::reset_peaks() {
  std::lock_guard lock(mutex_);
  for (ThreadBins* bins = threads_; bins; bins = bins->next) {
    bins->highest.store(std::max<int64_t>(0, bins->allocated.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
  }
  peak_allocated_ = peak_reserved_ = 0;
  const MemoryStatistics now = gather();
  peak_allocated_ = now.allocated;
  peak_reserved_ = now.reserved;
}

std::vector<SegmentSnapshot> Allocator::snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<SegmentSnapshot> segments;
  for (const auto& heap : heaps_) {
    for (const Segment* s = heap->segments(); s; s = s->next) {
      SegmentSnapshot& shot = segments.emplace_back();
      shot.base = s->base;
      shot.bytes = static_cast<int64_t>(s->bytes);
      shot.committed = static_cast<int64_t>(s->committed);
      shot.stream = heap->stream();
      shot.small = heap->small();
      for (const Block* block = s->first; block; block = block->after) {
        shot.blocks.push_back({block->data - s->base, static_cast<int64_t>(block->bytes),
                               block->state == BlockState::kUsed});
      }
    }
  }
  return segments;
}

void Allocator::out_of_memory(size_t bytes) {
  MemoryStatistics s;
  {
    std::lock_guard lock(mutex_);
    ++failures_;
    s = gather();
  }
  const int64_t requested = static_cast<int64_t>(std::min<size_t>(bytes, PTRDIFF_MAX));
  Error error(LIBDL_ERROR_OUT_OF_MEMORY,
              std::string("out of memory on ") + name_ + ": wanted " + readable_bytes(requested) +
                  "; allocated " + readable_bytes(s.allocated) + " (at most " +
                  readable_bytes(s.peak_allocated) + "), reserved " + readable_bytes(s.reserved) +
                  (s.limit ? ", limit " + readable_bytes(s.limit) : std::string()));
  log(LogLevel::kError, "%s", error.message().c_str());
  throw error;
}

}  // namespace libdl
