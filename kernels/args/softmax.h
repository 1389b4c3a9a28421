// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// Over the last dimension; the leading ones, any number with any strides, are the rows. out may be
// in, dx may be dy.
struct SoftmaxArgs {
  View out;
  View in;
  bool log;
};
struct SoftmaxBackwardArgs {
  View dx;
  View dy;
  View y;
  bool log;
};

}  // namespace libdl::kernels
