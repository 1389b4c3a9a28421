// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// out = in, converted to out's dtype; both have the same shape and any strides.
struct CopyArgs {
  View out;
  View in;
};

// Every element of out = value, which has out's dtype and is in host memory.
struct FillArgs {
  View out;
  const void* value;
};

}  // namespace libdl::kernels
