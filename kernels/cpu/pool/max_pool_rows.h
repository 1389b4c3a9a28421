// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/args.h"
#include "kernels/context.h"

namespace libdl::kernels::cpu {

// max_pool of images whose channels are not adjacent, row by row; false, and nothing is done, if
// the windows or the dtype do not suit.
bool max_pool_by_rows(Context& context, const MaxPoolArgs& a);

}  // namespace libdl::kernels::cpu
