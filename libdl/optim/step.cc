// SPDX-License-Identifier: Apache-2.0

#include "optim/step.h"

#include <cmath>
#include <vector>

#include "ops/core/call.h"
#include "ops/core/holds.h"
#include "ops/core/launch.h"
#include "ops/creation/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/comparison.h"
#include "ops/reduction/reduction.h"
#include "runtime/float_environment.h"
#include "runtime/thread_pool.h"
#include "tensor/forms.h"

namespace libdl {

// -- checks ---------------------------------------------------------------------------------------

static void check_factor(const char* op, const char* name, double value, bool below_one = false,
                         int argument = 1) {
  if (!(value >= 0) || (below_one && value >= 1) || std::isinf(value))
    fail_argument(LIBDL_ERROR_VALUE, op, argument, name, "is " + std::to_string(value),
                  below_one ? "0 or more and below 1" : "0 or more and finite");
}

static std::string at(size_t i) { return " at position " + std::to_string(i); }

static void check_written(const char* op, int argument, const char* name, TensorSpan list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Tensor& x = list[i];
    if (x.is_number())
      fail_argument(LIBDL_ERROR_VALUE, op, argument, name, "holds a host number" + at(i),
                    "tensors");
    if (x.dtype() != Dtype::kFloat32 && x.dtype() != Dtype::kFloat64)
      fail_argument(LIBDL_ERROR_DTYPE, op, argument, name,
                    std::string("holds ") + name_of(x.dtype()) + at(i), "float32 or float64");
    if (!x.is_contiguous())
      fail_argument(LIBDL_ERROR_SHAPE, op, argument, name,
                    "holds strides " + to_string(x.strides()) + at(i), "contiguous tensors");
    if (x.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, op, argument, name, "holds read-only memory" + at(i),
                    "memory to write to");
  }
}

static void check_like(const char* op, int argument, const char* name, TensorSpan list,
                       TensorSpan params) {
  if (list.size() != params.size())
    fail_argument(LIBDL_ERROR_SHAPE, op, argument, name,
                  "has " + std::to_string(list.size()) + " tensors",
                  std::to_string(params.size()) + ", one a parameter");
  for (size_t i = 0; i < list.size(); ++i) {
    if (!same(list[i].shape(), params[i].shape()))
      fail_argument(LIBDL_ERROR_SHAPE, op, argument, name,
                    "holds shape " + to_string(list[i].shape()) + at(i),
                    to_string(params[i].shape()));
    if (list[i].dtype() != params[i].dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, argument, name,
                    std::string("holds ") + name_of(list[i].dtype()) + at(i),
                    name_of(params[i].dtype()));
  }
}

static void check_state(const char* op, int argument, const char* name, TensorSpan list,
                        TensorSpan params) {
  check_written(op, argument, name, list);
  check_like(op, argument, name, list, params);
}

namespace {

// Bytes of one list's tensor.
struct Range {
  const char *begin, *end;
  bool written;
};

// Storages that were met, in a table of twice their number or more.
class Met {
 public:
  explicit Met(size_t most) {
    while (places_ < 2 * most + 1) places_ *= 2;
    table_.resize(places_);
  }
  bool again(const Storage& storage) {
    size_t at = reinterpret_cast<uintptr_t>(&storage) / kCell * 0x9E3779B97F4A7C15 >> 32;
    for (;; ++at) {
      const Storage*& place = table_[at & (places_ - 1)];
      if (place == &storage) return true;
      if (place) continue;
      place = &storage;
      return false;
    }
  }

 private:
  size_t places_ = 16;
  std::vector<const Storage*> table_;
};

}  // namespace

static bool is_in_memory(const Tensor& x) { return x.numel() && !x.is_number(); }

// Each storage is met once and has memory of libdl's own. Of others the sort tells whether they
// touch.
static bool storages_are_apart(std::initializer_list<TensorSpan> lists) {
  size_t most = 0;
  for (const TensorSpan list : lists) most += list.size();
  Met met(most);
  for (const TensorSpan list : lists)
    for (const Tensor& x : list)
      if (is_in_memory(x) && (x.storage().release || met.again(x.storage()))) return false;
  return true;
}

// No byte is written twice, and none is read through another list: sorted by address, neighbours
// must not touch. (name: the list to blame.)
static void check_disjoint(const char* op, TensorSpan a, TensorSpan b, TensorSpan c, TensorSpan d,
                           TensorSpan read) {
  if (storages_are_apart({a, b, c, d, read})) return;
  std::vector<Range> ranges;
  const auto add_all = [&](TensorSpan list, bool writes) {
    for (const Tensor& x : list)
      if (is_in_memory(x)) {
        const char* const first = x.read_plain<char>();
        ranges.push_back({first, first + x.numel() * size_of(x.dtype()), writes});
      }
  };
  for (const TensorSpan list : {a, b, c, d}) add_all(list, true);
  for (const Tensor& x : read)
    if (x.is_contiguous()) add_all({&x, 1}, false);
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const char* written_end = nullptr;
  const char* end = nullptr;
  for (const Range& r : ranges) {
    if (r.begin < written_end || (r.written && r.begin < end))
      fail_argument(LIBDL_ERROR_OVERLAP, op, 2, "params", "or state shares memory within the lists",
                    "tensors with memory of their own");
    end = std::max(end, r.end);
    if (r.written) written_end = std::max(written_end, r.end);
  }
}

