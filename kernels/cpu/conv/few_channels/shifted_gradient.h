// SPDX-License-Identifier: Apache-2.0

// The weights' gradient of convolutions to few channels, or from few: copies of the image that has
// few, shifted tap by tap, [(tap, channel)] by [pixel], times the other one, [pixel] by [channel].
#pragma once

#include "kernels/args.h"
#include "kernels/context.h"

namespace libdl::kernels::cpu {

bool shifted_gradient_is_faster(const ConvolutionArgs& a);

// Of one group, to out [output channel, tap, input channel].
template <class S>
void shifted_gradient(Context& context, const ConvolutionArgs& a, int64_t group, S* out);

}  // namespace libdl::kernels::cpu
