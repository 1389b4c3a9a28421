// SPDX-License-Identifier: Apache-2.0

// Elements that do not lie at a multiple of their size: another library's memory seen as complex
// numbers, or half of a buffer as float64. A device faults where it reads one, so kernels are given
// copies, and what they write is copied back.
#pragma once

#include <deque>
#include <vector>

#include "backends/cuda/stream.h"
#include "backends/cuda/views.h"

namespace libdl::cuda {

inline bool is_aligned(const void* data, int32_t dtype) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(dtype_bytes(dtype)) == 0;
}

struct LooksForMisaligned {
  bool is_misaligned = false;
  void operator()(const View& v, Use, const MoreDims&) {
    is_misaligned |= !is_aligned(v.data, v.dtype);
  }
  void list(const TensorList& list, void* const* data, Use) {
    for (int32_t i = 0; i < list.count; ++i) is_misaligned |= !is_aligned(data[i], list.dtype[i]);
  }
};

template <class Args>
bool has_misaligned(KernelId id, const Args& args) {
  LooksForMisaligned look;
  each_view(id, args, look);
  return look.is_misaligned;
}

class AlignedCopies {
 public:
  explicit AlignedCopies(Context& context) : context_(context) {}
  AlignedCopies(const AlignedCopies&) = delete;
  AlignedCopies& operator=(const AlignedCopies&) = delete;

  void operator()(View& v, Use use, const MoreDims& more);
  void list(const TensorList& list, void* const*& data, Use use);
  void write_back();

 private:
  // Bytes [begin, end) relative to data; returns what data is in the copy. All of them, so that
  // what a kernel leaves alone is still there afterwards.
  void* copy_of(void* data, const ByteRange& range, Use use);

  struct Copied {
    Copied(Context& context, void* from, int64_t count, Use use)
        : scratch(context, count),
          original(from),
          bytes(static_cast<size_t>(count)),
          written(use == Use::kWrites) {}
    Scratch scratch;
    void* original;
    size_t bytes;
    bool written;
  };
  Context& context_;
  std::deque<Copied> copies_;
  std::deque<std::vector<void*>> lists_;
};

}  // namespace libdl::cuda
