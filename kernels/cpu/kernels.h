// SPDX-License-Identifier: Apache-2.0

// The CPU's kernels: one declaration for each line of kernels.def.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

#define KERNEL(name, Args) void name(Context& context, const Args& args);
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl::kernels::cpu
