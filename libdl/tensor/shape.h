// SPDX-License-Identifier: Apache-2.0

// Shapes: sizes, or strides, of dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/small_vector.h"

namespace libdl {

using Dims = std::span<const int64_t>;
using Shape = SmallVector<int64_t, 8>;
constexpr int kMaxDims = 64;
constexpr int kInlineDims = 4;

Shape contiguous_strides(Dims shape);  // row-major, in elements
bool same(Dims a, Dims b);
std::string to_string(Dims shape);  // "[2, 3]"

}  // namespace libdl
