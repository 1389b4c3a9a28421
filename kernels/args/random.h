// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

enum class Distribution : int32_t { kBits, kUniform, kNormal, kBernoulli, kRandint };
// Fills out (row-major logical order) from Philox 4x32-10 with this key and counter offset, by the
// rules of kernels/philox.h. kUniform and kNormal take real floats; pass complex ones as twice as
// many.
struct RandomArgs {
  int32_t distribution;
  View out;
  View probability;  // kBernoulli, expanded to out's shape, or data NULL
  double a, b;  // kUniform: [a, b); kNormal: mean a, deviation b; kBernoulli: b with probability a,
                // else 0
  int64_t low;
  uint64_t range;  // kRandint: low + [0, range); 0 means 2^64
  uint64_t key, offset;
};

}  // namespace libdl::kernels
