// SPDX-License-Identifier: Apache-2.0

// Between a tensor of any strides and a run of bytes in row-major order.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

inline int64_t byte_count(const Tensor& x) { return x.numel() * size_of(x.dtype()); }

// `to` has byte_count(x) bytes and does not overlap x. It need not be aligned, nor need x be.
void read_elements(const Tensor& x, void* to);

// The reverse. x does not overlap itself; the caller raises its version.
void write_elements(const Tensor& x, const void* from);

// A contiguous tensor of its own on the CPU with x's values, without history; numbers become 0-d
// tensors.
Tensor row_major_copy(const Tensor& x);

}  // namespace libdl
