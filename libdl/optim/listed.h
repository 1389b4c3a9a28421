// SPDX-License-Identifier: Apache-2.0

// Many tensors as a kernel over lists wants them. Its entries are real, on one device, and without
// gaps; on the CPU row-major, so that norms have the order of their elements.
#pragma once

#include <vector>

#include "ops/primitive/launch.h"
#include "tensor/tensor.h"

namespace libdl {

class Listed {
 public:
  explicit Listed(Device device) : device_(device) {}

  // Whether x may be an entry as it is.
  bool takes(const Tensor& x) const;
  void add(const Tensor& x, Access access);

  bool is_empty() const { return data_.empty(); }
  // Whether no byte belongs to two entries.
  bool are_apart() const;
  kernels::TensorList list() const;

 private:
  Device device_;
  std::vector<int32_t> dtype_;
  std::vector<int64_t> numel_;
  std::vector<void*> data_;
};

}  // namespace libdl
