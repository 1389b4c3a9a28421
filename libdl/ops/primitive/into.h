// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tensor/tensor.h"

namespace libdl {

// The destination of an into form; empty if the operator makes a new tensor.
struct Into {
  libdl_tensor* dst = nullptr;
  const char* name = "dst";  // for errors
  Into() = default;
  explicit Into(const Tensor& t, const char* parameter = "dst") : dst(t.get()), name(parameter) {}
  explicit operator bool() const { return dst; }
  const Tensor& tensor() const { return borrow(dst); }
};

}  // namespace libdl
