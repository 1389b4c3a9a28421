// SPDX-License-Identifier: Apache-2.0

#include "tensor/stand_in.h"

#include <algorithm>

namespace libdl {

Tensor stand_in(const libdl_tensor& x) {
  const int64_t none[] = {0};
  Tensor t = unsealed_alias(empty(none, x.dtype, x.storage->device), x.ndim - 1, x.dtype);
  libdl_tensor& p = *t.get();
  std::copy_n(x.dims + 1, p.ndim, p.sizes());
  std::copy_n(x.dims + x.ndim + 1, p.ndim, p.strides());
  seal(p);
  p.flags |= kStandIn;
  return t;
}

}  // namespace libdl
