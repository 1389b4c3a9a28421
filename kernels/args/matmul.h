// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// out[b] = alpha * (a[b] @ b[b]) + beta * out[b] + bias; views are 3-d [batch, rows, cols] of one
// dtype (not bool), any strides (a batch stride of 0 is allowed in a and b). beta 0 never reads
// out. bias: 1-d [cols] added to every row, or data NULL. Integers wrap; alpha and beta are then
// truncated. packed_b: b as pack_b wrote it (kernels/cpu/gemm/matmul.h), or NULL; the bits of the
// result are the same.
struct MatmulArgs {
  View out;
  View a;
  View b;
  View bias;
  const void* packed_b;
  double alpha = 1;
  double beta = 0;
};

}  // namespace libdl::kernels