// -- launches -------------------------------------------------------------------------------------

namespace {
// The lists as the kernel wants them: arrays of addresses. What belongs to one parameter lies in
// one order: plain, or all of it with the channels innermost and nowhere else.
struct Lists {
  std::vector<int32_t> dtype;
  std::vector<int64_t> numel;
  std::vector<void*> param, state1, state2, state3;
  std::vector<const void*> grad;
  std::vector<Tensor> plain_grads;  // row-major copies where a gradient has other strides
  std::vector<PackedReader> forms;

  Lists(TensorSpan params, TensorSpan grads, TensorSpan first = {}, TensorSpan second = {},
        TensorSpan third = {}) {
    const std::pair<TensorSpan, std::vector<void*>&> written[] = {
        {params, param}, {first, state1}, {second, state2}, {third, state3}};
    for (size_t i = 0; i < params.size(); ++i) {
      dtype.push_back(static_cast<int32_t>(params[i].dtype()));
      numel.push_back(params[i].numel());
      const size_t taken = forms.size();
      if (memory_is_special() && in_forms(grads[i], {params, first, second, third}, i)) {
        size_t at = taken;
        for (const auto& [list, addresses] : written)
          if (!list.empty()) addresses.push_back(const_cast<void*>(forms[at++].data()));
        grad.push_back(forms[at].data());
        continue;
      }
      for (const auto& [list, addresses] : written)
        if (!list.empty()) addresses.push_back(kernel_data(list[i], Access::kUpdate));
      plain_grads.push_back(plain(grads[i]));
      grad.push_back(kernel_data(plain_grads.back(), Access::kRead));
    }
  }
  // Appends the forms of what is written at position i and of the gradient, if all have them.
  bool in_forms(const Tensor& g, std::initializer_list<TensorSpan> lists, size_t i) {
    constexpr Layout layout = Layout::kChannelsInnermost;
    const size_t before = forms.size();
    bool all = true;
    for (const TensorSpan list : lists) {
      if (list.empty() || !all) continue;
      forms.push_back(only_form_of(list[i], layout));
      all = forms.back().data();
    }
    if (all) {
      forms.push_back(form_of(g, layout));
      all = forms.back().data();
    }
    if (!all) forms.resize(before);
    return all;
  }
  kernels::OptimizerArgs args() {
    kernels::OptimizerArgs a{};
    a.count = static_cast<int32_t>(param.size());
    a.dtype = dtype.data();
    a.numel = numel.data();
    a.param = param.data();
    a.grad = grad.data();
    a.state1 = state1.empty() ? nullptr : state1.data();
    a.state2 = state2.empty() ? nullptr : state2.data();
    a.state3 = state3.empty() ? nullptr : state3.data();
    return a;
  }
};

void wrote(const char* op, TensorSpan list) {
  for (const Tensor& x : list) written(x, op);
}
}  // namespace

void sgd_step(const SgdOptions& o, TensorSpan params, TensorSpan grads, TensorSpan buffers) {
  LIBDL_OBSERVED_STEP("sgd", sgd_step(o, params, grads, buffers), params, grads, buffers);
  const char* const op = "sgd";
  check_factor(op, "lr", o.lr);
  check_factor(op, "momentum", o.momentum);
  check_factor(op, "weight_decay", o.weight_decay);
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
    fail_argument(LIBDL_ERROR_VALUE, op, 1, "nesterov", "is set",
                  "a momentum above 0 and no dampening with it");
  check_written(op, 2, "params", params);
  check_like(op, 3, "grads", grads, params);
  if (o.momentum != 0) {
    check_state(op, 4, "momentum_buffers", buffers, params);
  } else {
    buffers = {};
  }
  check_disjoint(op, params, buffers, {}, {}, grads);
  if (params.empty()) return;
  const ModeGuard off(kModeGrad | kModeForward);
  Lists lists(params, grads, buffers);
  kernels::OptimizerArgs a = lists.args();
  a.lr = o.lr;
  a.momentum = o.momentum;
  a.dampening = o.dampening;
  a.weight_decay = o.weight_decay;
  a.nesterov = o.nesterov;
  a.maximize = o.maximize;
  a.first = o.first;
  const Uninterruptible whole;  // a step is taken or not
  launch_sgd(params[0].device(), a);
  wrote(op, params);
  wrote(op, buffers);
}

