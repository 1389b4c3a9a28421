// SPDX-License-Identifier: Apache-2.0

// Transfers between threads' bins and the host's allocator: half a stack is moved at a time, and
// the thread's counters are added to the allocator's.
#include <algorithm>
#include <cstring>

#include "memory/allocator.h"
#include "memory/thread_bins.h"

namespace libdl {

// One block for the caller and some for the next calls.
void* Allocator::refill(ThreadBins& bins, int bin, size_t bytes) {
  const size_t block = BinClasses::bytes(bin);
  ThreadBins::Bin& stock = bins.bins[bin];
  {
    std::lock_guard lock(mutex_);
    fold(&bins);
    bool refused = false;
    const uint32_t most = std::min<uint32_t>(stock.capacity / 2, 32);
    while (stock.count < most) {
      void* data = take(block, nullptr, refused);
      if (!data) break;
      stock.stack[stock.count++] = data;
    }
  }
  if (stock.count > 0) return stock.stack[--stock.count];
  void* data = obtain(block, nullptr, bytes);
  std::lock_guard lock(mutex_);
  small_.allocated -= static_cast<int64_t>(block);  // the bins count it
  --allocations_;
  return data;
}

// The older half goes back.
void Allocator::spill(ThreadBins& bins, int bin) {
  ThreadBins::Bin& stock = bins.bins[bin];
  const uint32_t half = stock.capacity / 2;
  std::lock_guard lock(mutex_);
  fold(&bins);
  for (uint32_t i = 0; i < half; ++i) give_back(stock.stack[i]);
  stock.count -= half;
  std::memmove(stock.stack, stock.stack + half, stock.count * sizeof(void*));
}

// Takes over what the calling thread's bins have counted.
void Allocator::fold(ThreadBins* bins) {
  if (!bins) return;
  const auto take = [](std::atomic<int64_t>& counter) {
    const int64_t value = counter.load(std::memory_order_relaxed);
    counter.store(0, std::memory_order_relaxed);
    return value;
  };
  peak_allocated_ =
      std::max(peak_allocated_, small_.allocated + large_.allocated + take(bins->highest));
  small_.allocated += take(bins->allocated);
  allocations_ += take(bins->allocations);
  frees_ += take(bins->frees);
}

void Allocator::empty(ThreadBins& bins) {
  fold(&bins);
  for (ThreadBins::Bin& stock : bins.bins) {
    while (stock.count > 0) give_back(stock.stack[--stock.count]);
  }
}

void Allocator::join(ThreadBins* bins) {
  std::lock_guard lock(mutex_);
  bins->next = threads_;
  if (threads_) threads_->previous = bins;
  threads_ = bins;
}

void Allocator::leave(ThreadBins* bins) {
  std::lock_guard lock(mutex_);
  empty(*bins);
  (bins->previous ? bins->previous->next : threads_) = bins->next;
  if (bins->next) bins->next->previous = bins->previous;
}

}  // namespace libdl
