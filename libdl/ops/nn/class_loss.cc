// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/class_loss.h"

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/last_axis.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {

struct Kept {
  bool of_logits, by_row;  // a loss for each row
  int at;
  int64_t ignore_index;
  double smoothing;
  Shape shape;  // the input's
  Dtype dtype;
};

// What a rule reads; undefined where there is none.
struct SavedValues {
  Tensor log_p, target, weight, divisor;
};

kernels::View view_if(const Tensor& x, Access access) {
  return x.defined() ? view_of(x, access) : no_view();
}

// The rows of the losses, each with the one gradient that arrived for all.
struct Arriving {
  Shape strides;
  kernels::View view;
  Arriving(const Tensor& dy, const Tensor& target, bool by_row)
      : strides(by_row ? Shape(dy.strides()) : Shape(target.shape().size(), 0)),
        view{kernel_data(dy, Access::kRead), target.get()->sizes(), strides.data(), target.ndim(),
             static_cast<int32_t>(dy.dtype())} {}
};

}  // namespace

bool is_one_pass(const Tensor& input, const Tensor& target, const Tensor* weight) {
  const Device device = input.device();
  return !(state().mode & kModeForward) && input.numel() > 0 && !target.is_number() &&
         target.device() == device && (!weight || weight->device() == device) &&
         has_kernel(device, KernelId::class_loss) &&
         has_kernel(device, KernelId::class_loss_backward);
}

static Tensor in_one_pass(const Kept& a, const Tensor& arrived, const SavedValues& saved) {
  LIBDL_OBSERVED_PART("nll_loss_backward", in_one_pass(a, arrived, saved), arrived, &saved.log_p,
                      saved.target, &saved.weight, &saved.divisor);
  const Tensor dx = empty(a.shape, a.dtype, saved.target.device());
  const Tensor dy = cast(arrived, a.dtype);
  const LastAxis to(dx, a.at, Access::kOverwrite);
  std::optional<LastAxis> from;
  if (saved.log_p.defined()) from.emplace(saved.log_p, a.at, Access::kRead);
  launch_class_loss_backward(dx.device(),
                             {.dx = to.view,
                              .dy = Arriving(dy, saved.target, a.by_row).view,
                              .log_p = from ? from->view : no_view(),
                              .targets = {reads(saved.target), view_if(saved.weight, Access::kRead),
                                          a.ignore_index, a.smoothing},
                              .divisor = view_if(saved.divisor, Access::kRead)});
  return dx;
}

// The losses' derivatives with respect to the logarithms, which are constants.
static Tensor derivatives(const Kept& a, const SavedValues& saved) {
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor target = cast(saved.target, Dtype::kInt64), zero = number(0.0);
  const int64_t classes = a.shape[static_cast<size_t>(a.at)];
  const Tensor low = number(int64_t{0}), high = number(classes - 1);
  const Tensor valid = clamp(target, &low, &high);
  const auto counted = [&](const Tensor& x) {
    const Tensor own = where(ne(valid, target), zero, x);
    return unsqueeze(where(eq(target, number(a.ignore_index)), zero, own), a.at);
  };
  const Tensor ones = full(target.shape(), number(1.0), a.dtype, target.device());
  Tensor factor = ones;
  if (saved.weight.defined()) {
    const int64_t flat[] = {-1};
    factor = reshape(index_select(saved.weight, 0, reshape(valid, flat)), target.shape());
  }
  const Tensor none = zeros(a.shape, a.dtype, target.device());
  Tensor picked =
      scatter(none, a.at, unsqueeze(valid, a.at), mul(counted(factor), number(a.smoothing - 1)));
  if (!(a.smoothing > 0)) return picked;
  Tensor even = mul(counted(ones), number(-a.smoothing / static_cast<double>(classes)));
  if (saved.weight.defined()) {
    Shape spread(a.shape.size(), 1);
    spread[static_cast<size_t>(a.at)] = classes;
    even = mul(even, reshape(saved.weight, spread));
  }
  return add(picked, even);
}

// The gradient by operators: dy is that of the loss, dlog_p that of the logarithms, which a second
// derivative has; either may be undefined.
static Tensor by_operators(const Kept& a, const Tensor& dy, const Tensor& dlog_p,
                           const SavedValues& saved) {
  Tensor d = dlog_p;
  if (dy.defined()) {
    Tensor each = saved.divisor.defined() ? div(dy, saved.divisor) : dy;
    if (a.by_row) each = unsqueeze(each, a.at);
    const Tensor of_loss = mul(derivatives(a, saved), each);
    d = d.defined() ? add(d, of_loss) : of_loss;
  }
  if (!a.of_logits) return d;
  const int64_t dims[] = {a.at};
  return d - exp(saved.log_p) * sum(d, Dims(dims), true);
}

static void class_loss_vjp(Backward& b) {
  const Kept& a = b.attr<Kept>();
  const SavedValues saved{b.saved(0), b.saved(1), b.saved(2), b.saved(3)};
  const Tensor dlog_p = a.of_logits ? b.dy(1) : Tensor();
  if (b.differentiated() || dlog_p.defined()) {
    b.set_grad(0, by_operators(a, b.dy(), dlog_p, saved));
  } else {
    b.set_grad(0, in_one_pass(a, b.dy(), saved));
  }
}
// A smoothed loss is a sum of two, as it shows in graphs.
static const Rule kClassLoss{"nll_loss", class_loss_vjp}, kSmoothedLoss{"add", class_loss_vjp};

Tensor class_loss(const Tensor& input, const Tensor& target, const ClassLoss& loss) {
  Call call(loss.op, {}, {&input});
  const Device device = input.device();
  const Dtype dtype = input.dtype();
  const bool by_row = loss.how == Reduce::kNone;
  const Tensor lines = loss.of_logits ? along_lines(input) : input;
  const SavedValues saved{
      loss.of_logits ? empty(input.shape(), dtype, device) : Tensor(), target,
      loss.weight ? *loss.weight : Tensor(),
      loss.how == Reduce::kMean
          ? empty({}, dtype == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32, device)
          : Tensor()};
  const Tensor result = by_row ? empty(target.shape(), dtype, device) : empty({}, dtype, device);
  const LastAxis in(lines, loss.at, Access::kRead);
  std::optional<LastAxis> log_p;
  if (saved.log_p.defined()) log_p.emplace(saved.log_p, loss.at, Access::kOverwrite);
  launch_class_loss(device, {.in = in.view,
                             .log_p = log_p ? log_p->view : no_view(),
                             .targets = {reads(saved.target), view_if(saved.weight, Access::kRead),
                                         loss.ignore_index, loss.smoothing},
                             .losses = by_row ? overwrites(result) : no_view(),
                             .loss = by_row ? no_view() : overwrites(result),
                             .divisor = view_if(saved.divisor, Access::kOverwrite),
                             .op = loss.op});
  Tensor outputs[] = {result, saved.log_p};
  call.done(std::span<Tensor>(outputs, loss.of_logits ? 2 : 1),
            loss.smoothing > 0 ? kSmoothedLoss : kClassLoss,
            Kept{loss.of_logits, by_row, loss.at, loss.ignore_index, loss.smoothing,
                 Shape(input.shape()), dtype},
            {saves_output(outputs[1], 1), saves_value(saved.target), saves_value(saved.weight),
             saves_value(saved.divisor)});
  return outputs[0];
}

}  // namespace libdl
