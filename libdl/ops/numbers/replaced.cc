// SPDX-License-Identifier: Apache-2.0

// What stands behind the point, and numbers in place of NaN and infinities.

#include <limits>
#include <optional>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/numbers.h"
#include "entries/rounding.h"
#include "entries/view.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

Tensor frac_impl(const Tensor& input) { return input - trunc(input); }

Tensor nan_to_num_impl(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                       std::optional<double> neginf) {
  if (!is_inexact(input.dtype())) return clone(input);
  if (input.is_complex())
    return view_as_complex(nan_to_num(view_as_real(input), nan, posinf, neginf));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double most = largest_finite(input.dtype());
  Tensor y = masked_fill(input, isnan(input), number(nan.value_or(0.0)));
  y = masked_fill(y, eq(input, number(infinity)), number(posinf.value_or(most)));
  return masked_fill(y, eq(input, number(-infinity)), number(neginf.value_or(-most)));
}

}  // namespace libdl
