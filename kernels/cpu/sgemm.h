// SPDX-License-Identifier: Apache-2.0

// Our own float32 product. Every element is summed over k in blocks of kKBlock, in sequence with
// fma, and the blocks are added in order: its bits depend on nothing but its row, its column and k,
// wherever b is read from.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

constexpr int64_t kPanel = 32;    // columns of a panel of b
constexpr int64_t kKBlock = 256;  // values of k of which a panel (32 kB) stays in cache
constexpr int64_t kStripe = 48;  // rows of a copied at once; up to so many, b is packed as it comes

struct SgemmOperand {  // a matrix of float32 or a 16-bit float
  const void* data;
  int64_t row_stride, col_stride;
  int32_t dtype;
};

// Whether the kernel reads b where it lies: rows of float32.
bool sgemm_reads_in_place(const SgemmOperand& b);

// Panels [first, last) of b [k, n], 32 columns each, to packed + panel * k * kPanel: for every value
// of k, 32 columns; those beyond n are zero.
void sgemm_pack(float* packed, const SgemmOperand& b, int64_t k, int64_t n, int64_t first,
                int64_t last);

// out[i, j] = alpha * sum + (beta == 0 ? 0 : beta * out[i, j]) + bias[j] for rows [i0, i1) and
// columns [j0, j1); j0 is a multiple of kPanel. out has unit column stride.
struct SgemmTile {
  SgemmOperand a, b;
  const float* packed;  // b from panel 0 on; NULL: read from b, packed in passing where necessary
  float* out;
  int64_t out_stride;
  const float* bias;  // or NULL; bias[j * bias_stride]
  int64_t bias_stride;
  int64_t k, i0, i1, j0, j1;
  float alpha, beta;
};
void sgemm_tile(const SgemmTile& tile);

}  // namespace libdl::kernels::cpu
