// SPDX-License-Identifier: Apache-2.0

// For callers of the matmul kernel: keeping b packed between calls.
#pragma once

#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// Whether a product of these sizes reads packed_b: floating-point and complex numbers, with more
// than one row and column and, if they are real, more than one value of k, but not so many that the
// result is small beside them.
bool matmul_reads_packed(int32_t dtype, int64_t m, int64_t n, int64_t k);

// Whether a product of float32 with these sizes may have a b of 16 bits, which is then widened as
// it is read: not by the matrix unit, nor where there is one row, column or value of k.
bool matmul_widens(int64_t m, int64_t n, int64_t k);

// Bytes of one packed [k, n] matrix, or -1 if too large. Panels are float64 if the matrix is, else
// float32; those of a complex matrix have four real numbers per element. bfloat16 has a form of its
// own where it is multiplied as it is, unless it is to be `widened`, for a product of float32.
int64_t packed_size(int32_t dtype, int64_t n, int64_t k, bool widened = false);

// Packs b [batch, k, n], any strides; packed holds batch * packed_size(b.dtype, n, k) bytes,
// 64-aligned. A batch stride of 0 is packed once; only products whose b has it too may read that.
void pack_b(Context& context, void* packed, const View& b, bool widened = false);

}  // namespace libdl::kernels::cpu
