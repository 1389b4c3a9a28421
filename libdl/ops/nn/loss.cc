// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "device/provider.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/nn/class_loss.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"
#include "runtime/float_environment.h"

namespace libdl {

// -- negative log likelihood ----------------------------------------------------------------------

static void check_weight(const char* op, const Tensor& input, const Tensor* weight,
                         int64_t classes) {
  if (!weight) return;
  if (weight->ndim() != 1 || weight->size(0) != classes)
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight", "has shape " + to_string(weight->shape()),
                  "[" + std::to_string(classes) + "], one a class");
  if (weight->dtype() != input.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "weight", std::string("is ") + name_of(weight->dtype()),
                  name_of(input.dtype()));
  if (has_history(*weight) && (state().mode & kModeGrad))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "weight", "requires grad, which it cannot get",
                  "detach() of it");
}

// Where the classes are: dimension 1, or 0 of one sample without a batch.
static int class_dim(const char* op, const Tensor& input) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "is 0-d", "[classes], or [n, classes, ...]");
  return input.ndim() == 1 ? 0 : 1;
}

static void check_target(const char* op, const Tensor& input, const Tensor& target, int at) {
  if (!is_integral(target.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "target", std::string("is ") + name_of(target.dtype()),
                  "integer classes");
  Shape expected(input.shape());
  expected.erase(static_cast<size_t>(at));
  if (!same(target.shape(), expected))
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  to_string(expected));
}

namespace {
// The targets as valid classes, and which of them count.
struct Classes {
  Tensor index;    // int64, ignored ones replaced by 0
  Tensor ignored;  // undefined if none is
};
}  // namespace

// On a device the labels are not waited for: whether any is ignored stays unknown, and an invalid
// class is reported by the device's next synchronisation.
static Classes classes_behind(const char* op, const Tensor& target, int64_t classes,
                              int64_t ignore_index) {
  Classes c{cast(target, Dtype::kInt64), {}};
  const Tensor zero = number(int64_t{0});
  c.ignored = eq(c.index, number(ignore_index));
  c.index = where(c.ignored, zero, c.index);
  const Tensor valid = where(lt(c.index, zero), number(classes), c.index);
  int64_t bad = -1;
  if (valid.numel() > 0) launch_check_index(valid.device(), {reads(valid), classes, &bad, op});
  return c;
}

// Whether any is ignored. One pass over the (few) labels decides both questions.
static bool check_labels(const char* op, const Tensor& index, int64_t classes,
                         int64_t ignore_index) {
  const Tensor labels = plain(index);
  const int64_t* const label = labels.read_plain<int64_t>();
  bool any_ignored = false;
  for (int64_t i = 0; i < labels.numel(); ++i) {
    if (label[i] == ignore_index) {
      any_ignored = true;
    } else if (label[i] < 0 || label[i] >= classes) {
      fail_argument(LIBDL_ERROR_INDEX, op, "target", "holds " + std::to_string(label[i]),
                    "0 to " + std::to_string(classes - 1) + ", or ignore_index");
    }
  }
  return any_ignored;
}

static Classes classes_of(const char* op, const Tensor& target, int64_t classes,
                          int64_t ignore_index) {
  const ModeGuard off(kModeGrad | kModeForward);
  if (!target.device().is_cpu()) return classes_behind(op, target, classes, ignore_index);
  Classes c{cast(target, Dtype::kInt64), {}};
  const bool any_ignored = check_labels(op, c.index, classes, ignore_index);
  if (!any_ignored) return c;
  if (classes == 0) fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has no classes", "at least one");
  c.ignored = eq(c.index, number(ignore_index));
  c.index = where(c.ignored, number(int64_t{0}), c.index);
  return c;
}

// Each element's factor: its class's weight, and 0 where it is ignored. Undefined: all 1.
static Tensor factors(const Classes& c, const Tensor* weight, Dtype dtype) {
  Tensor f;
  if (weight) {
    const int64_t flat[] = {-1};
    f = reshape(index_select(*weight, 0, reshape(c.index, flat)), c.index.shape());
  }
  if (!c.ignored.defined()) return f;
  if (!f.defined()) f = full(c.index.shape(), number(1.0), dtype, c.index.device());
  return where(c.ignored, number(0.0), f);
}

// The sum of weights. In 16 bits it need not be finite, where the mean is.
static Tensor total_of(const Tensor& weights) {
  return sum(cast(weights, summed_as(weights.dtype())));
}

static Tensor picked_loss(const Tensor& input, const Classes& c, const Tensor& f, int at,
                          Reduce how) {
  const Tensor picked =
      neg(squeeze(gather(input, at, unsqueeze(c.index, at)), Dims(std::to_array<int64_t>({at}))));
  if (!f.defined()) return reduced(picked, how);
  // An ignored element contributes nothing, also where its loss is infinite.
  const Tensor counted = c.ignored.defined() ? where(c.ignored, number(0.0), picked) : picked;
  const Tensor losses = mul(counted, f);
  return how == Reduce::kMean ? divided_sum(losses, {}, total_of(f)) : reduced(losses, how);
}

// By the kernels. Labels in the host's memory are checked at once.
static Tensor of_classes(const Tensor& input, const Tensor& target, const ClassLoss& loss) {
  if (target.device().is_cpu()) {
    const ModeGuard off(kModeGrad | kModeForward);
    check_labels(loss.op, cast(target, Dtype::kInt64), input.size(loss.at), loss.ignore_index);
  }
  return class_loss(input, target, loss);
}

