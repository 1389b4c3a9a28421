// SPDX-License-Identifier: Apache-2.0

// An optimizer step over many tensors at once.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/tensor_table.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

constexpr int64_t kChunk = 4096;  // elements of a thread block

struct Entry {
  void* param;
  const void* grad;
  void* state[3];  // NULL where the rule needs none
  int64_t numel;
  int32_t dtype, blocks_before;
};
template <size_t kBytes>
struct Step {
  OptimizerOptions options;
  TensorTable<Entry, entries_that_fit<Entry>(kBytes, sizeof(OptimizerOptions))> table;
};
using ShortStep = Step<kShortParams>;
using LongStep = Step<kLongParams>;
static_assert(sizeof(ShortStep) <= kShortParams && sizeof(LongStep) <= kLongParams);

}  // namespace

#ifdef LIBDL_KERNELS

template <class V>
LIBDL_DEVICE V constant(double x) {
  return static_cast<V>(x);
}
template <class V>
LIBDL_DEVICE V square_root(V x) {
  return Math<V>::sqrt(x);
}
template <class V>
LIBDL_DEVICE V magnitude(V x) {
  return Math<V>::abs(x);
}
// Every operation is rounded separately, as on the CPU.
#define LIBDL_UPDATE_RULE LIBDL_DEVICE
#include "kernels/optimizer_rules.h"
#undef LIBDL_UPDATE_RULE

// kWidth elements, 1 or 4, from i on.
template <class UpdateRule, class T, class E, int kWidth>
LIBDL_DEVICE void update(const UpdateRule& update_rule, const Entry& entry, const bool (&has)[3],
                         int64_t i) {
  using Access = std::conditional_t<kWidth == 4, Four<E>, E>;
  const auto read = [i](const void* data, E* to) {
    const Access x = *reinterpret_cast<const Access*>(static_cast<const E*>(data) + i);
    memcpy(to, &x, sizeof x);
  };
  const auto write = [i](void* data, const E* from) {
    Access x;
    memcpy(&x, from, sizeof x);
    *reinterpret_cast<Access*>(static_cast<E*>(data) + i) = x;
  };
  E param[kWidth], grad[kWidth], state[3][kWidth] = {};
  read(entry.param, param);
  read(entry.grad, grad);
  LIBDL_UNROLL
  for (int k = 0; k < 3; ++k)
    if (has[k]) read(entry.state[k], state[k]);
  LIBDL_UNROLL
  for (int j = 0; j < kWidth; ++j) {
    update_rules::Element<T> e{value_of<T>(param[j]), value_of<T>(grad[j]), {}};
    for (int k = 0; k < 3; ++k) e.state[k] = value_of<T>(state[k][j]);
    update_rule(e);
    param[j] = element_of<E>(e.param);
    for (int k = 0; k < 3; ++k) state[k][j] = element_of<E>(e.state[k]);
  }
  write(entry.param, param);
  LIBDL_UNROLL
  for (int k = 0; k < 3; ++k)
    if (has[k]) write(entry.state[k], state[k]);
}

template <template <class> class UpdateRule, class T, class E>
LIBDL_DEVICE void step_portion(const OptimizerOptions& options, const Entry& entry,
                               const Portion& at) {
  bool has[3], aligned = is_aligned_to(entry.param, sizeof(Four<E>)) &&
                         is_aligned_to(entry.grad, sizeof(Four<E>));
  for (int k = 0; k < 3; ++k) {
    has[k] = entry.state[k] != nullptr;
    aligned = aligned && is_aligned_to(entry.state[k], sizeof(Four<E>));
  }
  const UpdateRule<T> update_rule(options);
  const int64_t fours = aligned ? (at.end - at.first) / 4 : 0;
  for (int64_t k = threadIdx.x; k < fours; k += blockDim.x)
    update<UpdateRule<T>, T, E, 4>(update_rule, entry, has, at.first + 4 * k);
  for (int64_t i = at.first + 4 * fours + threadIdx.x; i < at.end; i += blockDim.x)
    update<UpdateRule<T>, T, E, 1>(update_rule, entry, has, i);
}

template <template <class> class UpdateRule, class T, class E, class Params>
LIBDL_DEVICE void step(const Params& p) {
  const Portion at = portion_of_block<kChunk>(p.table);
  step_portion<UpdateRule, T, E>(p.options, p.table.entry[at.at], at);
}

