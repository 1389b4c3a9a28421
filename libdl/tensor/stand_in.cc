// SPDX-License-Identifier: Apache-2.0

#include "tensor/stand_in.h"

#include <algorithm>

namespace libdl {

Tensor stand_in(const libdl_tensor& x) {
  const Device device = x.storage ? x.storage->device : Device();
  Tensor t = empty(Shape(static_cast<size_t>(x.ndim - 1), 0), x.dtype, device);
  libdl_tensor& p = *t.get();
  std::copy_n(x.dims + 1, p.ndim, p.sizes());
  std::copy_n(x.dims + x.ndim + 1, p.ndim, p.strides());
  p.flags &= static_cast<uint8_t>(~kContiguous);
  seal(p);
  p.flags |= kStandIn;
  if (device == Device()) Ref<Storage>::take(std::exchange(p.storage, nullptr));
  return t;
}

}  // namespace libdl