Tensor nll_loss_impl(const Tensor& input, const Tensor& target, const Tensor* weight,
                     int64_t ignore_index, std::optional<std::string_view> reduction) {
  const char* const op = "nll_loss";
  const Reduce how = reduction_of(op, reduction);
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  const int at = class_dim(op, input);
  check_target(op, input, target, at);
  check_weight(op, input, weight, input.size(at));
  // Gather and scatter walk rows that lie side by side faster than the CPU's own kernel.
  const Device device = input.device();
  const bool side_by_side =
      device.is_cpu() && input.ndim() > 2 && !is_provided(device, KernelId::class_loss);
  if (!side_by_side && is_one_pass(input, target, weight))
    return of_classes(input, target, {op, false, at, weight, ignore_index, 0, how});
  const Classes c = classes_of(op, target, input.size(at), ignore_index);
  const Named named(op);
  return named(picked_loss(input, c, factors(c, weight, input.dtype()), at, how));
}

// -- cross entropy --------------------------------------------------------------------------------

// -sum_c weight_c target_c log p_c
static Tensor against_probabilities(const Tensor& log_p, const Tensor& target, const Tensor* weight,
                                    int at, Reduce how, double smoothing) {
  const int64_t classes = log_p.size(at);
  Tensor q = target;
  if (smoothing > 0)
    q = add(mul(q, number(1 - smoothing)), number(smoothing / static_cast<double>(classes)));
  Tensor terms = mul(log_p, q);
  if (weight) {
    Shape spread(static_cast<size_t>(log_p.ndim()), 1);
    spread[at] = classes;
    terms = mul(terms, reshape(*weight, spread));
  }
  const int64_t dims[] = {at};
  const Tensor losses = neg(sum(terms, Dims(dims)));
  return reduced(losses, how);
}

// (1 - s) nll + s / C sum_c weight_c (-log p_c)
static Tensor smoothed(const Tensor& log_p, const Classes& c, const Tensor* weight, int at,
                       Reduce how, double smoothing) {
  const int64_t classes = log_p.size(at);
  const Tensor f = factors(c, weight, log_p.dtype());
  Tensor all = log_p;
  if (weight) {
    Shape spread(static_cast<size_t>(log_p.ndim()), 1);
    spread[at] = classes;
    all = mul(log_p, reshape(*weight, spread));
  }
  const int64_t dims[] = {at};
  Tensor even = neg(sum(all, Dims(dims)));
  if (c.ignored.defined()) even = where(c.ignored, number(0.0), even);
  const Tensor nll = picked_loss(log_p, c, f, at, how);
  const double share = smoothing / static_cast<double>(classes);
  Tensor spread_loss;
  if (how != Reduce::kMean)
    spread_loss = reduced(even, how);
  else
    spread_loss = f.defined() ? divided_sum(even, {}, total_of(f)) : mean(even);
  return add(mul(nll, number(1 - smoothing)), mul(spread_loss, number(share)));
}

Tensor cross_entropy_impl(const Tensor& input, const Tensor& target, const Tensor* weight,
                          int64_t ignore_index, std::optional<std::string_view> reduction,
                          double label_smoothing) {
  const char* const op = "cross_entropy";
  const DefaultFloatEnvironment environment;  // for the factors of label_smoothing
  const Reduce how = reduction_of(op, reduction);
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    fail_argument(LIBDL_ERROR_VALUE, op, "label_smoothing", "is " + std::to_string(label_smoothing),
                  "0 to 1");
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  const int at = class_dim(op, input);
  check_weight(op, input, weight, input.size(at));
  if (is_floating(target.dtype())) {
    if (!same(target.shape(), input.shape()))
      fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                    to_string(input.shape()) + ", or integer classes");
    if (target.dtype() != input.dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, "target", std::string("is ") + name_of(target.dtype()),
                    name_of(input.dtype()));
    const Tensor losses = against_probabilities(log_softmax(input, at), target, weight, at,
                                                Reduce::kNone, label_smoothing);
    return reduced(losses, how);
  }
  check_target(op, input, target, at);
  if (is_one_pass(input, target, weight))
    return of_classes(input, target, {op, true, at, weight, ignore_index, label_smoothing, how});
  const Classes c = classes_of(op, target, input.size(at), ignore_index);
  const Tensor log_p = log_softmax(input, at);
  const Named named("nll_loss");
  if (label_smoothing > 0) return smoothed(log_p, c, weight, at, how, label_smoothing);
  return named(picked_loss(log_p, c, factors(c, weight, input.dtype()), at, how));
}

// -- squared error --------------------------------------------------------------------------------

Tensor mse_loss_impl(const Tensor& input, const Tensor& target,
                     std::optional<std::string_view> reduction, const Tensor* weight) {
  const Reduce how = reduction_of("mse_loss", reduction);
  check_pair("mse_loss", {input, "input"}, {target, "target"});
  const Named named("mse_loss");
  const Tensor losses = rename_error("mse_loss", {{"input", "input"}, {"other", "target"}},
                                     [&] { return square(sub(input, target)); });
  if (!weight) return named(reduced(losses, how));
  check_weights("mse_loss", weight, losses.shape());
  const Tensor each = mul(losses, *weight);
  return how == Reduce::kMean ? named(divided_sum(each, {}, total_of(*weight)))
                              : named(reduced(each, how));
}

}  // namespace libdl
