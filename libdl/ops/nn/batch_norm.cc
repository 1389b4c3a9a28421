// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/deferred_norm.h"
#include "ops/nn/rescaled.h"
#include "ops/nn/running.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/innermost.h"
#include "ops/view/view.h"

namespace libdl {

static constexpr const char* kBatchNormName = "batch_norm";

namespace {
// Whether mean and rstd are those of the input, and so depend on it.
struct Norm {
  bool trained;
  double eps;
  uint64_t serial = 0;  // if the result is computed later; ops/nn/deferred_norm.h
};
struct Statistics {  // [c] each, in the dtype of computation
  Tensor mean, rstd;
  Tensor variance;  // with count - 1; undefined unless trained
};
using Gradients = std::tuple<Tensor, Tensor, Tensor>;  // dx, dweight, dbias, where wanted
struct Forward {
  Tensor input, weight, mean, rstd;
  Tensor bias;  // of a deferred result; undefined if there was none
};
}  // namespace

static Shape all_but_channels(const Tensor& x) {
  Shape dims;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}
static Tensor along(const Tensor& vector, const Tensor& x) {
  return along_channels(cast(vector, x.dtype()), x.shape());
}

// At most three dimensions behind the channels, as kernels have them.
static Tensor as_volume(const Tensor& x) { return x.ndim() <= 5 ? x : flatten(x, 2, x.ndim() - 1); }

// Whether x lies in planes, one of adjacent pixels for each sample and channel, which the CPU's
// kernels read as they are. Smaller planes are not worth it.
static bool in_planes(const Tensor& x) {
  constexpr int64_t kLeast = 16;
  if (!x.device().is_cpu() || x.storage().packed_only()) return false;
  int64_t pixels = 1;
  for (int d = x.ndim() - 1; d >= 2; --d) {
    if (x.size(d) > 1 && x.stride(d) != pixels) return false;
    pixels *= x.size(d);
  }
  return pixels >= kLeast && (x.size(1) == 1 || x.stride(1) != 1);
}
static Innermost::Order order_of(bool planes) {
  return planes ? Innermost::Order::kAny : Innermost::Order::kInnermost;
}

static Tensor in_shape_of(const Tensor& x, const Tensor& y) {
  return x.ndim() <= 5 ? y : reshape(y, x.shape());
}

// x in the dtype of computation, rstd and z = (x - mean) rstd, by operators.
namespace {
struct NormalisedImages {
  Tensor x, rstd, z;
  Shape pixels;  // the dimensions that means are taken over

