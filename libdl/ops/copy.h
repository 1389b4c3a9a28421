// SPDX-License-Identifier: Apache-2.0

// Copies and conversions.
#pragma once

#include "ops/call.h"

namespace libdl {

// dst's elements become src's, converted; shapes agree. Not recorded, no version: the inner step of
// operators that do both.
void copy_bytes(const Tensor& dst, const Tensor& src);
// Every element becomes value's, converted. Likewise unrecorded.
void fill_bytes(const Tensor& dst, const Tensor& value);

// A contiguous tensor with x's values as dtype; x itself where it is both already. Not recorded.
Tensor plain(const Tensor& x, Dtype dtype);
inline Tensor plain(const Tensor& x) { return plain(x, x.dtype()); }

Tensor cast(const Tensor& x, Dtype dtype);  // recorded; x itself where nothing changes
Tensor clone(const Tensor& input);
Tensor contiguous(const Tensor& input);  // input itself where it is

// dst takes src, broadcast to it and converted; recorded. Returns dst.
Tensor copy_into(const Tensor& dst, const Tensor& src);
Tensor fill_into(const Tensor& dst, const Tensor& value);
Tensor zero_into(const Tensor& dst);

Tensor zeros(Dims shape, Dtype dtype, Device device = {});
Tensor full(Dims shape, const Tensor& value, Dtype dtype, Device device = {});
Tensor zeros_like(const Tensor& x);

}  // namespace libdl
