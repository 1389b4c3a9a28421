// SPDX-License-Identifier: Apache-2.0

// Which reductions give the same result in any order of their elements.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels {

// Extrema, truth values, and integers (which wrap) are reduced in memory order. Floating sums and
// positions go by logical indices, so that the bits do not depend on the memory layout. (Of two
// zeros either may be the largest.)
constexpr bool order_is_free(Reduction op, bool integers) {
  return op == Reduction::kMax || op == Reduction::kMin || op == Reduction::kAll ||
         op == Reduction::kAny || op == Reduction::kCount ||
         (integers && (op == Reduction::kSum || op == Reduction::kProd));
}

// Floating sums whose rows lie across memory, with their elements beside those of the neighbouring
// rows, are read in place by several rows at once if these have a length from kLeastAcross on.
constexpr int64_t kLeastAcross = 256, kMostAcross = 1 << 15, kLeastRowsAcross = 33;
constexpr bool are_read_across(int64_t rows, int64_t columns) {
  return rows >= kLeastRowsAcross && columns >= kLeastAcross && columns <= kMostAcross;
}

}  // namespace libdl::kernels
