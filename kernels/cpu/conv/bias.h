// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// args.bias = the sums of args.y over all pixels.
void bias_gradient(Context& context, const ConvolutionArgs& args);

}  // namespace libdl::kernels::cpu
