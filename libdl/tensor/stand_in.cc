// SPDX-License-Identifier: Apache-2.0

#include "tensor/stand_in.h"

#include <algorithm>

#include "device/device.h"

namespace libdl {

Tensor stand_in(const libdl_tensor& x) {
  const int64_t none[] = {0};
  note_packed_only();  // from now on launches look whether there are bytes
  const Tensor nothing = empty(none, x.dtype);
  nothing.storage().plain.store(nullptr, std::memory_order_relaxed);
  nothing.storage().device = x.storage->device;
  Tensor t = unsealed_alias(nothing, x.ndim - 1, x.dtype);
  libdl_tensor& p = *t.get();
  std::copy_n(x.dims + 1, p.ndim, p.sizes());
  std::copy_n(x.dims + x.ndim + 1, p.ndim, p.strides());
  seal(p);
  p.flags |= kStandIn;
  return t;
}

}  // namespace libdl
