// SPDX-License-Identifier: Apache-2.0

// Copies whose input is contiguous along another dimension than the output, done in square tiles,
// so that every cache line is read and written once.
#pragma once

#include "kernels/cpu/traverse/geometry.h"

namespace libdl::kernels::cpu {

// Whether operand[0] = operand[1] is such a copy, and the dimension along which the input is
// contiguous.
bool is_transposed_copy(const Geometry& g, int* along);

void transpose(Context& context, const Geometry& g, int along);

}  // namespace libdl::kernels::cpu
