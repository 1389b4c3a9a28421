// SPDX-License-Identifier: Apache-2.0

// The gradient of a convolution's weights, as a product with patches.
#pragma once

#include "kernels/args.h"
#include "kernels/context.h"

namespace libdl::kernels::cpu {

template <class S>
void weight_gradient(Context& context, const ConvolutionArgs& a, int64_t group);

}  // namespace libdl::kernels::cpu
