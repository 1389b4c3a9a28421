// SPDX-License-Identifier: Apache-2.0

// Many tensors in one launch: its parameters hold a table of them, in which every thread block
// finds its own. Tables come in two lengths, because a launch copies its parameters whole: most
// lists are short. Drivers for CUDA 12.1 and later pass the long ones, and the plugin wants a later
// one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/cuda/floating.h"
#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

constexpr size_t kShortParams = 4096, kLongParams = 32764;  // bytes

// How many entries there are room for beside so many other bytes.
template <class Entry>
constexpr int entries_that_fit(size_t params, size_t others) {
  return static_cast<int>((params - others - 2 * alignof(Entry)) / sizeof(Entry));
}

// An Entry has the members numel, dtype and blocks_before: how many thread blocks the tensors
// before it take.
template <class Entry, int kMost>
struct TensorTable {
  int32_t tensors;
  Entry entry[kMost];
};

#ifdef LIBDL_KERNELS

// The elements [first, end) of a tensor that are this block's.
struct Portion {
  int at;  // the tensor, in the table
  int64_t first, end;
};
template <int64_t kChunk, class Table>
LIBDL_DEVICE Portion portion_of_block(const Table& table) {
  const auto block = static_cast<int32_t>(blockIdx.x);
  int low = 0, high = table.tensors;  // the last tensor that begins at or before this block
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (table.entry[middle].blocks_before <= block) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const auto& entry = table.entry[low];
  const int64_t first = int64_t{block - entry.blocks_before} * kChunk;
  return {low, first, first + kChunk < entry.numel ? first + kChunk : entry.numel};
}

// What is computed with in elements of type E.
template <class E>
using ComputedIn = std::conditional_t<std::is_same_v<E, double>, double, float>;

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

// A table that is being filled. Params has a member `table`; send(params, blocks) queues the kernel
// over its entries.
template <int64_t kChunk, class Params, class Send>
class Filling {
 public:
  Filling(Params& params, Send send) : params_(params), send_(send) { params.table.tensors = 0; }
  template <class Entry>
  void add(Entry entry) {
    auto& table = params_.table;
    if (static_cast<size_t>(table.tensors) == sizeof table.entry / sizeof(Entry)) flush();
    entry.blocks_before = static_cast<int32_t>(blocks_);
    table.entry[table.tensors++] = entry;
    blocks_ += (entry.numel + kChunk - 1) / kChunk;
  }
  void flush() {
    if (params_.table.tensors > 0) send_(params_, blocks_);
    params_.table.tensors = 0;
    blocks_ = 0;
  }

 private:
  Params& params_;
  Send send_;
  int64_t blocks_ = 0;
};

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
