// SPDX-License-Identifier: Apache-2.0

// For kernels that work along the last dimension of a view.
#pragma once

#include <algorithm>

#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/primitive/launch.h"

namespace libdl {

// The same elements with dimension `at` moved to the end; a 0-d tensor has one.
struct LastAxis {
  Shape sizes, strides;
  kernels::View view;

  LastAxis(const Tensor& x, int at, Access access) : sizes(x.shape()), strides(x.strides()) {
    if (x.ndim() == 0) {
      sizes.push_back(1);
      strides.push_back(1);
    }
    std::rotate(sizes.begin() + at, sizes.begin() + at + 1, sizes.end());
    std::rotate(strides.begin() + at, strides.begin() + at + 1, strides.end());
    view = {kernel_data(x, access), sizes.data(), strides.data(),
            static_cast<int32_t>(sizes.size()), static_cast<int32_t>(x.dtype())};
  }
  LastAxis(const LastAxis&) = delete;
  LastAxis& operator=(const LastAxis&) = delete;
};

// x, or a row-major copy where its elements are read across their lines of memory while those of
// the result, which is row-major, are written along theirs.
inline Tensor along_lines(const Tensor& x) {
  return x.is_contiguous() || x.stride(x.ndim() - 1) == 1 ? x : plain(x);
}

}  // namespace libdl
