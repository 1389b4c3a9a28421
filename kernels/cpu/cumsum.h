// SPDX-License-Identifier: Apache-2.0

// Running sums of floating numbers, carried in double. The order, for every layout: a row longer
// than kSplitRow is cut into parts by its length, and what stands before a part is the sum of the
// parts' totals; within a part groups of 8 are scanned as a tree (x2 + x3 joins the sum of the two
// before) and added to the carry of the groups before.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

void cumsum(Context& context, const ScanArgs& args);

}  // namespace libdl::kernels::cpu
