// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

enum class Reduction : int32_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kArgmax,
  kArgmin,
  kAll,
  kAny,
  kNorm,
  kVar,
  kLogsumexp,
  kMaxIndex,
  kMinIndex,
  kCount
};
// Reduces the last `reduced` dimensions of `in`; out (and indices, if its data is not NULL) have
// the leading ones. The order of summation is defined on logical indices, never on strides. Sum,
// prod, norm, var and logsumexp compute in out's type (float32 for the 16-bit ones), the others in
// in's. Count, of nonzero elements, writes int64. Reducing no elements gives the identity (0, 1,
// true, false, -inf); argmax and argmin need at least one.
struct ReduceArgs {
  int32_t op;  // Reduction
  int32_t reduced;
  View out;
  View indices;  // int64; kMaxIndex, kMinIndex: index of the extremum within the reduced dimension
  View in;
  double number;  // kNorm: p; kVar: correction
  bool root;      // kVar: standard deviation instead of variance
};

}  // namespace libdl::kernels
