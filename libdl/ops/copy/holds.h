// SPDX-License-Identifier: Apache-2.0

// Whether a dtype can represent a number that a caller wants to write or compute with.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace libdl {

// Throws OVERFLOW if it cannot, as PyTorch does: an integer out of range, infinity or NaN for
// integers, a finite number that would become infinite; DTYPE for an imaginary part if dtype is
// real. Bool holds everything, fractions are truncated, and unsigned integers accept the negatives
// of their values, which wrap. value: a host number or a 0-d tensor.
void check_holds(const char* op, const char* name, const Tensor& value, Dtype dtype);
// The same for host numbers alone: tensors are converted as `to` does.
inline void check_number(const char* op, const char* name, const Tensor& value, Dtype dtype) {
  if (value.is_number()) check_holds(op, name, value, dtype);
}
bool holds(Dtype dtype, double x);

// A factor of integers that is given as a float without a fraction, as an integer; else nothing.
std::optional<Tensor> whole_factor(const Tensor* factor, Dtype dtype);

// Whether an integer dtype represents x exactly, without wrapping.
bool in_range_of(Dtype integer, __int128 x);
LIBDL_NORETURN void reject_number(const char* op, const char* name, __int128 found, Dtype dtype);

// The value of an integer or bool of any dtype.
__int128 wide_integer(const Tensor& x);

}  // namespace libdl
