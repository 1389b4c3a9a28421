// SPDX-License-Identifier: Apache-2.0

// The parts of reduce(), by what is computed and in which type. Each is a translation unit of its
// own: all in one would take the compiler minutes and gigabytes.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// How elements become values: unchanged, |z| of complex ones, |x| to the power p, or 1 if they are
// not 0.
enum class Load { kPlain, kModulus, kPower, kTruth };

using Reduce = void(Context& context, const ReduceArgs& args, Load load);

// Sums, products, extrema and their positions.
Reduce reduce_float, reduce_double, reduce_integer, reduce_unsigned;
// Sums and products.
Reduce reduce_complex;
// All and any.
Reduce reduce_truth;

// How many of all n elements, which are real and lie together in any order, are not 0.
void count_together(Context& context, const ReduceArgs& args, int64_t n);

Reduce norm_float, norm_double;
Reduce variance_float, variance_double;
Reduce logsumexp_float, logsumexp_double;

}  // namespace libdl::kernels::cpu
