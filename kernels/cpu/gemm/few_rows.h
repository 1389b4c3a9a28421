// SPDX-License-Identifier: Apache-2.0

// A few rows times a matrix that is too large for the caches: b is read once, in long runs, and is
// not packed. Elements are summed as in gemm.h, so bits are the same.
#pragma once

#include "kernels/cpu/gemm/gemm.h"

namespace libdl::kernels::cpu {

constexpr int64_t kFewRows = 8;
template <class T>
constexpr int64_t kFewColumns = 2048 / sizeof(T);  // of a strip, at most

// Rows [0, i1) of the tile, at most kFewRows, of at most kFewColumns columns; a and b are T in
// memory and b is contiguous along its rows or its columns; alpha is 1, beta 0.
template <class T>
void few_rows_tile(const GemmTile<T>& tile);

}  // namespace libdl::kernels::cpu
