// SPDX-License-Identifier: Apache-2.0

// Binary searches.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// Places of elements in sorted rows: the number of elements of a row that are below x, or with
// `right` not above it. A NaN is above all. All views are contiguous; rows and in have the same
// dtype, one of float32, float64, int32, int64 and uint64; out is int64 or int32. Each row of
// `length` elements, at least one, is searched `each` times.
struct SearchArgs {
  View out, rows, in;
  int64_t length, each;
  bool right;
};

}  // namespace libdl::kernels