// Each tensor by its own dtype.
template <template <class> class UpdateRule, class Params>
LIBDL_DEVICE void step_mixed(const Params& p) {
  const Portion at = portion_of_block<kChunk>(p.table);
  const Entry& entry = p.table.entry[at.at];
  with_floating(entry.dtype, [&](auto* type) {
    using E = std::remove_pointer_t<decltype(type)>;
    step_portion<UpdateRule, ComputedIn<E>, E>(p.options, entry, at);
  });
}

#define LIBDL_STEPS(name, UpdateRule)                                                            \
  LIBDL_KERNEL(name##_f32, ShortStep) { step<update_rules::UpdateRule, float, float>(p); }       \
  LIBDL_KERNEL(name##_f64, ShortStep) { step<update_rules::UpdateRule, double, double>(p); }     \
  LIBDL_KERNEL(name##_f32_long, LongStep) { step<update_rules::UpdateRule, float, float>(p); }   \
  LIBDL_KERNEL(name##_f64_long, LongStep) { step<update_rules::UpdateRule, double, double>(p); } \
  LIBDL_KERNEL(name##_mixed, LongStep) { step_mixed<update_rules::UpdateRule>(p); }
LIBDL_STEPS(sgd, Sgd)
LIBDL_STEPS(adam, Adam)
LIBDL_STEPS(asgd, Asgd)
LIBDL_STEPS(adamax, Adamax)
LIBDL_STEPS(nadam, Nadam)
LIBDL_STEPS(radam, Radam)
LIBDL_STEPS(adagrad, Adagrad)
LIBDL_STEPS(adadelta, Adadelta)
LIBDL_STEPS(rmsprop, Rmsprop)
LIBDL_STEPS(rprop, Rprop)
#undef LIBDL_STEPS

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

struct Names {
  const char *f32, *f64, *f32_long, *f64_long, *mixed;
};

// The dtype of all tensors that have elements, if it has kernels of its own, or NONE.
int32_t only_dtype(const OptimizerArgs& a) {
  int32_t dtype = LIBDL_DTYPE_NONE;
  for (int32_t t = 0; t < a.count; ++t) {
    if (a.numel[t] == 0 || a.dtype[t] == dtype) continue;
    if (dtype != LIBDL_DTYPE_NONE) return LIBDL_DTYPE_NONE;
    dtype = a.dtype[t];
  }
  return dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT64 ? dtype : LIBDL_DTYPE_NONE;
}

template <class Params>
void queue(Context& context, const OptimizerArgs& a, const char* name) {
  Params params{};
  params.options = a.options;
  const auto send = [&](const Params& filled, int64_t blocks) {
    launch(context, name, {blocks, kThreads, 1}, filled);
  };
  Filling<kChunk, Params, decltype(send)> filling(params, send);
  void* const* const states[] = {a.state1, a.state2, a.state3};
  for (int32_t t = 0; t < a.count; ++t) {
    if (a.numel[t] == 0) continue;
    Entry entry{a.param[t], a.grad[t], {}, a.numel[t], a.dtype[t], 0};
    for (int k = 0; k < 3; ++k)
      if (states[k]) entry.state[k] = states[k][t];
    filling.add(entry);
  }
  filling.flush();
}

void take_step(Context& context, const OptimizerArgs& a, const Names& names) {
  const int32_t dtype = only_dtype(a);
  if (dtype == LIBDL_DTYPE_NONE) return queue<LongStep>(context, a, names.mixed);
  const bool is_single = dtype == LIBDL_DTYPE_FLOAT32;
  if (a.count <= entries_that_fit<Entry>(kShortParams, sizeof(OptimizerOptions)))
    return queue<ShortStep>(context, a, is_single ? names.f32 : names.f64);
  queue<LongStep>(context, a, is_single ? names.f32_long : names.f64_long);
}

}  // namespace

#define LIBDL_STEPS(name)                                                                          \
  void name(Context& context, const OptimizerArgs& a) {                                            \
    take_step(context, a,                                                                          \
              {#name "_f32", #name "_f64", #name "_f32_long", #name "_f64_long", #name "_mixed"}); \
  }
LIBDL_STEPS(sgd)
LIBDL_STEPS(adam)
LIBDL_STEPS(asgd)
LIBDL_STEPS(adamax)
LIBDL_STEPS(nadam)
LIBDL_STEPS(radam)
LIBDL_STEPS(adagrad)
LIBDL_STEPS(adadelta)
LIBDL_STEPS(rmsprop)
LIBDL_STEPS(rprop)
#undef LIBDL_STEPS

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
