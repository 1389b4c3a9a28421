// SPDX-License-Identifier: Apache-2.0

// What all steps over lists of tensors have in common: checks of options and lists, the arrays that
// a kernel wants, and the versions of what was written.
#pragma once

#include <cmath>
#include <string>

#include "ops/primitive/launch.h"
#include "optim/step.h"
#include "tensor/tensor.h"

namespace libdl {

// " at position i"
std::string at_position(size_t i);

// 0 or more, finite, and perhaps below 1.
void check_factor(const char* op, const char* name, double value, bool below_one = false);
void check_step(const char* op, int64_t step);

// Checks the step's lists, launches the kernel and raises the versions; options were checked
// before.
void take_step(const Step& step, void (*launch)(Device, const kernels::OptimizerArgs&),
               const kernels::OptimizerOptions& options);

}  // namespace libdl
