// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/rounding.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/float_environment.h"

namespace libdl {

// Steps have derivative 0 wherever they have one.
#define LIBDL_STEP(op)      \
  const PointwiseOp k_##op{ \
      .name = #op, .expression = Expression::op, .arguments = {"input"}, .zero_gradient = true};
LIBDL_STEP(floor)
LIBDL_STEP(ceil)
LIBDL_STEP(round)
LIBDL_STEP(trunc)
#undef LIBDL_STEP

static Tensor step(const PointwiseOp& op, const Tensor& input, Into into) {
  if (!is_integral(input.dtype())) return pointwise(op, input, into);
  return write_result(op.name, clone(input), into, {&input});  // integers are rounded already
}

Tensor floor_impl(const Tensor& input, Into into) { return step(k_floor, input, into); }
Tensor ceil_impl(const Tensor& input, Into into) { return step(k_ceil, input, into); }
Tensor trunc_impl(const Tensor& input, Into into) { return step(k_trunc, input, into); }

Tensor round_impl(const Tensor& input, int64_t decimals, Into into) {
  if (decimals == 0 || is_integral(input.dtype())) return step(k_round, input, into);
  if (decimals < -300 || decimals > 300)
    fail_argument(LIBDL_ERROR_VALUE, "round", "decimals", "is " + std::to_string(decimals),
                  "-300 to 300");
  if (is_floating(input.dtype()) && size_of(input.dtype()) == 2) {  // 10^5 is beyond float16
    const Tensor y = round(cast(input, Dtype::kFloat32), decimals);
    return write_result("round", cast(y, input.dtype()), into, {&input});
  }
  const DefaultFloatEnvironment environment;
  const Tensor scale = number(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  return rename_error("round", {{"input", "input"}}, [&] {
    const Tensor y = decimals > 0 ? div(pointwise(k_round, mul(input, scale)), scale)
                                  : mul(pointwise(k_round, div(input, scale)), scale);
    return write_result("round", y, into, {&input});
  });
}

}  // namespace libdl
