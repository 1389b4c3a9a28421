// SPDX-License-Identifier: Apache-2.0

// The end of every max pooling: elements of an image that were taken at given positions, with their
// history.
#pragma once

#include "ops/pool/windows.h"

namespace libdl {

struct Taken {
  Tensor values, indices;  // positions through the last dimensions, int64 or int32
  kernels::PoolWindows windows{};
  bool by_windows = false;  // the elements are those of `windows`, in the image's Order `order`
  Order order = Order::kRowMajor;
};

// x's last `dims` dimensions in one, as positions count.
Tensor in_planes(const Tensor& x, int dims);

// y's values as the result of `call` for a.input, which the gradient reaches.
Tensor recorded(Call& call, const Pooled& a, Taken y);

// As recorded, with the indices of the maxima as a second result.
std::tuple<Tensor, Tensor> recorded_with_indices(Call& call, const Pooled& a, Taken y);

}  // namespace libdl
