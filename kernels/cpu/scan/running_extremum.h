// SPDX-License-Identifier: Apache-2.0

// Running extrema and their places. Most elements do not reach the extremum so far: whole vectors
// of such are found by one comparison, and only the others are looked at one by one.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

void running_extremum(Context& context, const ScanArgs& args);

}  // namespace libdl::kernels::cpu
