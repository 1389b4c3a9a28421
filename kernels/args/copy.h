// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// out = in, converting dtype; both have one shape, any strides.
struct CopyArgs {
  View out;
  View in;
};

// out = one value everywhere; value has out's dtype and lies in the host's memory.
struct FillArgs {
  View out;
  const void* value;
};

}  // namespace libdl::kernels
