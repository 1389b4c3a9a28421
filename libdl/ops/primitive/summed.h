// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tensor/dtype.h"

namespace libdl {

// The dtype in which many elements of `dtype` are added, counted or shared out: float32 for the
// 16-bit ones. bfloat16 loses ones from 256 on, and float16 ends at 65504.
constexpr Dtype summed_as(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16 ? Dtype::kFloat32 : dtype;
}

}  // namespace libdl
