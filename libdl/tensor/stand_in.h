// SPDX-License-Identifier: Apache-2.0

// Tensors without elements, which stand for the slices of a batch.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// The flag of a stand-in, beside TensorFlag's: no door but those of the geometry lets it in. It has
// no storage, or one of no bytes that says which device.
constexpr uint8_t kStandIn = 32;

// The geometry of x[0]. x has a dimension; it may be a stand-in itself.
Tensor stand_in(const libdl_tensor& x);

}  // namespace libdl
