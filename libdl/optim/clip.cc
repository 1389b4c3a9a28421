// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/optim.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "optim/listed.h"
#include "optim/lists.h"
#include "runtime/float_environment.h"
#include "runtime/thread_pool.h"
#include "tensor/sparse_rows.h"

namespace libdl {

static void check_floating(const char* op, const char* name, TensorSpan list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].defined() && (list[i].is_number() || !is_inexact(list[i].dtype())))
      fail_argument(LIBDL_ERROR_DTYPE, op, name,
                    std::string("holds ") + name_of(list[i].dtype()) + at_position(i),
                    "floating tensors");
}

static void check_gradients(const char* op, TensorSpan grads) {
  check_floating(op, "grads", grads);
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor& g = grads[i];
    if (!g.defined()) continue;
    if (g.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, op, "grads", "holds read-only memory" + at_position(i),
                    "memory to write to");
    if (overlaps_itself(g))
      fail_argument(LIBDL_ERROR_OVERLAP, op, "grads",
                    "holds an overlapping tensor" + at_position(i), "clones");
  }
}

namespace {
// The gradients that there are: an unused parameter has none.
class Present {
 public:
  explicit Present(TensorSpan grads) : all_(grads) {
    bool whole = true;
    for (const Tensor& g : grads) whole &= g.defined();
    if (whole) return;
    for (const Tensor& g : grads)
      if (g.defined()) some_.push_back(g);
    all_ = some_;
  }
  operator TensorSpan() const { return all_; }

 private:
  TensorSpan all_;
  std::vector<Tensor> some_;
};
}  // namespace

static void check_order(const char* op, double norm_type) {
  if (!(norm_type > 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "norm_type", "is " + std::to_string(norm_type),
                  "a positive number");
}

// -- norms ----------------------------------------------------------------------------------------

namespace {
struct Norm {
  Tensor exact;    // float64
  Tensor rounded;  // in the tensors' own dtype
};
}  // namespace

static Dtype dtype_of_norm(TensorSpan tensors) {
  if (tensors.empty()) return Dtype::kFloat32;
  Dtype dtype = real_of(tensors[0].dtype());
  for (const Tensor& x : tensors) dtype = promote(dtype, real_of(x.dtype()));
  return dtype;
}

// Each tensor's norm, and the norm of these.
static Tensor norm_of_norms(const char* op, const char* name, TensorSpan tensors,
                            double norm_type) {
  const Tensor p = number(norm_type);
  const int64_t count[] = {static_cast<int64_t>(tensors.size())};
  const Tensor norms = empty(count, Dtype::kFloat64, tensors[0].device());
  return rename_error(op, {{"input", name}}, [&] {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor slot = select(norms, 0, static_cast<int64_t>(i));
      norm(tensors[i], &p, {}, false, Dtype::kNone, Into(slot));
    }
    return norm(norms, &p, {}, false, Dtype::kNone);
  });
}

// The norm of all elements. A device is waited for at most once, by who reads it.
static Norm norm_of_all(const char* op, const char* name, TensorSpan tensors, double norm_type) {
  const Dtype dtype = dtype_of_norm(tensors);
  if (tensors.empty())
    return {full({}, number(0.0), Dtype::kFloat64), full({}, number(0.0), dtype)};
  const Device device = tensors[0].device();
  Listed listed(device);
  std::vector<Tensor> held(tensors.size());
  // Where there is the kernel, unless it is to refuse the largest of nothing.
  bool are_listed = has_kernel(device, KernelId::list_norm);
  for (size_t i = 0; i < tensors.size(); ++i) {
    held[i] = is_sparse(tensors[i]) ? held_values(tensors[i]) : tensors[i];
    if (are_listed && !device.is_cpu() && !listed.takes(held[i])) held[i] = plain(held[i]);
    are_listed =
        are_listed && listed.takes(held[i]) && (held[i].numel() || std::isfinite(norm_type));
    if (are_listed) listed.add(held[i], Access::kRead);
  }
  if (!are_listed) {
    const Tensor total = norm_of_norms(op, name, held, norm_type);
    return {total, cast(total, dtype)};
  }
  const Norm norm{empty({}, Dtype::kFloat64, device), empty({}, dtype, device)};
  launch_list_norm(device,
                   {listed.list(), norm_type, overwrites(norm.exact), overwrites(norm.rounded)});
  return norm;
}

// On the host, which waits for it. A meta tensor has none.
static double length_of(const char* op, const Tensor& total) {
  return rename_error(op, {}, [&] { return item_f64(total); });
}

static void check_finite(const char* op, const char* name, double length) {
  if (!std::isfinite(length))
    fail_argument(LIBDL_ERROR_VALUE, op, name, "have norm " + std::to_string(length),
                  "a finite norm");
}

Tensor total_norm(TensorSpan tensors, double norm_type, bool error_if_nonfinite) {
  LIBDL_OBSERVED_STEP("total_norm", total_norm(tensors, norm_type, error_if_nonfinite), tensors,
                      norm_type, error_if_nonfinite);
  const char* const op = "total_norm";
  check_order(op, norm_type);
  check_floating(op, "tensors", tensors);
  const ModeGuard off(kModeGrad | kModeForward);
  const Norm total = norm_of_all(op, "tensors", tensors, norm_type);
  if (error_if_nonfinite) check_finite(op, "tensors", length_of(op, total.exact));
  return total.rounded;
}

// -- clipping -------------------------------------------------------------------------------------

