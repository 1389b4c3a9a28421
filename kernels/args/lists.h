// SPDX-License-Identifier: Apache-2.0

// What is done to many tensors at once.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Arrays of `count` addresses, lengths and dtypes (real floating ones). A tensor's elements lie
// without gaps, in any order.
struct TensorList {
  int32_t count;
  const int32_t* dtype;
  const int64_t* numel;
  void* const* data;
};

// The norm of all elements together, of an order above 0.
struct ListNormArgs {
  TensorList list;
  double order;
  View total;  // 0-d, float64
  View out;    // 0-d, floating: the same number
};

// With a total norm, x = x min(limit / (total + 1e-6), 1), where a NaN as the factor stays; without
// one, x = x between -limit and limit, where a NaN stays. Of 16-bit elements computed in float32.
struct ListClipArgs {
  TensorList list;
  View total;  // 0-d, floating; no data: there is none
  double limit;
};

}  // namespace libdl::kernels
