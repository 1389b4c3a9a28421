// SPDX-License-Identifier: Apache-2.0

// What plans share: geometry of views, cut to what a launch's parameters hold.
#pragma once

#include <libdl/dtype.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

inline int64_t numel(const View& view) {
  int64_t n = 1;
  for (int d = 0; d < view.ndim; ++d) n *= view.sizes[d];
  return n;
}

inline int64_t element_bytes(int32_t dtype) {
  static constexpr int8_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[dtype];
}

inline bool has_no_gaps(const View& view) {
  int64_t step = 1;
  for (int d = view.ndim - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != step) return false;
    step *= view.sizes[d];
  }
  return true;
}

inline bool is_aligned(const View& view, int64_t unit) {
  return reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(unit) == 0;
}

// Fills in the last kLaunchDims dimensions of views of one shape (the first is there; a NULL one is
// left out) and calls queue(data) with their addresses for each position in the dimensions before.
template <int kOperands, class F>
void each_part(const View* const* views, int operands, Geometry<kOperands>& g, F&& queue) {
  const View& shape = *views[0];
  const int outer = shape.ndim > kLaunchDims ? shape.ndim - kLaunchDims : 0;
  g.ndim = shape.ndim - outer;
  g.numel = 1;
  for (int d = 0; d < g.ndim; ++d) g.numel *= g.sizes[d] = shape.sizes[outer + d];
  void* data[kOperands] = {};
  for (int k = 0; k < operands; ++k) {
    if (!views[k]) continue;
    data[k] = views[k]->data;
    for (int d = 0; d < g.ndim; ++d) g.strides[k][d] = views[k]->strides[outer + d];
  }
  int64_t parts = 1;
  for (int d = 0; d < outer; ++d) parts *= shape.sizes[d];
  for (int64_t part = 0; part < parts; ++part) {
    void* at[kOperands];
    std::memcpy(at, data, sizeof at);
    int64_t rest = part;
    for (int d = outer - 1; d >= 0; --d) {
      const int64_t i = rest % shape.sizes[d];
      rest /= shape.sizes[d];
      for (int k = 0; k < operands; ++k)
        if (views[k])
          at[k] = static_cast<char*>(at[k]) +
                  i * views[k]->strides[d] * element_bytes(views[k]->dtype);
    }
    queue(at);
  }
}

// One element of the host's memory, of its view's dtype, as a launch's parameters carry it.
struct alignas(16) Element {
  char bytes[16];
};
inline Element host_element(const View& view) {
  Element element{};
  std::memcpy(element.bytes, view.data, static_cast<size_t>(element_bytes(view.dtype)));
  return element;
}

}  // namespace libdl::kernels::cuda
