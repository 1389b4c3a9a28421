// SPDX-License-Identifier: Apache-2.0

// What a product of matrices is cut into: panels, blocks of k, stripes, and tiles of the result.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

template <class T>
constexpr int64_t kPanel = 128 / sizeof(T);  // columns of a panel of b: two cache lines
// Values of k per block. More would write out less often, but a panel (48 and 24 kB) and the rows
// of a multiplied with it would no longer fit the L1 cache.
template <class T>
constexpr int64_t kKBlock = sizeof(T) == 4 ? 384 : 192;
// Rows of a copied at once; with at most this many rows, b is packed on the fly.
template <class T>
constexpr int64_t kStripe = 192 / sizeof(T);

struct GemmOperand {  // a matrix of T, or of a 16-bit float where T is float
  const void* data;
  int64_t row_stride, col_stride;
  int32_t dtype;
};

inline GemmOperand transposed(const GemmOperand& m) {
  return {m.data, m.col_stride, m.row_stride, m.dtype};
}

// out[i, j] = alpha * sum + (beta == 0 ? 0 : beta * out[i, j]) + bias[j] for rows [i0, i1) and
// columns [j0, j1); j0 is a multiple of kPanel. out has unit column stride.
template <class T>
struct GemmTile {
  GemmOperand a, b;
  const T* packed;  // b from panel 0 on; NULL: b is read in place, or packed on the fly
  T* out;
  int64_t out_stride;
  const T* bias;  // or NULL; bias[j * bias_stride]
  int64_t bias_stride;
  int64_t k, i0, i1, j0, j1;
  T alpha, beta;
  bool large;      // the whole result is larger than caches are
  bool long_sums;  // b is read in place, and its next block of k is prefetched, not the next panel
};

}  // namespace libdl::kernels::cpu
