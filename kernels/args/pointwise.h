// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

constexpr int kMaxInputs = 4;

// The type in which a pointwise kernel computes; other dtypes are converted, a tile at a time.
enum class Class : int32_t { kBool, kI64, kU64, kF32, kF64, kC128 };
constexpr int kClasses = 6;

// out[i] = expression(in0[i], in1[i], …) over one shape: the inputs are already expanded to it
// (stride 0 where broadcast), and dimensions coalesced where possible (innermost last).
struct PointwiseArgs {
  int32_t expression;  // index in kernels/pointwise.def
  int32_t compute;     // Class
  int32_t inputs;
  uint32_t host_inputs =
      0;  // bit k: in[k] is one element in the host's memory, as on the CPU all are
  View out;
  View in[kMaxInputs];
};

}  // namespace libdl::kernels
