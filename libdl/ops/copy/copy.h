// SPDX-License-Identifier: Apache-2.0

// Copies and conversions that are recorded.
#pragma once

#include "ops/core/call.h"
#include "ops/primitive/bytes.h"

namespace libdl {

// The into form of an operator composed of others: writes y, computed from the operands, into dst,
// which takes y's history if dst is an operand itself.
Tensor write_result(const char* op, const Tensor& y, Into into,
                    std::span<const Tensor* const> operands);
inline Tensor write_result(const char* op, const Tensor& y, Into into,
                           std::initializer_list<const Tensor*> operands) {
  return write_result(op, y, into, std::span(operands.begin(), operands.size()));
}

// -- operators ----------------------------------------------------------------------------------

Tensor cast(const Tensor& x, Dtype dtype);  // x itself if it has the dtype already
// The same of a float32 tensor on the CPU to a 16-bit dtype, for values that are read often: the
// result's bytes are kept with x's until those change, and are not to be written.
Tensor cast_kept(const Tensor& x, Dtype dtype);
Tensor row_major_clone(const Tensor& x);
Tensor clone_with(const Tensor& x, Dims strides);  // a permutation of row-major ones
// value as a 0-d tensor of dtype, which must hold it (holds.h).
Tensor held(const char* op, const char* name, const Tensor& value, Dtype dtype);

}  // namespace libdl
