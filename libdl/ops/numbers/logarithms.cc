// SPDX-License-Identifier: Apache-2.0

// Logarithms at the ends of their domain, and sin(x) / x at 0: where the plain formula or its
// derivative has no value.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/exponential.h"
#include "entries/indexing.h"
#include "entries/numbers.h"
#include "entries/reduction.h"
#include "entries/special.h"
#include "entries/view.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {
// Operands in the dtype in which several steps are computed: 16-bit floats in float32, so that they
// are rounded once.
struct Steps {
  Dtype result, computed;

  explicit Steps(std::span<const Tensor* const> operands) : result(result_dtype(operands)) {
    if (!is_inexact(result)) result = default_dtype();
    computed = summed_as(result);
  }
  explicit Steps(const Tensor& x) : Steps(std::array{&x}) {}

  Tensor begin(const Tensor& x, Device device) const {
    return x.is_number() ? full({}, x, computed, device) : to(x, computed, {});
  }
  Tensor begin(const Tensor& x) const { return begin(x, x.device()); }
  Tensor end(const Tensor& y) const { return to(y, result, {}); }
};
}  // namespace

static const double kInfinity = std::numeric_limits<double>::infinity();
static const double kNan = std::numeric_limits<double>::quiet_NaN();

// -- logit ----------------------------------------------------------------------------------------

Tensor logit_impl(const Tensor& input, std::optional<double> eps) {
  const Steps steps(input);
  Tensor x = steps.begin(input) + 0.0;  // -0 would turn the derivative's sign
  const Tensor zero = number(0.0), one = number(1.0);
  if (eps) {
    const Tensor low = full({}, number(*eps), x.dtype(), x.device()), high = sub(one, low);
    x = where(lt(x, low), low, where(gt(x, high), high, x));
  } else {  // beyond 0 and 1 the derivative is no number, either
    const Tensor outside = logical_or(lt(x, zero), gt(x, one));
    x = x * masked_fill(ones_like(detach(x), Dtype::kNone, {}), outside, number(kNan));
  }
  return steps.end(log(x) - log1p(-x));
}

// -- x log(y) -------------------------------------------------------------------------------------

// x log(y), where log is -infinite at the pole and 0 at the root. Where x is 0 so is the product,
// unless y is NaN.
template <class Log>
static Tensor x_times(const char* op, const Tensor& input, const Tensor& other, Log log,
                      double pole, double root) {
  if (other.is_number()) require_tensor(op, {input, "input"});
  const Tensor* const operands[] = {&input, &other};
  const Steps steps(operands);
  const Device device = input.is_number() ? other.device() : input.device();
  const Tensor x = steps.begin(input, device), y = steps.begin(other, device);
  const Tensor ends = logical_or(le(y, number(pole)), eq(y, number(kInfinity)));
  const Tensor zero = logical_and(eq(x, number(0.0)), ends);
  return steps.end(x * log(where(zero, number(root), y)));
}

Tensor xlogy_impl(const Tensor& input, const Tensor& other) {
  return x_times("xlogy", input, other, [](const Tensor& y) { return log(y); }, 0, 1);
}

Tensor xlog1py_impl(const Tensor& input, const Tensor& other) {
  return x_times("xlog1py", input, other, [](const Tensor& y) { return log1p(y); }, -1, 0);
}

// -- sinc -----------------------------------------------------------------------------------------

// Of the quotient's derivative cancellation leaves nothing near 0, where four terms of the series
// 1 - x^2/3! + x^4/5! - x^6/7! are exact.
Tensor sinc_impl(const Tensor& input) {
  const Steps steps(input);
  const Tensor x = steps.begin(input) * std::numbers::pi, one = number(1.0);
  const Tensor near = lt(abs(x), number(0.01));
  const Tensor far = where(near, one, x), small = where(near, x, number(0.0));
  const Tensor square = small * small;
  Tensor series = sub(one, square * (1.0 / 42));
  series = sub(one, square * (1.0 / 20) * series);
  series = sub(one, square * (1.0 / 6) * series);
  return steps.end(where(near, series, sin(far) / far));
}

// -- the multivariate gamma function --------------------------------------------------------------

// log Gamma_p(x) = p (p - 1) / 4 log(pi) + sum_i lgamma(x - i / 2), i from 0 to p - 1.
Tensor mvlgamma_impl(const Tensor& input, int64_t p) {
  refuse_complex("mvlgamma", {input, "input"});
  if (p < 1)
    fail_argument(LIBDL_ERROR_VALUE, "mvlgamma", "p", "is " + std::to_string(p), "1 or more");
  const Steps steps(input);
  const Tensor i = arange(nullptr, number(p), nullptr, steps.computed, input.device());
  const Tensor terms = lgamma(unsqueeze(steps.begin(input), -1) - i * 0.5);
  const int64_t last[] = {-1};
  const auto n = static_cast<double>(p);
  return steps.end(sum(terms, last) + n * (n - 1) / 4 * std::log(std::numbers::pi));
}

}  // namespace libdl
