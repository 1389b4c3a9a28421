// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "entries/arithmetic.h"
#include "entries/linalg.h"
#include "entries/view.h"

namespace libdl {

// [n1 m1, n2 m2, ..] as the product of [n1, 1, n2, 1, ..] and [1, m1, 1, m2, ..].
Tensor kron_impl(const Tensor& input, const Tensor& other) {
  const int ndim = std::max(input.ndim(), other.ndim());
  SmallVector<int64_t, 16> left, right;
  SmallVector<int64_t, 8> shape;
  for (int d = 0; d < ndim; ++d) {
    const int a = d - ndim + input.ndim(), b = d - ndim + other.ndim();
    const int64_t n = a < 0 ? 1 : input.size(a), m = b < 0 ? 1 : other.size(b);
    left.push_back(n), left.push_back(1);
    right.push_back(1), right.push_back(m);
    shape.push_back(n * m);
  }
  return reshape(mul(reshape(input, left), reshape(other, right)), shape);
}

}  // namespace libdl
