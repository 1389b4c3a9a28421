// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

// Throws SHAPE unless the input's last dimensions are these, of which there must be one; blames the
// input if the weight, where there is one, has them.
void check_normalized(const char* op, const Tensor& input, Dims normalized_shape,
                      const Tensor* weight);

}  // namespace libdl
