// SPDX-License-Identifier: Apache-2.0

#include "ops/entry/autocast.h"

#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "tape/meta.h"

namespace libdl {

static bool castable(const Tensor& x) {
  return x.defined() && !x.is_number() && is_floating(x.dtype()) && x.dtype() != Dtype::kFloat64 &&
         x.device().is_cpu();
}

// Weights are read again in the same pass, and where nothing is recorded in the next one, too.
static bool read_again(const Tensor& x, Dtype dtype) {
  return state().autocast_cache && x.dtype() == Dtype::kFloat32 && size_of(dtype) == 2 &&
         is_leaf(x) && requires_grad(x);
}

Tensor autocast(const Tensor& x, Dtype dtype) {
  if (dtype == Dtype::kNone || !castable(x)) return x;
  return read_again(x, dtype) ? cast_kept(x, dtype) : cast(x, dtype);
}

namespace autocast_detail {

static Dtype lower() { return static_cast<Dtype>(state().autocast_dtype); }

static bool any_float32(TensorSpan list) {
  for (const Tensor& x : list)
    if (castable(x) && x.dtype() == Dtype::kFloat32) return true;
  return false;
}

Dtype target(CastPolicy policy, std::initializer_list<TensorSpan> operands) {
  switch (policy) {
    case CastPolicy::kLower: return lower();
    case CastPolicy::kFloat32: return Dtype::kFloat32;
    case CastPolicy::kPromote:
      for (const TensorSpan list : operands)
        if (any_float32(list)) return Dtype::kFloat32;
      break;
    case CastPolicy::kState: {
      bool behind_input = false;
      for (const TensorSpan list : operands) {
        if (list.empty()) continue;
        if (behind_input) return any_float32(list) ? Dtype::kFloat32 : lower();
        behind_input = true;
      }
      break;
    }
    case CastPolicy::kOff: break;
  }
  return Dtype::kNone;
}

void hide_next_call() {
  if (State& current = state(); current.watch) current.shown = true;
}

}  // namespace autocast_detail

}  // namespace libdl
