// SPDX-License-Identifier: Apache-2.0

// Normalisations of numbers whose squares leave the range of their dtype. These have the same
// result if the numbers are scaled, and epsilon by the square of the same factor.
#pragma once

#include <optional>

#include "ops/core/call.h"

namespace libdl {

struct Rescaled {
  Tensor scale;  // a power of two for each group of numbers, constant
  Tensor eps;    // epsilon times its square
};

// Of x along dims, if `variance`, the mean square of each group plus eps, tells that squares may
// have overflowed or vanished. On another device than the CPU nobody waits to learn it.
std::optional<Rescaled> rescaled(const Tensor& x, const Tensor& variance, Dims dims, double eps);

// The reciprocal root of the mean square of x plus eps for each group along dims, with x scaled
// where that is needed: 1 / sqrt(mean((x scale)^2) + eps scale^2).
struct Rooted {
  Tensor x, rstd;  // x scale, and the root's reciprocal of that
  Tensor scale;    // undefined: 1
};
Rooted rooted(const Tensor& x, Dims dims, double eps);

}  // namespace libdl
