// SPDX-License-Identifier: Apache-2.0

// What tensors returned by the host's callbacks are checked against.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace libdl {

struct OutputMeta {  // for checking gradients that user code returns or passes in
  Shape shape;
  Dtype dtype;
  Device device;
};
inline OutputMeta meta_for(const Tensor& x) { return {Shape(x.shape()), x.dtype(), x.device()}; }

struct Mismatch {
  libdl_error_code code;
  std::string found, wanted;
};

// The first property in which x differs from the tensor that it replaces.
inline std::optional<Mismatch> mismatch(const Tensor& x, const OutputMeta& was) {
  if (!same(x.shape(), was.shape))
    return Mismatch{LIBDL_ERROR_SHAPE, "shape " + to_string(x.shape()), to_string(was.shape)};
  if (x.dtype() != was.dtype)
    return Mismatch{LIBDL_ERROR_DTYPE, name_of(x.dtype()), name_of(was.dtype)};
  if (!(x.device() == was.device)) return Mismatch{LIBDL_ERROR_DEVICE, "another device", "its own"};
  return std::nullopt;
}

}  // namespace libdl
