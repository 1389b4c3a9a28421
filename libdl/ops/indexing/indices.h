// SPDX-License-Identifier: Apache-2.0

// What the operators that read or write by index share: index tensors whose values have been
// checked, and destinations that may be written directly.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// The index as int64 or int32, on the call's device, with every value in [-size, size), or an error
// that names the value and its position (see CheckIndexArgs for indices on a device). Memory of its
// own if it shares any with the destination, which is written while the index is still read.
Tensor checked_index(const Call& call, Into into, int argument, const char* name,
                     const Tensor& index, int64_t size);

// The indices of another integer type as int64; DTYPE for all that are no integers.
Tensor as_index(const Call& call, int argument, const char* name, const Tensor& index);

// Where a result is computed: dst itself if nothing that the kernel reads shares its memory and its
// dtype is the result's, else a new tensor, for Call::done to copy. Throws what check_result does.
Tensor result_place(const Call& call, Into into, Dims shape, Dtype dtype, Device device,
                    std::initializer_list<const Tensor*> read);

// The same for operators that change some elements of input. begin_change, right before the kernel,
// gives it input's values where it has not got them; it cannot fail.
Tensor changed_place(const Call& call, Into into, const Tensor& input,
                     std::initializer_list<const Tensor*> read);
void begin_change(const Tensor& y, const Tensor& input);

// A 0-d tensor as one of one element; others as they are. Without history.
Tensor at_least_1d(const Tensor& x);

// x with dimension `from` moved to `to`. Without history.
Tensor moved(const Tensor& x, int from, int to);

// x seen in a larger shape by strides of 0; the caller knows that it broadcasts. Without history.
Tensor expanded(const Tensor& x, Dims shape);

// x for an operator that reads it as `dtype`: number and 0-d values are converted if the category
// allows, tensors must agree. Recorded.
Tensor value_like(const Call& call, int argument, const char* name, const Tensor& x, Dtype dtype);

}  // namespace libdl
