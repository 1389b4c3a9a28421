// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/running.h"

#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "runtime/thread_pool.h"

namespace libdl {

Dtype normalised_as(Dtype dtype) { return size_of(dtype) < 4 ? Dtype::kFloat32 : dtype; }

void check_channels(const char* op, const Tensor& input, const char* name, const Tensor* x) {
  if (!x) return;
  if (x->ndim() != 1 || x->size(0) != input.size(1))
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x->shape()),
                  "[" + std::to_string(input.size(1)) + "], one a channel");
  const Dtype wanted = normalised_as(input.dtype());
  if (x->dtype() != input.dtype() && x->dtype() != wanted)
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(x->dtype()),
                  name_of(wanted));
}

void check_input_of(const char* op, const Tensor& input,
                    std::initializer_list<const Tensor*> vectors) {
  const Tensor* first = nullptr;
  int count = 0;
  bool alike = true, sizes = true;  // the dtypes and the sizes of the vectors
  for (const Tensor* const x : vectors) {
    if (!x) continue;
    ++count;
    if (!first) first = x;
    alike &= x->dtype() == first->dtype();
    sizes &= x->ndim() == 1 && same(x->shape(), first->shape());
  }
  if (count < 2) return;
  if (sizes && first->size(0) != input.size(1))
    fail_argument(LIBDL_ERROR_SHAPE, op, "input",
                  "has " + std::to_string(input.size(1)) + " channels",
                  std::to_string(first->size(0)) + ", as the vectors of the channels");
  if (alike && first->dtype() != input.dtype() && first->dtype() != normalised_as(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  std::string(name_of(first->dtype())) + ", as the vectors of the channels");
}

static void check_one(const char* op, const Tensor& input, const char* name, const Tensor* x,
                      bool written) {
  check_channels(op, input, name, x);
  if (!x && !written)
    fail_argument(LIBDL_ERROR_NULL, op, name, "is absent",
                  "statistics, because those of the input are not used");
  if (!x || !written) return;
  if (x->storage().read_only)
    fail_argument(LIBDL_ERROR_READ_ONLY, op, name, "has read-only memory", "memory to write to");
  if (overlaps_itself(*x))
    fail_argument(LIBDL_ERROR_OVERLAP, op, name, "has elements that share memory", "a clone");
  if (has_history(*x) || has_tangent(*x))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, name,
                  has_history(*x) ? "requires grad, which it cannot get"
                                  : "has a tangent, which would not follow",
                  "detach() of it");
}

void check_running(const char* op, const Tensor& input, Running running, bool written) {
  check_one(op, input, "running_mean", running.mean, written);
  check_one(op, input, "running_var", running.var, written);
}

static Tensor moved(const Tensor* running, const Tensor& value, double momentum) {
  if (!running) return {};
  const Tensor before = cast(*running, value.dtype());
  return cast(before * (1 - momentum) + value * momentum, running->dtype());
}

void RunningUpdate::prepare(const Tensor& mean, const Tensor& var, double momentum) {
  const ModeGuard off(kModeGrad | kModeForward);
  mean_ = moved(running_.mean, mean, momentum);
  var_ = moved(running_.var, var, momentum);
}

void RunningUpdate::write() const {
  const Uninterruptible whole;  // both change or neither
  const auto change = [this](const Tensor* running, const Tensor& value) {
    if (!running || !value.defined()) return;
    copy_bytes(*running, value);
    written(*running, op_);
  };
  change(running_.mean, mean_);
  change(running_.var, var_);
}

}  // namespace libdl
