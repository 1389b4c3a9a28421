// SPDX-License-Identifier: Apache-2.0

// Shared by the operators that read or write by index: checking index tensors, and finding out
// whether destinations may be written directly.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// The index as int64 or int32, on the call's device, with every value in [-size, size), or an error
// that names the value and its position (see CheckIndexArgs for indices on a device). It is copied
// if it shares memory with the destination, which is written while the index is still being read.
Tensor checked_index(const Call& call, Into into, const char* name, const Tensor& index,
                     int64_t size);

// Indices of another integer type as int64; DTYPE if they are not integers.
Tensor as_index(const Call& call, const char* name, const Tensor& index);

// Where a result is computed: dst itself if it has the result's dtype and shares no memory with
// what the kernel reads, else a new tensor, for Call::done to copy. Throws what check_result
// throws.
Tensor result_destination(const Call& call, Into into, Dims shape, Dtype dtype, Device device,
                          std::span<const Tensor* const> read);
inline Tensor result_destination(const Call& call, Into into, Dims shape, Dtype dtype,
                                 Device device, std::initializer_list<const Tensor*> read) {
  return result_destination(call, into, shape, dtype, device, std::span(read.begin(), read.size()));
}

// The same for operators that change some elements of input. begin_change, before the kernel's
// arguments are made, copies input's values there if necessary, in the form that they have; it
// cannot fail.
Tensor changed_destination(const Call& call, Into into, const Tensor& input,
                           std::initializer_list<const Tensor*> read);
void begin_change(const Tensor& y, const Tensor& input);

// A 0-d tensor as a 1-d tensor of one element; others unchanged. Without history.
Tensor at_least_1d(const Tensor& x);

// x with dimension `from` moved to `to`. Without history.
Tensor moved(const Tensor& x, int from, int to);

// x expanded to a larger shape with zero strides; the caller knows that it broadcasts. Without
// history.
Tensor expanded(const Tensor& x, Dims shape);

// x for an operator that reads it as `dtype`: host numbers and 0-d tensors are converted if the
// category allows; other tensors must have that dtype. Recorded.
Tensor value_like(const Call& call, const char* name, const Tensor& x, Dtype dtype);

}  // namespace libdl
