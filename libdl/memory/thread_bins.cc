// SPDX-License-Identifier: Apache-2.0

#include "memory/thread_bins.h"

namespace libdl {

constinit thread_local ThreadBins* thread_bins = nullptr;

ThreadBins::ThreadBins() {
  void** stack = slots;
  for (int bin = 0; bin < BinClasses::kCount; ++bin) {
    bins[bin] = {0, BinClasses::capacity(bin), stack};
    stack += bins[bin].capacity;
  }
}

}  // namespace libdl
