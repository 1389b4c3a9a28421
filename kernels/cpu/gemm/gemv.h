// SPDX-License-Identifier: Apache-2.0

// Matrix times vector: y[i] = sum over k of w[i, k] x[k], for floating types. The values of k are
// distributed over 64 bytes of lanes, summed with fma, and the lanes are merged by halves; this
// order does not depend on the layout.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

struct GemvOperand {
  const void* data;
  int64_t row_stride, k_stride;
  int64_t rows;   // of the whole matrix: a single row is summed in another order
  int32_t dtype;  // float64, or float32 and the 16-bit floats
};

constexpr int64_t kGemvRows = 1024;  // at most, in one call

// Rows [i0, i1) into y[0, i1 - i0), double where w is float64 and else float. x has stride x_stride
// and w's dtype.
void gemv(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0, int64_t i1,
          void* y);

}  // namespace libdl::kernels::cpu
