// SPDX-License-Identifier: Apache-2.0

// Copies and fills as inner steps of operators: nothing is recorded, no tangent is read or given,
// and no version rises. Where a call of their own is made of them, interceptors are shown a part.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace libdl {

// Whether a tensor of this shape can be copied to one of the wanted shape.
bool broadcasts_to(Dims shape, Dims wanted);
// Copies src's elements to dst, converted; shapes agree. Between devices the host waits for a copy
// to its memory, unless that is pinned and non_blocking is set.
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
// A new tensor with x's values as dtype, in x's order of dimensions or with the given strides, a
// permutation of row-major ones. A sparse matrix stays one where the order and the dtype allow it.
Tensor duplicate(const Tensor& x, Dtype dtype, std::optional<Dims> strides = {});

Tensor zeros(Dims shape, Dtype dtype, Device device = {});
Tensor full(Dims shape, const Tensor& value, Dtype dtype, Device device = {});

}  // namespace libdl