  NormalisedImages(const Norm& a, const Tensor& input, const Tensor& mean_, const Tensor& rstd_)
      : x(cast(input, normalised_as(input.dtype()))), pixels(all_but_channels(input)) {
    if (!a.trained) {
      rstd = along(rstd_, x);
      z = sub(x, along(mean_, x)) * rstd;
      return;
    }
    const Rooted r = rooted(sub(x, average(x)), Dims(pixels), a.eps);
    rstd = r.scale.defined() ? r.rstd * r.scale : r.rstd;
    z = r.x * r.rstd;
  }
  Tensor average(const Tensor& t) const { return mean(t, Dims(pixels), true); }
};
}  // namespace

// -- the gradient ---------------------------------------------------------------------------------

// With g = dy weight:
//   dx = rstd (g - mean(g) - z mean(g z)),  dweight = sum(dy z),  dbias = sum(dy)
// with means over all pixels; if the statistics do not depend on x, dx = rstd g.
static Gradients by_operators(const Norm& a, const Tensor& arrived, const Forward& saved,
                              const std::array<bool, 3>& needed) {
  const auto& [input, weight, mean, rstd, bias] = saved;
  const NormalisedImages n(a, input, mean, rstd);
  const Tensor dy = cast(arrived, n.x.dtype());
  const Tensor g = weight.defined() ? dy * along(weight, n.x) : dy;
  Gradients all;
  if (needed[0]) {
    const Tensor dx =
        a.trained ? n.rstd * (g - n.average(g) - n.z * n.average(g * n.z)) : n.rstd * g;
    std::get<0>(all) = cast(dx, input.dtype());
  }
  if (needed[1]) std::get<1>(all) = sum(dy * n.z, Dims(n.pixels));
  if (needed[2]) std::get<2>(all) = sum(dy, Dims(n.pixels));
  return all;
}

static kernels::View vector(const Tensor& x, Access access) {
  return x.defined() ? view_of(x, access) : no_view();
}

// dy as the kernel reads it. The gradient of a relu behind this normalisation comes as that behind
// the relu, and behind_relu is set.
static Innermost arriving(const Norm& a, const Tensor& dy, bool& behind_relu) {
  PackedReader form = gradient_behind_relu(dy, a.serial);
  behind_relu = form.data() != nullptr;
  return behind_relu ? Innermost(dy, std::move(form)) : Innermost(as_volume(dy));
}

// A new image, to be written, of the shape of x.
static void emplace_like(std::optional<Innermost>& y, const Innermost& x, bool planes) {
  const Tensor& like = x.tensor();
  if (planes) {
    y.emplace(empty(like.shape(), like.dtype(), like.device()), Innermost::Order::kWritten);
  } else {
    y.emplace(like.shape(), like.dtype(), like.device());
  }
}

static Gradients in_one_pass(const Norm& a, const Tensor& arrived, const Forward& saved,
                             const std::array<bool, 3>& needed) {
  const auto& [input, weight, mean, rstd, bias] = saved;
  LIBDL_OBSERVED_PART("batch_norm_backward", in_one_pass(a, arrived, saved, needed), arrived, input,
                      &weight, mean, rstd);
  bool behind_relu = false;
  const bool planes = in_planes(input);
  const Innermost dy = planes ? Innermost(as_volume(plain(arrived)), Innermost::Order::kAny)
                              : arriving(a, arrived, behind_relu);
  const Innermost x(as_volume(input), order_of(planes));
  const Device device = input.device();
  std::optional<Innermost> dx;
  if (needed[0]) emplace_like(dx, x, planes);
  const int64_t channels[] = {input.size(1)};
  const auto allocate = [&](bool there) {
    return there ? empty(channels, saved.mean.dtype(), device) : Tensor();
  };
  const Tensor dweight = allocate(needed[1]), dbias = allocate(needed[2]);
  const Tensor factor = weight.defined() ? plain(weight, mean.dtype()) : Tensor();
  using enum Access;
  const kernels::BatchNormBackwardArgs args{dx ? dx->view() : no_view(),
                                            vector(dweight, kOverwrite),
                                            vector(dbias, kOverwrite),
                                            dy.view(),
                                            x.view(),
                                            vector(mean, kRead),
                                            vector(rstd, kRead),
                                            vector(factor, kRead),
                                            a.trained};
  if (behind_relu) {
    launch_batch_norm_relu_backward(device, {args, vector(bias, kRead)});
  } else {
    launch_batch_norm_backward(device, args);
  }
  return {dx ? in_shape_of(input, dx->tensor()) : Tensor(), dweight, dbias};
}

static void batch_norm_vjp(Backward& b) {
  const Norm& a = b.attr<Norm>();
  const Forward saved{b.saved(0), b.saved(1), b.saved(2), b.saved(3), b.saved(4)};
  std::array<bool, 3> needed{};
  for (int i = 0; i < b.inputs(); ++i) needed[static_cast<size_t>(i)] = b.needs(i);
  const auto compute = b.differentiated() || saved.input.numel() == 0 ? by_operators : in_one_pass;
  auto [dx, dweight, dbias] = compute(a, b.dy(), saved, needed);
  if (needed[0]) b.set_grad(0, std::move(dx));
  if (needed[1]) b.set_grad(1, std::move(dweight));
  if (needed[2]) b.set_grad(2, std::move(dbias));
}
static const Rule kBatchNorm{kBatchNormName, batch_norm_vjp};

// -- forward --------------------------------------------------------------------------------------

// The tangent by the product rule over y = z weight + bias.
static Tensor batch_norm_jvp(const Call& call, const Norm& a, const Tensor& input,
                             const Statistics& s, const Tensor* weight) {
  const NormalisedImages n(a, input, s.mean, s.rstd);
  Tensor t = zeros(n.x.shape(), n.x.dtype(), n.x.device());
  if (call.tangent(0).defined()) {
    const Tensor tx = cast(call.tangent(0), n.x.dtype());
    Tensor tz = n.rstd * tx;
    if (a.trained) {
      const Tensor u = tx - n.average(tx);
      tz = n.rstd * (u - n.z * n.average(u * n.z));
    }
    t = t + (weight ? tz * along(*weight, tz) : tz);
  }
  if (weight && call.tangent(1).defined()) t = t + n.z * along(call.tangent(1), n.z);
  if (call.tangent(2).defined()) t = t + along(call.tangent(2), t);
  return cast(t, input.dtype());
}

static Statistics of_input(const Innermost& x, int64_t channels, Dtype dtype, double eps) {
  const Device device = x.tensor().device();
  const int64_t sizes[] = {channels};
  Statistics s{empty(sizes, dtype, device), empty(sizes, dtype, device),
               empty(sizes, dtype, device)};
  using enum Access;
  launch_batch_statistics(device, {x.view(), vector(s.mean, kOverwrite), vector(s.rstd, kOverwrite),
                                   vector(s.variance, kOverwrite), eps});
  return s;
}

static kernels::BatchNormArgs forward_args(const Innermost& x, const kernels::View& out,
                                           const Statistics& s, const Tensor& factor,
                                           const Tensor& shift) {
  using enum Access;
  return {out,
          x.view(),
          vector(s.mean, kRead),
          vector(s.rstd, kRead),
          vector(factor, kRead),
          vector(shift, kRead)};
}

// Sets a's number and kept_bias, a copy, where the result is deferred.
static Tensor normalised(const Tensor& input, const Innermost& x, const Statistics& s,
                         const Tensor* weight, const Tensor* bias, Norm& a, Tensor& kept_bias) {
  const Dtype dtype = s.mean.dtype();
  const Tensor factor = weight ? plain(*weight, dtype) : Tensor();
  const Tensor shift = bias ? plain(*bias, dtype) : Tensor();
  const bool later = x.form().data() && input.ndim() <= 5 && input.dtype() == dtype &&
                     norm_may_be_deferred(dtype) && !(state().mode & kModeForward);
  if (later) {
    // Copies, which a later step in training does not change.
    kept_bias = bias ? row_major_clone(shift) : Tensor();
    const Tensor kept_weight = weight ? row_major_clone(factor) : Tensor();
    return normalised_later(x, {s.mean, s.rstd, kept_weight, kept_bias}, a.serial);
  }
  std::optional<Innermost> y;
  emplace_like(y, x, in_planes(input));
  launch_batch_norm(x.tensor().device(), forward_args(x, y->view(), s, factor, shift));
  return in_shape_of(input, y->tensor());
}

// The statistics that inference uses: the running mean and variance.
static Statistics kept(const Tensor& mean, const Tensor& variance, Dtype dtype, double eps) {
  // A copy: saved for backward, which a later step in training must not change.
  return {plain(row_major_clone(mean), dtype), rsqrt(add(cast(variance, dtype), number(eps))),
          Tensor()};
}

// -- what is asked for ----------------------------------------------------------------------------

namespace {
struct Inputs {
  const Tensor& input;
  Running running;
  const Tensor *weight, *bias;
};
}  // namespace

static void check(const Inputs& g, bool training, double eps) {
  const Tensor& input = g.input;
  int64_t values = input.ndim() ? 1 : 0;  // of each channel
  for (int d = 0; d < input.ndim(); ++d) values *= d == 1 ? 1 : input.size(d);
  if (training && values == 1)
    fail_argument(LIBDL_ERROR_SHAPE, kBatchNormName, "input",
                  "has shape " + to_string(input.shape()),
                  "more than one value per channel when training");
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, kBatchNormName, "input",
                  std::string("is ") + name_of(input.dtype()), "a floating dtype");
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, kBatchNormName, "input",
                  "has shape " + to_string(input.shape()), "[n, c, ...]");
  check_input_of(kBatchNormName, input, {g.running.mean, g.running.var, g.weight, g.bias});
  check_running(kBatchNormName, input, g.running, training);
  check_channels(kBatchNormName, input, "weight", g.weight);
  check_channels(kBatchNormName, input, "bias", g.bias);
  if (!(eps >= 0))
    fail_argument(LIBDL_ERROR_VALUE, kBatchNormName, "eps", "is " + std::to_string(eps),
                  "0 or more");
}

