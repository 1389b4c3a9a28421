// SPDX-License-Identifier: Apache-2.0

#include "memory/thread_bins.h"

#include <new>
#include <utility>

#include "base/thread_end.h"
#include "memory/allocator.h"

namespace libdl {

constinit thread_local ThreadBins* thread_bins = nullptr;

namespace {

constinit thread_local bool ended = false;

// At the end of the thread its blocks go back. Whatever is freed later (by other libraries'
// cleanup) takes the slow path.
void leave() noexcept {
  ended = true;
  ThreadBins* const bins = std::exchange(thread_bins, nullptr);
  host_allocator().leave(bins);
  delete bins;
}
constinit thread_local ThreadEnd thread_end{EndOrder::kBlocks, leave};

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
  if (!at_thread_end(thread_end)) {
    delete bins;
    return nullptr;
  }
  host_allocator().join(bins);
  thread_bins = bins;
  return bins;
}

}  // namespace libdl
