// SPDX-License-Identifier: Apache-2.0

// Arguments with one number for each of up to three dimensions, or one for all.
#pragma once

#include <array>

#include "tensor/shape.h"

namespace libdl {

using Three = std::array<int64_t, 3>;

// The numbers that were given for `dims` dimensions, as the last of three; the others are
// `otherwise`. From `least` to 2^31 - 1, so that products with sizes stay below 2^63.
Three each_dimension(const char* op, const char* name, Dims given, int dims, int64_t otherwise,
                     int64_t least);

}  // namespace libdl
