// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// Whether Winograd's algorithm can compute it, and is faster; decided by sizes alone.
bool winograd_serves(const ConvolutionArgs& args);
void winograd_convolution(Context& context, const ConvolutionArgs& args);

}  // namespace libdl::kernels::cpu
