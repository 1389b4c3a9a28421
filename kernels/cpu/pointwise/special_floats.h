// SPDX-License-Identifier: Apache-2.0

// Special functions of floats, computed in vectors of double: the result is the rounded true one in
// all but rare cases.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// out[i] = function(in[0][i], in[1][i]) for floats in order.
using SpecialFloats = void (*)(const float* const* in, float* out, int64_t n);
// The function for the instruction set in use; NULL if there is none. halves: its results become
// float16 or bfloat16, for which fewer bits suffice.
SpecialFloats special_floats(Special function, bool halves);

}  // namespace libdl::kernels::cpu