void adam_step(const AdamOptions& o, TensorSpan params, TensorSpan grads, TensorSpan exp_avgs,
               TensorSpan exp_avg_sqs, TensorSpan max_exp_avg_sqs) {
  LIBDL_OBSERVED_STEP("adam", adam_step(o, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs),
                      params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
  const char* const op = "adam";
  check_factor(op, "lr", o.lr);
  check_factor(op, "beta1", o.beta1, true);
  check_factor(op, "beta2", o.beta2, true);
  check_factor(op, "eps", o.eps);
  check_factor(op, "weight_decay", o.weight_decay);
  if (o.step < 1)
    fail_argument(LIBDL_ERROR_VALUE, op, 1, "step", "is " + std::to_string(o.step), "1 or more");
  check_written(op, 2, "params", params);
  check_like(op, 3, "grads", grads, params);
  check_state(op, 4, "exp_avgs", exp_avgs, params);
  check_state(op, 5, "exp_avg_sqs", exp_avg_sqs, params);
  if (o.amsgrad) {
    check_state(op, 6, "max_exp_avg_sqs", max_exp_avg_sqs, params);
  } else {
    max_exp_avg_sqs = {};
  }
  check_disjoint(op, params, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, grads);
  if (params.empty()) return;
  const ModeGuard off(kModeGrad | kModeForward);
  Lists lists(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
  kernels::OptimizerArgs a = lists.args();
  a.lr = o.lr;
  a.beta1 = o.beta1;
  a.beta2 = o.beta2;
  a.eps = o.eps;
  a.weight_decay = o.weight_decay;
  const DefaultFloatEnvironment environment;
  a.bias1 = 1 - std::pow(o.beta1, static_cast<double>(o.step));
  a.bias2 = 1 - std::pow(o.beta2, static_cast<double>(o.step));
  a.amsgrad = o.amsgrad;
  a.maximize = o.maximize;
  a.decoupled = o.decoupled;
  const Uninterruptible whole;
  launch_adam(params[0].device(), a);
  for (const TensorSpan list : {params, exp_avgs, exp_avg_sqs, max_exp_avg_sqs}) wrote(op, list);
}

// -- clipping -------------------------------------------------------------------------------------

static void check_gradients(const char* op, TensorSpan grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor& g = grads[i];
    if (g.is_number() || !is_inexact(g.dtype()))
      fail_argument(LIBDL_ERROR_DTYPE, op, 1, "grads",
                    std::string("holds ") + name_of(g.dtype()) + at(i), "floating tensors");
    if (g.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, op, 1, "grads", "holds read-only memory" + at(i),
                    "memory to write to");
    if (overlaps_itself(g))
      fail_argument(LIBDL_ERROR_OVERLAP, op, 1, "grads", "holds an overlapping tensor" + at(i),
                    "clones");
  }
}

Tensor clip_grad_norm(TensorSpan grads, double max_norm, double norm_type,
                      bool error_if_nonfinite) {
  LIBDL_OBSERVED_STEP("clip_grad_norm",
                      clip_grad_norm(grads, max_norm, norm_type, error_if_nonfinite), grads,
                      max_norm, norm_type, error_if_nonfinite);
  const char* const op = "clip_grad_norm";
  check_factor(op, "max_norm", max_norm, false, 2);
  if (!(norm_type > 0))
    fail_argument(LIBDL_ERROR_VALUE, op, 3, "norm_type", "is " + std::to_string(norm_type),
                  "a positive number");
  check_gradients(op, grads);
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor p = number(norm_type);
  const int64_t count[] = {static_cast<int64_t>(grads.size())};
  const Tensor norms = zeros(count, Dtype::kFloat64);
  for (size_t i = 0; i < grads.size(); ++i)
    norms.update_plain<double>()[i] = item_f64(norm(grads[i], &p, {}, false, Dtype::kNone));
  const Tensor total = grads.empty() ? full({}, number(0.0), Dtype::kFloat64)
                                     : norm(norms, &p, {}, false, Dtype::kNone);
  const double length = item_f64(total);
  if (error_if_nonfinite && !std::isfinite(length))
    fail_argument(LIBDL_ERROR_VALUE, op, 1, "grads", "have norm " + std::to_string(length),
                  "a finite norm");
  // All that may fail comes before the first gradient is scaled.
  Tensor before = cast(total, grads.empty() ? Dtype::kFloat32 : real_of(grads[0].dtype()));
  const DefaultFloatEnvironment environment;
  const double factor = max_norm / (length + 1e-6);
  const Tensor scale = number(factor);
  const Uninterruptible whole;  // all are scaled or none
  if (!(factor >= 1))
    for (const Tensor& g : grads) mul(g, scale, Into(g));
  return before;
}

void clip_grad_value(TensorSpan grads, double clip_value) {
  LIBDL_OBSERVED_STEP("clip_grad_value", clip_grad_value(grads, clip_value), grads, clip_value);
  const char* const op = "clip_grad_value";
  check_factor(op, "clip_value", clip_value, false, 2);
  check_gradients(op, grads);
  for (size_t i = 0; i < grads.size(); ++i)
    if (grads[i].is_complex())
      fail_argument(LIBDL_ERROR_DTYPE, op, 1, "grads", "holds a complex tensor" + at(i),
                    "real ones: complex numbers have no order");
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor low = number(-clip_value), high = number(clip_value);
  const Uninterruptible whole;
  for (const Tensor& g : grads)  // what a dtype does not hold never binds
    if (holds(g.dtype(), clip_value)) clamp(g, &low, &high, Into(g));
}

}  // namespace libdl
