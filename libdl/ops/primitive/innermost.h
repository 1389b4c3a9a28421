// SPDX-License-Identifier: Apache-2.0

// Images as kernels see them that work channel by channel: [n, c, d, h, w], on the CPU with the
// channels innermost, whether strides or a form put them there.
#pragma once

#include "ops/primitive/launch.h"
#include "tensor/forms.h"

namespace libdl {

// A tensor with a batch, channels and up to three further dimensions; missing ones count as 1.
class Innermost {
 public:
  enum class Order {
    kInnermost,  // converted if necessary; the form is kept
    kAny,        // as it lies
    kWritten,    // as it lies, not to be read but to be overwritten
  };
  // To be read.
  explicit Innermost(const Tensor& x, Order order = Order::kInnermost);
  // To be read: a form of x's shape and dtype, with the channels innermost.
  Innermost(const Tensor& x, PackedReader form);
  // To be written: new. Without a form where channels and pixels lie as in a contiguous tensor.
  Innermost(Dims shape, Dtype dtype, Device device);
  ~Innermost();  // what was written becomes plain if forms are left out (runtime/mechanism.h)
  Innermost(const Innermost&) = delete;
  Innermost& operator=(const Innermost&) = delete;

  kernels::View view() const {
    return {data_, sizes_, strides_, 5, static_cast<int32_t>(tensor_.dtype())};
  }
  const Tensor& tensor() const { return tensor_; }
  const PackedReader& form() const { return form_; }  // that is read; empty if it is none

 private:
  void set(void* data, const Shape& strides);

  Tensor tensor_;
  PackedReader form_;
  bool written_ = false;  // to a form
  void* data_ = nullptr;
  int64_t sizes_[5] = {}, strides_[5] = {};
};

}  // namespace libdl
