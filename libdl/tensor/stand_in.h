// SPDX-License-Identifier: Apache-2.0

// Tensors without elements, which stand for the slices of a batch.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// The geometry of x[0] over a storage of no bytes; views of it are stand-ins, too, and whoever
// reads elements gets the error EMPTIED. x has a dimension; it may be a stand-in itself.
Tensor stand_in(const libdl_tensor& x);

}  // namespace libdl
