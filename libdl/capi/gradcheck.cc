// SPDX-License-Identifier: Apache-2.0

// The gradient check of a function of the host's.

#include "engine/gradcheck.h"

#include <libdl/autograd.h>

#include <cmath>

#include "capi/arguments.h"
#include "capi/callback.h"
#include "capi/options.h"
#include "capi/returned.h"
#include "capi/scope.h"

using namespace libdl;
using namespace libdl::capi;

static constexpr const char* kName = "libdl_gradcheck";

// 0 is the default.
static double option(const char* name, double value, double otherwise) {
  if (!(value >= 0) || std::isinf(value))
    fail_argument(LIBDL_ERROR_VALUE, kName, "options",
                  std::string("sets ") + name + " to " + std::to_string(value),
                  "a finite number that is not negative");
  return value == 0 ? otherwise : value;
}

static GradcheckOptions options_of(const libdl_gradcheck_options* source) {
  const libdl_gradcheck_options o = read_options(kName, source);
  GradcheckOptions options;
  options.eps = option("eps", o.eps, options.eps);
  options.atol = option("atol", o.atol, options.atol);
  options.rtol = option("rtol", o.rtol, options.rtol);
  options.nondet_tol = option("nondet_tol", o.nondet_tol, 0);
  options.forward = o.forward != 0;
  options.second_order = o.second_order != 0;
  options.strict = o.strict != 0;
  return options;
}

// Tensor is one pointer: the arrays are handed out as they are, and taken back as owned.
static std::vector<Tensor> call(libdl_gradcheck_function fn, void* ctx, TensorSpan inputs,
                                int64_t count) {
  std::vector<Tensor> outputs(static_cast<size_t>(count));
  auto* const handles = reinterpret_cast<libdl_tensor**>(outputs.data());
  const ScopePause outside;
  libdl_error* const error = fn(ctx, reinterpret_cast<const libdl_tensor* const*>(inputs.data()),
                                static_cast<int64_t>(inputs.size()), handles, count);
  outside.returned({handles, outputs.size()});
  std::string wrong;
  for (int64_t k = 0; k < count; ++k) {
    if (is_live_tensor(handles[k])) continue;
    const bool tensor = handles[k] && has_tag(handles[k], Tag::kTensor);
    if (wrong.empty())
      wrong = "fn left output " + std::to_string(k + 1) + " as " +
              (tensor       ? "a tensor that was emptied"
               : handles[k] ? kind_of(handles[k])
                            : "NULL") +
              ", wanted a tensor";
    if (!tensor) handles[k] = nullptr;  // another kind of handle is not ours to release
  }
  check_returned(kName, error);
  if (!wrong.empty()) fail(LIBDL_ERROR_CALLBACK, kName, wrong);
  return outputs;
}

libdl_error* libdl_gradcheck(libdl_gradcheck_function fn, void* ctx, void (*destroy)(void* ctx),
                             const libdl_tensor* const* inputs, int64_t inputs_count,
                             int64_t outputs_count, const libdl_gradcheck_options* options) {
  return door(kName, [&] {
    const Callback owner(ctx, destroy);
    not_null(kName, "fn", reinterpret_cast<const void*>(fn), "a function");
    const TensorSpan tensors = live_tensors(kName, "inputs", inputs, inputs_count);
    constexpr int64_t kMost = 65536;
    if (outputs_count < 1 || outputs_count > kMost)
      fail_argument(LIBDL_ERROR_VALUE, kName, "outputs_count",
                    "is " + std::to_string(outputs_count), "1 to " + std::to_string(kMost));
    const GradcheckOptions chosen = options_of(options);
    const auto run = [&](TensorSpan at) { return call(fn, owner.ctx(), at, outputs_count); };
    gradcheck(run, tensors, static_cast<size_t>(outputs_count), chosen);
  });
}
