// SPDX-License-Identifier: Apache-2.0

// Which reductions come out the same in whatever order their elements are taken.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels {

// Extrema, truth, and integers, which wrap: taken in memory's order. Floating sums go, and places
// are counted, by logical indices, so that the bits do not depend on where the elements lie. (Of
// two zeros either may be the largest.)
constexpr bool order_is_free(Reduction op, bool integers) {
  return op == Reduction::kMax || op == Reduction::kMin || op == Reduction::kAll ||
         op == Reduction::kAny || op == Reduction::kCount ||
         (integers && (op == Reduction::kSum || op == Reduction::kProd));
}

}  // namespace libdl::kernels
