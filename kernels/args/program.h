// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/args/pointwise.h"
#include "kernels/view.h"

namespace libdl::kernels {

// A fused chain of expressions over one shape. Instruction k applies `expression` to registers
// `in` and writes register inputs + constants + k; the last one is the result. A truth value is 1
// or 0 in the compute class; as the result it is a bool, converted to out's dtype.
constexpr int kMaxInstructions = 128;
struct Instruction {
  int32_t expression;
  int32_t in[kMaxInputs];
};
struct ProgramArgs {
  int32_t compute;  // Class of every register
  int32_t inputs;
  int32_t constants;
  int32_t length;            // 1 to kMaxInstructions
  uint32_t host_inputs = 0;  // as in PointwiseArgs
  View out;
  View in[8];
  double constant[8];
  const Instruction* code;
};

}  // namespace libdl::kernels
