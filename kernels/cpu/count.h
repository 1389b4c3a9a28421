// SPDX-License-Identifier: Apache-2.0

// How often each integer occurs. On other devices ones are added at their places
// (libdl/ops/statistics/counts.cc).
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// counts: int64, [k], contiguous. in: int64, contiguous, from 0 to k - 1.
struct CountArgs {
  View counts, in;
};
void count(Context& context, const CountArgs& args);

}  // namespace libdl::kernels::cpu
