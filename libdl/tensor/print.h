// SPDX-License-Identifier: Apache-2.0

// Tensors as text, in PyTorch's form: tensor([1., 2.], dtype=libdl.float64, requires_grad=True).
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace libdl {

enum class Scientific : int8_t { kOff = -1, kAuto = 0, kOn = 1 };

struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // more elements than these are summarized
  int64_t edgeitems = 3;     // shown at either end of a summarized dimension
  int64_t linewidth = 80;
  Scientific scientific = Scientific::kAuto;
  Dtype default_dtype = Dtype::kFloat32;  // omitted from the text
  std::string_view dtype_prefix = "libdl.";
  std::string_view grad_fn;  // the operator that made it, or empty
  bool requires_grad = false;
};

// x must be in memory that the CPU can read.
std::string to_string(const Tensor& x, const PrintOptions& options);

}  // namespace libdl
