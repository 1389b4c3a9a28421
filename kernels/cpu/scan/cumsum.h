// SPDX-License-Identifier: Apache-2.0

// Running sums of floating-point numbers, carried in double. The order is the same for every
// layout: a row longer than kSplitRow is cut into parts by its length, and the carry into a part is
// the sum of the totals of the parts before it; within a part groups of 8 are scanned as a tree
// (x2 + x3 is added to the sum of the two before) and added to the carry of the groups before.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

void cumsum(Context& context, const ScanArgs& args);

}  // namespace libdl::kernels::cpu
