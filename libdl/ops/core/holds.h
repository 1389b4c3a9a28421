// SPDX-License-Identifier: Apache-2.0

// Whether a dtype holds a number that a caller wants to write or compute with.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// Throws OVERFLOW where it does not, as PyTorch does: an integer beyond its range, infinity or NaN
// for integers, a finite number that would become infinite; DTYPE for an imaginary part where dtype
// is real. Bool holds everything, fractions are cut, and unsigned integers take the negative of
// what they hold, which wraps. value: a host number or a 0-d tensor.
void check_holds(const char* op, int argument, const char* name, const Tensor& value, Dtype dtype);
// The same for host numbers alone: tensors are converted as `to` does.
inline void check_number(const char* op, int argument, const char* name, const Tensor& value,
                         Dtype dtype) {
  if (value.is_number()) check_holds(op, argument, name, value, dtype);
}
bool holds(Dtype dtype, double x);
// value as a 0-d tensor of dtype, after check_holds.
Tensor held(const char* op, int argument, const char* name, const Tensor& value, Dtype dtype);

// Likewise for an integer that is to keep its value: it does not wrap.
bool in_range_of(Dtype integer, __int128 x);
LIBDL_NORETURN void reject_number(const char* op, int argument, const char* name, __int128 found,
                                  Dtype dtype);

// An integer or truth of any dtype.
__int128 wide_integer(const Tensor& x);

}  // namespace libdl
