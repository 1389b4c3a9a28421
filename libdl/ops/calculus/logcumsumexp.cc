// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/calculus.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/exponential.h"
#include "entries/join.h"
#include "entries/special.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

// -- derivatives ----------------------------------------------------------------------------------

// Of y_i by x_j, j <= i, it is a_i a_(i-1) .. a_(j+1) w_j with
//   a_i = exp(y_(i-1) - y_i),  w_j = exp(x_j - y_j),
// which lie between 0 and 1: sums with them are linear recurrences that cannot overflow.

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// exp(u - v), 1 for equal infinities, whose difference is NaN.
static Tensor ratio(const Tensor& u, const Tensor& v) {
  const Tensor alike = logical_and(isinf(u), eq(u, v)), zero = number(0.0);
  return exp(sub(where(alike, zero, u), where(alike, zero, v)));
}

// The a_i; a_0 is 0.
static Tensor steps(const Tensor& y, int at) {
  const int64_t n = y.size(at);
  const Tensor before = narrow(y, at, 0, n - 1), after = narrow(y, at, 1, n - 1);
  // Whatever follows -inf starts anew.
  const Tensor a = where(eq(before, number(-kInfinity)), number(0.0), ratio(before, after));
  return cat(std::array{zeros_like(narrow(y, at, 0, 1), Dtype::kNone, {}), a}, at);
}

// t_i = a_i t_(i-1) + b_i, over distances that double.
static Tensor recurrence(Tensor a, Tensor b, int at) {
  const int64_t n = b.size(at);
  for (int64_t step = 1; step < n; step *= 2) {
    const auto joined = [&](const Tensor& head, const Tensor& tail) {
      return cat(std::array{narrow(head, at, 0, step), tail}, at);
    };
    const Tensor factor = narrow(a, at, step, n - step);
    b = joined(b, add(mul(factor, narrow(b, at, 0, n - step)), narrow(b, at, step, n - step)));
    a = joined(a, mul(factor, narrow(a, at, 0, n - step)));
  }
  return b;
}

// dx_j = w_j s_j with s_j = dy_j + a_(j+1) s_(j+1), from the other end.
static void logcumsumexp_vjp(Backward& b) {
  const int32_t at = b.attr<int32_t>();
  const Tensor x = b.saved(0), y = b.saved(1);
  if (x.ndim() == 0 || x.numel() == 0) return b.set_grad(0, b.dy());
  const std::array<int64_t, 1> along{at}, once{1};
  const Tensor factors = roll(flip(steps(y, at), along), once, Dims(along));
  const Tensor s = flip(recurrence(factors, flip(b.dy(), along), at), along);
  b.set_grad(0, mul(ratio(x, y), s));
}
static const Rule kLogcumsumexp{"logcumsumexp", logcumsumexp_vjp};

// -- values ---------------------------------------------------------------------------------------

static Tensor running(const Tensor& x, int at, Into into) {
  Call call("logcumsumexp", into, {&x});
  Tensor y = empty(x.shape(), x.dtype(), x.device());
  if (x.ndim() == 0) {
    copy_bytes(y, x);
  } else if (y.numel() > 0) {
    const Tensor to = moved(y, at, y.ndim() - 1), from = moved(x, at, x.ndim() - 1);
    launch_scan(x.device(), {static_cast<int32_t>(kernels::Scan::kLogsumexp), overwrites(to),
                             no_view(), reads(from)});
  }
  return call.done(y, kLogcumsumexp, static_cast<int32_t>(at),
                   {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
                     const Tensor& t = call.tangent(0);
                     if (z.ndim() == 0 || z.numel() == 0) return t;
                     return recurrence(steps(z, at), mul(ratio(x, z), t), at);
                   });
}

// Of complex numbers, one by one: the order of the sums decides on multiples of 2 pi.
static Tensor one_by_one(const Tensor& x, int at) {
  if (x.ndim() == 0 || x.numel() == 0) return clone(x);
  std::vector<Tensor> sums{narrow(x, at, 0, 1)};
  for (int64_t i = 1; i < x.size(at); ++i)
    sums.push_back(logaddexp(narrow(x, at, i, 1), sums.back()));
  return cat(sums, at);
}

Tensor logcumsumexp_impl(const Tensor& input, int32_t dim, Into into) {
  if (!is_inexact(input.dtype()))
    fail_argument(LIBDL_ERROR_UNSUPPORTED, "logcumsumexp", "input",
                  std::string("is ") + name_of(input.dtype()), "a floating or complex dtype");
  const int at = checked_axis("logcumsumexp", "dim", dim, input.ndim());
  const Dtype wide = summed_as(input.dtype());  // for the derivatives: y is rounded
  if (wide == input.dtype() && !input.is_complex()) return running(input, at, into);
  const Named named("logcumsumexp");
  const Tensor y = input.is_complex() ? one_by_one(input, at)
                                      : cast(running(cast(input, wide), at, {}), input.dtype());
  return write_result("logcumsumexp", named(y), into, {&input});
}

}  // namespace libdl
