// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/reduction.h"
#include "entries/statistics.h"

namespace libdl {

Tensor dist_impl(const Tensor& input, const Tensor& other, double p) {
  const Tensor order = number(p);
  return norm(sub(input, other), &order);
}

}  // namespace libdl
