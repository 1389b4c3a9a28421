// SPDX-License-Identifier: Apache-2.0

// Our own float32 product over packed panels. Every element is summed over k in blocks of kKBlock,
// in sequence with fma, so its bits depend on nothing but its row, its column and k.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

constexpr int64_t kPanel = 32;    // columns of a panel of b
constexpr int64_t kKBlock = 384;  // values of k whose panel stays in cache

struct SgemmOperand {  // a matrix of float32 or a 16-bit float
  const void* data;
  int64_t row_stride, col_stride;
  int32_t dtype;
};

// Columns [32 panel, …) of b [k, n]: for every k block, its values of k, 32 columns each; columns
// beyond n are zero. They start at packed + panel * k * kPanel.
void sgemm_pack(float* packed, const SgemmOperand& b, int64_t k, int64_t n, int64_t panel);

// out[i, j] = alpha * sum + (beta == 0 ? 0 : beta * out[i, j]) + bias[j] for rows [i0, i1) and
// columns [j0, j1); j0 is a multiple of kPanel. out has unit column stride. packed starts at panel
// 0.
struct SgemmTile {
  SgemmOperand a;
  const float* packed;
  float* out;
  int64_t out_stride;
  const float* bias;  // or NULL; bias[j * bias_stride]
  int64_t bias_stride;
  int64_t k, i0, i1, j0, j1;
  float alpha, beta;
};
void sgemm_tile(const SgemmTile& tile);

}  // namespace libdl::kernels::cpu
