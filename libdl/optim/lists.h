// SPDX-License-Identifier: Apache-2.0

// What all steps over lists of tensors have in common: checks of options and lists, the arrays that
// a kernel wants, and the versions of what was written.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "ops/core/launch.h"
#include "tensor/tensor.h"

namespace libdl {

// " at position i"
std::string at_position(size_t i);

// 0 or more, finite, and perhaps below 1.
void check_factor(const char* op, const char* name, double value, bool below_one = false,
                  int argument = 1);
void check_step(const char* op, int64_t step);

// A list of states; one without a name is not part of the step.
struct States {
  const char* name = nullptr;
  TensorSpan list{};
};

// Which rows without a gradient a step leaves out, because they stay as they are.
enum class Still : uint8_t { kNoRow, kRowsOfSparse, kRows };

// The states are the arguments from 4 on, whether they are part of the step or not.
struct Step {
  const char* op;
  TensorSpan params, grads;
  std::array<States, 3> states;
  Still still = Still::kNoRow;

  // Checks the lists, launches the kernel and raises the versions; options were checked before.
  void take(void (*launch)(Device, const kernels::OptimizerArgs&),
            const kernels::OptimizerOptions& options) const;
};

}  // namespace libdl
