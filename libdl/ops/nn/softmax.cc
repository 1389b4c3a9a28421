// SPDX-License-Identifier: Apache-2.0

#include "entries/exponential.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/last_axis.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {
struct Axis {
  int at;
};
}  // namespace

// softmax:     dx = y (dy - sum(y dy)): the Jacobian diag(y) - y y^T applied from the left
// log_softmax: dx = dy - exp(y) sum(dy)
// at: dy's dimension; y may lack the batch in front of it.
static Tensor gradient(const Tensor& dy, const Tensor& y, int at, bool log) {
  const int64_t dims[] = {at};
  if (log) return dy - exp(y) * sum(dy, Dims(dims), true);
  return y * (dy - sum(y * dy, Dims(dims), true));
}

static Tensor gradient_in_one_pass(const Tensor& dy, const Tensor& y, int at, bool log) {
  LIBDL_OBSERVED_PART("softmax_backward", gradient_in_one_pass(dy, y, at, log), dy, y);
  Tensor dx = empty(y.shape(), y.dtype(), y.device());
  const Tensor given = along_lines(cast(dy, y.dtype()));
  if (dx.numel())
    launch_softmax_backward(y.device(), {LastAxis(dx, at, Access::kOverwrite).view,
                                         LastAxis(given, at, Access::kRead).view,
                                         LastAxis(y, at, Access::kRead).view, log});
  return dx;
}

template <bool log>
static void softmax_vjp(Backward& b) {
  const int at = b.attr<Axis>().at;
  const Tensor y = b.saved(0);
  if (b.batch() && y.ndim() == 0) {  // one element, with a dimension of its own
    const Tensor dx = gradient(unsqueeze(b.dy(), 1), y, 1, log);
    return b.set_grad(0, squeeze(dx, Dims(std::to_array<int64_t>({1}))));
  }
  b.set_grad(0, b.differentiated() || b.batch() ? gradient(b.dy(), y, at + b.lead(), log)
                                                : gradient_in_one_pass(b.dy(), y, at, log));
}
static const Rule kSoftmax{.name = "softmax", .vjp = softmax_vjp<false>, .takes_batch = true};
static const Rule kLogSoftmax{.name = "log_softmax", .vjp = softmax_vjp<true>, .takes_batch = true};

static Tensor normalised(const char* op, const Rule& rule, bool log, const Tensor& input,
                         int32_t dim, Dtype dtype, Into into) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  if (!is_floating(type))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(type),
                  "a floating dtype or dtype=");
  const Tensor x = cast(input, type);
  Call call(op, into, {&x});
  const int at = call.axis("dim", dim, x.ndim());
  Tensor y = empty(x.shape(), type, x.device());
  if (y.numel()) {
    const Tensor read = along_lines(x);
    launch_softmax(x.device(), {LastAxis(y, at, Access::kOverwrite).view,
                                LastAxis(read, at, Access::kRead).view, log});
  }
  y = call.done(y, rule, Axis{at}, {saves_output(y, 0)});
  if (call.forward())
    call.jvp(y, [&] {  // the Jacobian of softmax is symmetric; log_softmax's is I - 1 p^T
      const Tensor& t = call.tangent(0);
      const int64_t dims[] = {at};
      return log ? t - sum(exp(y) * t, Dims(dims), true) : gradient(t, y, at, false);
    });
  return y;
}

Tensor softmax_impl(const Tensor& input, int32_t dim, Dtype dtype, Into into) {
  return normalised("softmax", kSoftmax, false, input, dim, dtype, into);
}
Tensor log_softmax_impl(const Tensor& input, int32_t dim, Dtype dtype, Into into) {
  return normalised("log_softmax", kLogSoftmax, true, input, dim, dtype, into);
}

Tensor softmin_impl(const Tensor& input, int32_t dim, Dtype dtype) {
  return softmax(-input, dim, dtype);
}

}  // namespace libdl
