// SPDX-License-Identifier: Apache-2.0

// What a caller of the matmul kernel may know: b kept packed between calls.
#pragma once

#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// Whether a product of these sizes reads packed_b: floating and complex numbers, with more than one
// row and column, and than one value of k where they are real.
bool matmul_reads_packed(int32_t dtype, int64_t m, int64_t n, int64_t k);

// Bytes of one packed [k, n] matrix, or -1. Panels are float64 where the matrix is, else float32;
// those of a complex matrix have four real numbers for each element. The matrix unit has its own.
int64_t packed_size(int32_t dtype, int64_t n, int64_t k);

// Packs b [batch, k, n], any strides; packed holds batch * packed_size(b.dtype, n, k) bytes,
// 64-aligned. A batch stride of 0 is packed once, and is to be read by products whose b has it too.
void pack_b(Context& context, void* packed, const View& b);

}  // namespace libdl::kernels::cpu
