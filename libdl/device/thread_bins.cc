// SPDX-License-Identifier: Apache-2.0

#include "device/thread_bins.h"

#include <new>

#include "device/allocator.h"

namespace libdl {

constinit thread_local ThreadBins* thread_bins = nullptr;

namespace {

constinit thread_local bool ended = false;

// At the end of the thread its stock goes back. Whatever is freed later (by destructors of other
// thread-local objects) takes the slow way.
struct AtThreadEnd {
  ~AtThreadEnd() {
    ended = true;
    ThreadBins* bins = thread_bins;
    thread_bins = nullptr;
    host_allocator().leave(bins);
    delete bins;
  }
};

}  // namespace

ThreadBins::ThreadBins() {
  void** stack = slots;
  for (int bin = 0; bin < BinClasses::kCount; ++bin) {
    bins[bin] = {0, BinClasses::capacity(bin), stack};
    stack += bins[bin].capacity;
  }
}

ThreadBins* ThreadBins::make() {
  if (ended) return nullptr;
  ThreadBins* bins = new (std::nothrow) ThreadBins;
  if (!bins) return nullptr;
  static thread_local AtThreadEnd at_end;
  static_cast<void>(at_end);
  host_allocator().join(bins);
  thread_bins = bins;
  return bins;
}

}  // namespace libdl