static bool is_differentiated(const Tensor& x) {
  return (has_history(x) && (state().mode & kModeGrad)) || has_tangent(x);
}

// With given statistics, by operators, so that derivatives reach these, too.
static Tensor by_statistics(const Inputs& g, double eps) {
  const Named named(kBatchNormName);
  const Tensor x = cast(g.input, normalised_as(g.input.dtype()));
  const Tensor rstd = rsqrt(add(cast(*g.running.var, x.dtype()), number(eps)));
  Tensor y = (x - along(*g.running.mean, x)) * along(rstd, x);
  if (g.weight) y = y * along(*g.weight, x);
  if (g.bias) y = y + along(*g.bias, x);
  return named(cast(y, g.input.dtype()));
}

static Statistics statistics_of(const Innermost& x, const Inputs& g, const Norm& a) {
  const Dtype dtype = normalised_as(g.input.dtype());
  if (!a.trained) return kept(*g.running.mean, *g.running.var, dtype, a.eps);
  return of_input(x, g.input.size(1), dtype, a.eps);
}

Tensor batch_norm_impl(const Tensor& input, const Tensor* running_mean, const Tensor* running_var,
                       const Tensor* weight, const Tensor* bias, bool training, double momentum,
                       double eps) {
  // A vector without elements has no channels to look at, as in PyTorch.
  if (input.ndim() == 1 && input.numel() == 0 && is_floating(input.dtype()))
    return Named(kBatchNormName)(mul(input, number(1.0)));
  const Inputs inputs{input, {running_mean, running_var}, weight, bias};
  check(inputs, training, eps);
  if (!training && (is_differentiated(*running_mean) || is_differentiated(*running_var)))
    return by_statistics(inputs, eps);
  Call call(kBatchNormName, {}, {&input, weight, bias});
  Norm a{training, eps};
  RunningUpdate running(kBatchNormName, inputs.running);
  Statistics s;
  Tensor y, kept_bias;
  if (input.numel()) {
    const Innermost x(as_volume(input), order_of(in_planes(input)));
    s = statistics_of(x, inputs, a);
    y = normalised(input, x, s, weight, bias, a, kept_bias);
    if (training) running.prepare(s.mean, s.variance, momentum);
  } else {  // nothing is normalised, and no statistics change
    const int64_t channels[] = {input.size(1)};
    s.mean = s.rstd = zeros(channels, normalised_as(input.dtype()), input.device());
    y = empty(input.shape(), input.dtype(), input.device());
  }
  const Tensor absent;
  y = call.done(std::move(y), kBatchNorm, a,
                {saves_input(input, 0), saves_input(weight ? *weight : absent, 1),
                 saves_value(s.mean), saves_value(s.rstd), saves_value(kept_bias)});
  if (call.forward()) call.jvp(y, [&] { return batch_norm_jvp(call, a, input, s, weight); });
  running.write();
  return y;
}

}  // namespace libdl
