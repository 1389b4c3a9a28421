// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// out[b] = alpha * (a[b] @ b[b]) + beta * out[b] + bias; views are 3-d [batch, rows, cols] of one
// dtype (not bool), any strides (a batch stride of 0 is allowed in a and b). beta 0 never reads
// out. bias: 1-d [cols] added to every row, or data NULL. Integers wrap; alpha and beta are then
// truncated. packed_b: b as pack_matrix wrote it, in packed_format, or NULL; the bits of the result
// are the same. A kernel that did not write this format reads b.
struct MatmulArgs {
  View out;
  View a;
  View b;
  View bias;
  const void* packed_b;
  const void* packed_format;
  double alpha = 1;
  double beta = 0;
};

// b rearranged for products that read it again and again, by a layout that only the matmul of the
// same table or provider knows.
struct PackedMatrix {
  int64_t bytes;       // 0: such products read no packed matrix
  const void* format;  // NULL: the device's own; of a provider an address that no other has
};
struct PackMatrixArgs {
  View b;         // [batch, k, n], any strides; a batch stride of 0 is packed once
  int64_t rows;   // of a, in the products
  int32_t dtype;  // of a and of the result: b's, or float32 for a b of 16 bits, which is widened as
                  // it is read; where that has bytes, such products are served
  void* packed;   // 64-aligned; NULL: only `as` is wanted, and b's data is not read
  // Written, in host memory. With `packed` it is what was told without: whoever would write another
  // format or size leaves that alone and tells 0 bytes.
  PackedMatrix* as;
};

}  // namespace libdl::kernels
