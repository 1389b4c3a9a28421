// SPDX-License-Identifier: Apache-2.0

// Copies between a tensor of any strides and a buffer in row-major order.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

inline int64_t byte_count(const Tensor& x) { return x.numel() * size_of(x.dtype()); }

// `to` has byte_count(x) bytes and does not overlap x. Neither needs to be aligned.
void read_elements(const Tensor& x, void* to);

// The reverse. x does not overlap itself; the caller raises its version.
void write_elements(const Tensor& x, const void* from);

// A contiguous copy of x on the CPU, without history; numbers become 0-d tensors.
Tensor row_major_copy(const Tensor& x);

}  // namespace libdl
