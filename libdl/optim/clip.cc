// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "optim/lists.h"
#include "optim/step.h"

#include "ops/core/call.h"
#include "ops/core/holds.h"
#include "ops/creation/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/comparison.h"
#include "ops/reduction/reduction.h"
#include "ops/view/view.h"
#include "runtime/float_environment.h"
#include "runtime/thread_pool.h"
#include "tensor/sparse_rows.h"

namespace libdl {

static void check_floating(const char* op, const char* name, TensorSpan list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].is_number() || !is_inexact(list[i].dtype()))
      fail_argument(LIBDL_ERROR_DTYPE, op, 1, name,
                    std::string("holds ") + name_of(list[i].dtype()) + at_position(i),
                    "floating tensors");
}

static void check_gradients(const char* op, TensorSpan grads) {
  check_floating(op, "grads", grads);
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor& g = grads[i];
    if (g.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, op, 1, "grads",
                    "holds read-only memory" + at_position(i), "memory to write to");
    if (overlaps_itself(g))
      fail_argument(LIBDL_ERROR_OVERLAP, op, 1, "grads",
                    "holds an overlapping tensor" + at_position(i), "clones");
  }
}

static void check_order(const char* op, int argument, double norm_type) {
  if (!(norm_type > 0))
    fail_argument(LIBDL_ERROR_VALUE, op, argument, "norm_type", "is " + std::to_string(norm_type),
                  "a positive number");
}

// -- norms ----------------------------------------------------------------------------------------

// The norm of all elements, in float64. A device is waited for at most once, by who reads it.
static Tensor norm_of_all(TensorSpan tensors, double norm_type) {
  if (tensors.empty()) return full({}, number(0.0), Dtype::kFloat64);
  const Tensor p = number(norm_type);
  const int64_t count[] = {static_cast<int64_t>(tensors.size())};
  const Tensor norms = empty(count, Dtype::kFloat64, tensors[0].device());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor x = is_sparse(tensors[i]) ? held_values(tensors[i]) : tensors[i];
    norm(x, &p, {}, false, Dtype::kNone, Into(select(norms, 0, static_cast<int64_t>(i))));
  }
  return norm(norms, &p, {}, false, Dtype::kNone);
}

static void check_finite(const char* op, const char* name, double length) {
  if (!std::isfinite(length))
    fail_argument(LIBDL_ERROR_VALUE, op, 1, name, "have norm " + std::to_string(length),
                  "a finite norm");
}

static Dtype dtype_of_norm(TensorSpan tensors) {
  if (tensors.empty()) return Dtype::kFloat32;
  Dtype dtype = real_of(tensors[0].dtype());
  for (const Tensor& x : tensors) dtype = promote(dtype, real_of(x.dtype()));
  return dtype;
}

Tensor total_norm(TensorSpan tensors, double norm_type, bool error_if_nonfinite) {
  LIBDL_OBSERVED_STEP("total_norm", total_norm(tensors, norm_type, error_if_nonfinite), tensors,
                      norm_type, error_if_nonfinite);
  const char* const op = "total_norm";
  check_order(op, 2, norm_type);
  check_floating(op, "tensors", tensors);
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor total = norm_of_all(tensors, norm_type);
  if (error_if_nonfinite) check_finite(op, "tensors", item_f64(total));
  return cast(total, dtype_of_norm(tensors));
}

// -- clipping -------------------------------------------------------------------------------------

// Changes the gradients by change(x, into). Of sparse ones the rows that are held change; the new
// ones are made before anything is written.
template <class F>
static void change_all(const char* op, TensorSpan grads, F&& change) {
  std::vector<Tensor> fresh(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    const std::vector<int64_t>* const rows = held_rows(grads[i]);
    if (!rows) continue;
    fresh[i] = sparse_matrix(grads[i].shape(), *rows, change(held_values(grads[i]), Into()));
  }
  const Uninterruptible whole;  // all are changed or none
  for (size_t i = 0; i < grads.size(); ++i) {
    if (fresh[i].defined()) {
      take_rows(grads[i], fresh[i], op);
    } else {
      change(grads[i], Into(grads[i]));
    }
  }
}

// A NaN as a factor makes all gradients NaN. On a device nobody waits to learn whether the factor
// is 1: all gradients are multiplied.
static void scale_to(TensorSpan grads, double max_norm, const Tensor& total) {
  Tensor scale;
  if (total.device().is_cpu()) {
    const DefaultFloatEnvironment environment;
    const double factor = max_norm / (item_f64(total) + 1e-6);
    if (factor >= 1) return;
    scale = number(factor);
  } else {
    const Tensor factor = div(number(max_norm), add(total, number(1e-6)));
    scale = minimum(factor, number(1.0));
  }
  change_all("mul", grads, [&](const Tensor& g, Into into) {
    return mul(g, g.device() == scale.device() ? scale : on_device(scale, g.device()), into);
  });
}

Tensor clip_grad_norm(TensorSpan grads, double max_norm, double norm_type,
                      bool error_if_nonfinite) {
  LIBDL_OBSERVED_STEP("clip_grad_norm",
                      clip_grad_norm(grads, max_norm, norm_type, error_if_nonfinite), grads,
                      max_norm, norm_type, error_if_nonfinite);
  const char* const op = "clip_grad_norm";
  check_factor(op, "max_norm", max_norm, false, 2);
  check_order(op, 3, norm_type);
  check_gradients(op, grads);
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor total = norm_of_all(grads, norm_type);
  if (error_if_nonfinite) check_finite(op, "grads", item_f64(total));
  // All that may fail comes before the first gradient is scaled.
  Tensor before = cast(total, dtype_of_norm(grads));
  scale_to(grads, max_norm, total);
  return before;
}

void clip_grads_with_norm(TensorSpan grads, double max_norm, const Tensor& total_norm) {
  LIBDL_OBSERVED_STEP("clip_grads_with_norm", clip_grads_with_norm(grads, max_norm, total_norm),
                      grads, max_norm, total_norm);
  const char* const op = "clip_grads_with_norm";
  check_factor(op, "max_norm", max_norm, false, 2);
  check_gradients(op, grads);
  if (is_complex(total_norm.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, 3, "total_norm",
                  std::string("is ") + name_of(total_norm.dtype()), "a real number");
  if (total_norm.numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, 3, "total_norm",
                  "has shape " + to_string(total_norm.shape()), "one element");
  const ModeGuard off(kModeGrad | kModeForward);
  scale_to(grads, max_norm, total_norm);
}

void clip_grad_value(TensorSpan grads, double clip_value) {
  LIBDL_OBSERVED_STEP("clip_grad_value", clip_grad_value(grads, clip_value), grads, clip_value);
  const char* const op = "clip_grad_value";
  check_factor(op, "clip_value", clip_value, false, 2);
  check_gradients(op, grads);
  for (size_t i = 0; i < grads.size(); ++i)
    if (is_complex(grads[i].dtype()))
      fail_argument(LIBDL_ERROR_DTYPE, op, 1, "grads", "holds a complex tensor" + at_position(i),
                    "real ones: complex numbers have no order");
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor low = number(-clip_value), high = number(clip_value);
  change_all("clamp", grads, [&](const Tensor& g, Into into) {
    return holds(g.dtype(), clip_value) ? clamp(g, &low, &high, into) : g;  // else it never binds
  });
}

}  // namespace libdl