// Changes the gradients: by launch(device, list) those that can be listed, at once, where there is
// the kernel, and the others by change(x, into). Of sparse ones the rows that are held change; the
// new ones are made before anything is written.
template <class L, class F>
static void change_all(const char* op, TensorSpan grads, L&& launch, F&& change) {
  if (grads.empty()) return;
  const Device device = grads[0].device();
  const bool lists = has_kernel(device, KernelId::list_clip);
  Listed listed(device);
  std::vector<Tensor> fresh(grads.size());
  std::vector<bool> is_listed(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (const std::vector<int64_t>* const rows = held_rows(grads[i])) {
      fresh[i] = sparse_matrix(grads[i].shape(), *rows, change(held_values(grads[i]), Into()));
    } else if (lists && listed.takes(grads[i])) {
      is_listed[i] = true;
      listed.add(grads[i], Access::kUpdate);
    }
  }
  // A device changes the entries in any order: what is listed twice is changed one after the other.
  if (!device.is_cpu() && !listed.are_apart()) {
    is_listed.assign(grads.size(), false);
    listed = Listed(device);
  }
  const Uninterruptible whole;  // all are changed or none
  if (!listed.is_empty()) launch(device, listed.list());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (is_listed[i]) {
      written(grads[i], op);
    } else if (fresh[i].defined()) {
      take_rows(grads[i], fresh[i], op);
    } else {
      change(grads[i], Into(grads[i]));
    }
  }
}

// The total norm as a 0-d tensor on a device.
static Tensor total_on(const Tensor& total, Device device) {
  if (total.is_number()) return full({}, total, Dtype::kFloat64, device);
  return on_device(reshape(total, Dims()), device);
}

// A NaN as a factor makes all gradients NaN. On a device nobody waits to learn whether the factor
// is 1.
static void scale_to(const char* op, TensorSpan grads, double max_norm, const Tensor& total) {
  Tensor scale;
  const auto launch = [&](Device device, const kernels::TensorList& list) {
    const Tensor there = total_on(total, device);
    launch_list_clip(device, {list, reads(there), max_norm});
  };
  if (total.device().is_cpu()) {
    const DefaultFloatEnvironment environment;
    const double factor = max_norm / (length_of(op, total) + 1e-6);
    if (factor >= 1) return;
    scale = number(factor);
  }
  change_all("mul", grads, launch, [&](const Tensor& g, Into into) {
    if (!scale.defined())
      scale = minimum(div(number(max_norm), add(total, number(1e-6))), number(1.0));
    return rename_error(op, {{"dst", "grads"}}, [&] {
      return mul(g, g.device() == scale.device() ? scale : on_device(scale, g.device()), into);
    });
  });
}

Tensor clip_grad_norm(TensorSpan grads, double max_norm, double norm_type,
                      bool error_if_nonfinite) {
  LIBDL_OBSERVED_STEP("clip_grad_norm",
                      clip_grad_norm(grads, max_norm, norm_type, error_if_nonfinite), grads,
                      max_norm, norm_type, error_if_nonfinite);
  const char* const op = "clip_grad_norm";
  check_factor(op, "max_norm", max_norm);
  check_order(op, norm_type);
  check_gradients(op, grads);
  const ModeGuard off(kModeGrad | kModeForward);
  const Present present(grads);
  const Norm total = norm_of_all(op, "grads", present, norm_type);
  if (error_if_nonfinite) check_finite(op, "grads", length_of(op, total.exact));
  scale_to(op, present, max_norm, total.exact);
  return total.rounded;
}

void clip_grads_with_norm(TensorSpan grads, double max_norm, const Tensor& total_norm) {
  LIBDL_OBSERVED_STEP("clip_grads_with_norm", clip_grads_with_norm(grads, max_norm, total_norm),
                      grads, max_norm, total_norm);
  const char* const op = "clip_grads_with_norm";
  check_factor(op, "max_norm", max_norm);
  check_gradients(op, grads);
  if (is_complex(total_norm.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "total_norm",
                  std::string("is ") + name_of(total_norm.dtype()), "a real number");
  if (total_norm.numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "total_norm", "has shape " + to_string(total_norm.shape()),
                  "one element");
  const ModeGuard off(kModeGrad | kModeForward);
  scale_to(op, Present(grads), max_norm, total_norm);
}

void clip_grad_value(TensorSpan grads, double clip_value) {
  LIBDL_OBSERVED_STEP("clip_grad_value", clip_grad_value(grads, clip_value), grads, clip_value);
  const char* const op = "clip_grad_value";
  check_factor(op, "clip_value", clip_value);
  check_gradients(op, grads);
  for (size_t i = 0; i < grads.size(); ++i)
    if (grads[i].defined() && is_complex(grads[i].dtype()))
      fail_argument(LIBDL_ERROR_DTYPE, op, "grads", "holds a complex tensor" + at_position(i),
                    "real ones: complex numbers have no order");
  const ModeGuard off(kModeGrad | kModeForward);
  std::vector<Tensor> bound;  // elsewhere it never binds
  for (const Tensor& g : grads)
    if (g.defined() && holds(g.dtype(), clip_value)) bound.push_back(g);
  const Tensor low = number(-clip_value), high = number(clip_value);
  const auto launch = [&](Device device, const kernels::TensorList& list) {
    launch_list_clip(device, {list, no_view(), clip_value});
  };
  change_all("clamp", bound, launch,
             [&](const Tensor& g, Into into) { return clamp(g, &low, &high, into); });
}

}  // namespace libdl
