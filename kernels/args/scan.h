// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

enum class Scan : int32_t { kSum, kProd, kMax, kMin, kLogsumexp };
// Inclusive scan along the last dimension; float32 and narrower are carried in double.
struct ScanArgs {
  int32_t op;
  View out;
  View indices;  // int64, kMax and kMin only: position of the running extremum; data may be NULL
  View in;
};

}  // namespace libdl::kernels
