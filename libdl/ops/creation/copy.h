// SPDX-License-Identifier: Apache-2.0

// Copies, conversions and fills.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// -- inner steps: not recorded, versions not raised ---------------------------------------------

// Whether a tensor of this shape can be copied to one of the wanted shape.
bool broadcasts_to(Dims shape, Dims wanted);
// Copies src's elements to dst, converted; shapes agree. non_blocking: as for transfer.
void copy_bytes(const Tensor& dst, const Tensor& src, bool non_blocking = false);
// Sets every element to value (0-d or a number), converted.
void fill_bytes(const Tensor& dst, const Tensor& value);
// A contiguous tensor with x's values as dtype; x itself where it is both already.
Tensor plain(const Tensor& x, Dtype dtype);
inline Tensor plain(const Tensor& x) { return plain(x, x.dtype()); }
// x itself if it is on the CPU, else a copy there, made once the device has done its work.
// on_device: the same for any device.
Tensor on_device(const Tensor& x, Device device);
inline Tensor on_host(const Tensor& x) { return on_device(x, {}); }

// The into form of an operator composed of others: writes y, computed from the operands, into dst,
// which takes y's history if dst is an operand itself.
Tensor write_result(const char* op, const Tensor& y, Into into,
                    std::span<const Tensor* const> operands);
inline Tensor write_result(const char* op, const Tensor& y, Into into,
                           std::initializer_list<const Tensor*> operands) {
  return write_result(op, y, into, std::span(operands.begin(), operands.size()));
}

Tensor zeros(Dims shape, Dtype dtype, Device device = {});
Tensor full(Dims shape, const Tensor& value, Dtype dtype, Device device = {});

// -- operators ----------------------------------------------------------------------------------

Tensor cast(const Tensor& x, Dtype dtype);  // x itself if it has the dtype already
// The same of a float32 tensor on the CPU to a 16-bit dtype, for values that are read often: the
// result's bytes are kept with x's until those change, and are not to be written.
Tensor cast_kept(const Tensor& x, Dtype dtype);
Tensor row_major_clone(const Tensor& x);
Tensor clone_with(const Tensor& x, Dims strides);  // a permutation of row-major ones

int64_t integer_bits(const Tensor& input);  // any integer as 64 bits in two's complement

}  // namespace libdl
