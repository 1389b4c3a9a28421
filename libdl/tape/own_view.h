// SPDX-License-Identifier: Apache-2.0

// Tensors that change their geometry in place.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// x gets the geometry and the history of its view. Throws VALUE and AUTOGRAD, see
// libdl_tensor_become_view.
void become_own_view(const Tensor& x, const Tensor& view);

}  // namespace libdl
