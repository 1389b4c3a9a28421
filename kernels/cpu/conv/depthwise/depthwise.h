// SPDX-License-Identifier: Apache-2.0

// Convolutions of which each group has one channel of the input, or a few and as many of the
// output: by vectors of channels.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

bool is_depthwise(const ConvolutionArgs& args);
void depthwise_convolution(Context& context, const ConvolutionArgs& args);

}  // namespace libdl::kernels::cpu
