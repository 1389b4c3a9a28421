// SPDX-License-Identifier: Apache-2.0

// Launches that compute in the operands' own dtypes instead of converting them to the compute
// class: narrow integers, complex64, and `where` of any dtype.
#pragma once

#include "kernels/args.h"
#include "kernels/cpu/tiles/tiles.h"

namespace libdl::kernels::cpu {

struct ExactForm {
  TileFn fn;
  int32_t varying;     // inputs from this one on are a single number each
  PointwiseArgs args;  // the operands as fn reads them
  alignas(16) char number[kMaxInputs][16];
};

// Whether there is such a form; if so `form` is filled in.
bool exact_form(const PointwiseArgs& args, ExactForm& form);

}  // namespace libdl::kernels::cpu
