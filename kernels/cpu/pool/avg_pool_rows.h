// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/args.h"
#include "kernels/context.h"

namespace libdl::kernels::cpu {

// avg_pool and its gradient of images whose channels are not adjacent, row by row, where no sum has
// more than kRun terms; false, and nothing is done, if the windows or the dtype do not suit.
bool avg_pool_by_rows(Context& context, const AvgPoolArgs& a);
bool avg_pool_backward_by_rows(Context& context, const AvgPoolBackwardArgs& a);

}  // namespace libdl::kernels::cpu
