// SPDX-License-Identifier: Apache-2.0

// Launches whose operands are computed in the dtypes that they have in memory, where the compute
// class would convert them: narrow integers, complex64, and choices of any dtype.
#pragma once

#include "kernels/args.h"
#include "kernels/cpu/tiles/tiles.h"

namespace libdl::kernels::cpu {

struct ExactForm {
  TileFn fn;
  int32_t varying;     // the inputs from there on are one number each
  PointwiseArgs args;  // the operands as fn reads them
  alignas(16) char number[kMaxInputs][16];
};

// Whether there is such a form; then it is filled in.
bool exact_form(const PointwiseArgs& args, ExactForm& form);

}  // namespace libdl::kernels::cpu
