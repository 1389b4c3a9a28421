// SPDX-License-Identifier: Apache-2.0

// Shared by plans: the geometry of views, cut to what a launch's parameters can hold.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/args.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

// Selects from the names of kernels that take elements by size: 1, 2, 4, 8, 16 bytes.
inline const char* of_size(const char* const (&names)[5], int64_t bytes) {
  return names[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4];
}

inline bool is_aligned(const View& view, int64_t unit) {
  return reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(unit) == 0;
}

// The dimensions of views of one shape (the first must exist; NULL ones are ignored), merged where
// the strides of all of them allow it, and without those of size 1; the row-major order of elements
// is kept. Returns how many are left.
template <int kOperands>
int merge_dimensions(const View* const* views, int operands, int64_t* sizes,
                     int64_t (*strides)[kMaxDims]) {
  const View& shape = *views[0];
  int ndim = 0;
  for (int d = 0; d < shape.ndim; ++d) {
    if (shape.sizes[d] == 1) continue;
    bool joins = ndim > 0;
    for (int k = 0; k < operands && joins; ++k)
      joins = !views[k] || strides[k][ndim - 1] == views[k]->strides[d] * shape.sizes[d];
    if (!joins) sizes[ndim++] = 1;
    sizes[ndim - 1] *= shape.sizes[d];
    for (int k = 0; k < operands; ++k)
      if (views[k]) strides[k][ndim - 1] = views[k]->strides[d];
  }
  return ndim;
}

// Fills in the last kLaunchDims dimensions of views of one shape (as above) and calls queue(data)
// with their addresses for each position in the leading dimensions, in order.
template <int kOperands, class F>
void each_part(const View* const* views, int operands, Geometry<kOperands>& g, F&& queue) {
  int64_t sizes[kMaxDims], strides[kOperands][kMaxDims];
  const int ndim = merge_dimensions<kOperands>(views, operands, sizes, strides);
  const int outer = ndim > kLaunchDims ? ndim - kLaunchDims : 0;
  g.ndim = ndim - outer;
  g.numel = 1;
  for (int d = 0; d < g.ndim; ++d) g.numel *= g.sizes[d] = sizes[outer + d];
  void* data[kOperands] = {};
  for (int k = 0; k < operands; ++k) {
    if (!views[k]) continue;
    data[k] = views[k]->data;
    for (int d = 0; d < g.ndim; ++d) g.strides[k][d] = strides[k][outer + d];
  }
  int64_t parts = 1;
  for (int d = 0; d < outer; ++d) parts *= sizes[d];
  for (int64_t part = 0; part < parts; ++part) {
    void* at[kOperands];
    std::memcpy(at, data, sizeof at);
    int64_t rest = part;
    for (int d = outer - 1; d >= 0; --d) {
      const int64_t i = rest % sizes[d];
      rest /= sizes[d];
      for (int k = 0; k < operands; ++k)
        if (views[k])
          at[k] = static_cast<char*>(at[k]) + i * strides[k][d] * dtype_bytes(views[k]->dtype);
    }
    queue(at);
  }
}

// A view itself or, if `needed`, a contiguous one in scratch memory: a copy of it, or room for
// results that are copied back to it later.
class WithoutGaps {
 public:
  enum Contents { kCopied, kUninitialized };
  WithoutGaps(Context& context, const View& from, bool needed, Contents contents = kCopied)
      : scratch_(context, needed ? numel(from) * dtype_bytes(from.dtype) : 0), view_(from) {
    if (!needed) return;
    int64_t step = 1;
    for (int d = from.ndim - 1; d >= 0; step *= from.sizes[d--]) strides_[d] = step;
    view_.data = scratch_.data();
    view_.strides = strides_;
    if (view_.data && contents == kCopied) copy(context, {view_, from});
  }
  WithoutGaps(const WithoutGaps&) = delete;
  WithoutGaps& operator=(const WithoutGaps&) = delete;
  const View& view() const { return view_; }

 private:
  Scratch scratch_;
  View view_;
  int64_t strides_[kMaxDims];
};

// A view split into positions (its leading dimensions) and the rest dimensions at each of them.
struct Split {
  int64_t count = 1, step = 0;  // positions, and the distance between them
  bool is_even = true;          // the distance is the same for all
  View rest;

  Split(const View& view, int leading)
      : rest{view.data, view.sizes + leading, view.strides + leading, view.ndim - leading,
             view.dtype} {
    View front = view;
    front.ndim = leading;
    const View* const views[] = {&front};
    int64_t sizes[kMaxDims], strides[1][kMaxDims];
    const int ndim = merge_dimensions<1>(views, 1, sizes, strides);
    count = numel(front);
    is_even = ndim <= 1;
    if (ndim > 0) step = strides[0][ndim - 1];
  }
};

// One element in host memory, of its view's dtype, to be passed in a launch's parameters.
struct alignas(16) Element {
  char bytes[16];
};
inline Element host_element(const View& view) {
  Element element{};
  std::memcpy(element.bytes, view.data, static_cast<size_t>(dtype_bytes(view.dtype)));
  return element;
}

}  // namespace libdl::kernels::cuda
