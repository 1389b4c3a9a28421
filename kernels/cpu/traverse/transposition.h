// SPDX-License-Identifier: Apache-2.0

// Transposition of blocks that fit in cache, one square at a time in registers.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

// to[c * to_stride + r] = element c of row r. Rows of `from` begin from_stride bytes apart;
// to_stride, in elements, is at least `rows`.
using TransposeFn = void (*)(const char* from, int64_t from_stride, int64_t rows, int64_t columns,
                             void* to, int64_t to_stride);

// For elements of 1, 2, 4, 8 or 16 bytes.
TransposeFn transposer(int bytes);

}  // namespace libdl::kernels::cpu
