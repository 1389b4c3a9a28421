// SPDX-License-Identifier: Apache-2.0

// The CPU's kernels, one declaration a line of kernels.def.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

#define KERNEL(name, Args) void name(Context& context, const Args& args);
#include "kernels/kernels.def"
#undef KERNEL

// Bytes of SortArgs.scratch for rows of `length` elements, aligned to 16.
int64_t sort_scratch(int32_t dtype, int64_t rows, int64_t length, int64_t k);

}  // namespace libdl::kernels::cpu
