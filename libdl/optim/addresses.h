// SPDX-License-Identifier: Apache-2.0

// A step's lists as the kernel wants them.
#pragma once

#include <vector>

#include "ops/primitive/launch.h"
#include "optim/step.h"
#include "tensor/sparse_rows.h"

namespace libdl {

// Arrays of addresses. What belongs to one parameter lies in one order: plain, or all of it with
// the channels innermost and nowhere else. Of a parameter of which some rows stay as they are, each
// other row is an entry of its own.
class Addresses {
 public:
  explicit Addresses(const Step& step);

  void launch_all(Device device, void (*launch)(Device, const kernels::OptimizerArgs&),
                  const kernels::OptimizerOptions& options) const;

 private:
  // A list that is written, and the addresses of its entries.
  struct Written {
    TensorSpan list;
    std::vector<void*> addresses;
  };

  // Each appends the gradient and what is written at position i, if it can.
  bool add_rows_alone(const Step& step, size_t i);
  bool add_forms(const Tensor& gradient, size_t i);
  bool add_by_rows(const Tensor& gradient, size_t i);
  void add_plain(const Tensor& gradient, size_t i);
  void add_written(size_t i);
  kernels::OptimizerArgs args(const kernels::OptimizerOptions& options, size_t first,
                              size_t count) const;

  std::vector<int32_t> dtype_;
  std::vector<int64_t> numel_;
  Written written_[4];  // the parameters and their states
  std::vector<const void*> grad_;
  std::vector<kernels::GradientRows> rows_;  // empty if no gradient is held by rows
  std::vector<Tensor> read_;                 // copies of gradients, or of their rows
  std::vector<PackedReader> forms_;
  bool has_rows_alone_ = false;
};

}  // namespace libdl
