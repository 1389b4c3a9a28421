// SPDX-License-Identifier: Apache-2.0

// Means of windows, and their transpose: each is the other's gradient.
#pragma once

#include "ops/pool/windows.h"

namespace libdl {

struct Averaged {
  const char* op;
  int dims;
  kernels::PoolWindows windows;
  int64_t divisor = 0;             // 0: the number of a window's positions
  bool count_include_pad = true;   // among which those of the padding are
  Order order = Order::kRowMajor;  // of the image
};

Tensor averaged(const Tensor& image, const Averaged& a);

}  // namespace libdl
