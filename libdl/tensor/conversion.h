// SPDX-License-Identifier: Apache-2.0

// A float32 tensor in a 16-bit dtype, kept with its bytes. It is a form (tensor/packed.h), so it
// goes when these bytes change or memory runs short; but it lies in a storage of its own, which
// tensors share and which may have forms in its turn.
#pragma once

#include "tensor/packed.h"
#include "tensor/tensor.h"

namespace libdl {

// x on the CPU as dtype, without history: what an earlier call kept, or convert(x, dtype), a new
// tensor, which is kept if x is contiguous. The bytes are read-only.
Tensor kept_conversion(const Tensor& x, Dtype dtype, Tensor (*convert)(const Tensor&, Dtype));

}  // namespace libdl
