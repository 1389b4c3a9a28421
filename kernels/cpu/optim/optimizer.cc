// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/optim/optimizer.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V constant(double x) {
  return V(static_cast<typename V::Scalar>(x));
}
template <class V>
HWY_INLINE V square_root(V x) {
  return hn::Sqrt(x.raw);
}
template <class V>
HWY_INLINE V magnitude(V x) {
  return hn::Abs(x.raw);
}
#define LIBDL_RULE HWY_INLINE
#include "kernels/optimizer_rules.h"
#undef LIBDL_RULE

constexpr int64_t kChunk = 1 << 14;  // elements, across tensors
constexpr int64_t kTile = 256;

// n elements of one tensor; the unused states are null.
template <class T>
struct Span {
  T* param;
  const T* grad;
  T* state[3];
};

template <template <class> class Rule, class T>
HWY_INLINE void apply(const Rule<Lanes<T>>& rule, const Span<T>& s, int64_t i) {
  using V = Lanes<T>;
  const typename V::Tag tag;
  rules::Element<V> e{hn::LoadU(tag, s.param + i), hn::LoadU(tag, s.grad + i), {}};
  for (int k = 0; k < 3; ++k)
    if (s.state[k] != nullptr) e.state[k] = hn::LoadU(tag, s.state[k] + i);
  rule(e);
  hn::StoreU(e.param.raw, tag, s.param + i);
  for (int k = 0; k < 3; ++k)
    if (s.state[k] != nullptr) hn::StoreU(e.state[k].raw, tag, s.state[k] + i);
}

// Contiguous T; the last few elements pass through a padded copy and so get the same arithmetic.
template <template <class> class Rule, class T>
void update(const OptimizerArgs& args, const Span<T>& s, int64_t n) {
  constexpr int64_t kN = hn::MaxLanes(typename Lanes<T>::Tag());
  const Rule<Lanes<T>> rule(args.options);
  int64_t i = 0;
  for (; i + kN <= n; i += kN) apply<Rule, T>(rule, s, i);
  if (i == n) return;
  T p[kN] = {}, g[kN] = {}, states[3][kN] = {};
  Span<T> padded{p, g, {}};
  const int64_t rest = n - i;
  std::copy_n(s.param + i, rest, p);
  std::copy_n(s.grad + i, rest, g);
  for (int k = 0; k < 3; ++k) {
    if (s.state[k] == nullptr) continue;
    padded.state[k] = states[k];
    std::copy_n(s.state[k] + i, rest, states[k]);
  }
  apply<Rule, T>(rule, padded, 0);
  std::copy_n(p, rest, s.param + i);
  for (int k = 0; k < 3; ++k)
    if (s.state[k] != nullptr) std::copy_n(states[k], rest, s.state[k] + i);
}

template <class T>
T* state(void* const* list, int32_t tensor, int64_t first) {
  if (list == nullptr || list[tensor] == nullptr) return nullptr;
  return static_cast<T*>(list[tensor]) + first;
}

// The gradient is read where it has rows, and is a tile of zeros between them.
template <template <class> class Rule, class T>
void update_by_rows(const OptimizerArgs& a, int32_t t, int64_t first, int64_t n) {
  alignas(64) static constexpr T kZeros[kTile] = {};
  const GradientRows& rows = a.rows[t];
  int64_t at = std::lower_bound(rows.numbers, rows.numbers + rows.count, first / rows.columns) -
               rows.numbers;
  for (const int64_t last = first + n; first < last;) {
    const int64_t begin = at < rows.count ? rows.numbers[at] * rows.columns : last;
    const bool held = first >= begin;
    const int64_t end =
        held ? std::min(last, begin + rows.columns) : std::min({last, begin, first + kTile});
    Span<T> s{
        static_cast<T*>(a.param[t]) + first,
        held ? static_cast<const T*>(a.grad[t]) + at * rows.columns + (first - begin) : kZeros,
        {state<T>(a.state1, t, first), state<T>(a.state2, t, first), state<T>(a.state3, t, first)}};
    update<Rule, T>(a, s, end - first);
    if (held && end == begin + rows.columns) ++at;
    first = end;
  }
}

template <template <class> class Rule, class T>
void update_direct(const OptimizerArgs& a, int32_t t, int64_t first, int64_t n) {
  if (a.rows != nullptr && a.rows[t].count != 0) return update_by_rows<Rule, T>(a, t, first, n);
  update<Rule, T>(
      a,
      {static_cast<T*>(a.param[t]) + first,
       static_cast<const T*>(a.grad[t]) + first,
       {state<T>(a.state1, t, first), state<T>(a.state2, t, first), state<T>(a.state3, t, first)}},
      n);
}

// 16-bit tensors are computed in float32, a tile at a time.
template <template <class> class Rule>
void update_half(const OptimizerArgs& a, int32_t t, int64_t first, int64_t n) {
  float tile[5][kTile];
  uint16_t* data[5] = {static_cast<uint16_t*>(a.param[t]) + first,
                       const_cast<uint16_t*>(static_cast<const uint16_t*>(a.grad[t])) + first,
                       state<uint16_t>(a.state1, t, first), state<uint16_t>(a.state2, t, first),
                       state<uint16_t>(a.state3, t, first)};
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t count = std::min(kTile, n - i);
    for (int k = 0; k < 5; ++k) {
      if (data[k] != nullptr) load_tile(tile[k], data[k] + i, a.dtype[t], 1, count);
    }
    update<Rule, float>(
        a,
        {tile[0],
         tile[1],
         {data[2] ? tile[2] : nullptr, data[3] ? tile[3] : nullptr, data[4] ? tile[4] : nullptr}},
        count);
    for (int k = 0; k < 5; ++k) {
      if (k != 1 && data[k] != nullptr) store_tile(data[k] + i, a.dtype[t], 1, tile[k], count);
    }
  }
}

// Elements [first, last) of all tensors laid end to end.
template <template <class> class Rule>
void update_range(const OptimizerArgs& a, int64_t first, int64_t last) {
  int64_t start = 0;
  for (int32_t t = 0; t < a.count && start < last; start += a.numel[t++]) {
    const int64_t from = std::max<int64_t>(first - start, 0);
    const int64_t n = std::min(last - start, a.numel[t]) - from;
    if (n <= 0) continue;
    switch (a.dtype[t]) {
      case LIBDL_DTYPE_FLOAT32: update_direct<Rule, float>(a, t, from, n); break;
      case LIBDL_DTYPE_FLOAT64: update_direct<Rule, double>(a, t, from, n); break;
      default: update_half<Rule>(a, t, from, n);
    }
  }
}

template <template <class> class Rule>
void step(Context& context, const OptimizerArgs& args) {
  struct Task {
    const OptimizerArgs* args;
    int64_t total;
  } task{&args, 0};
  for (int32_t t = 0; t < args.count; ++t) task.total += args.numel[t];
  if (task.total < 2 * kChunk) return update_range<Rule>(args, 0, task.total);
  context.parallel((task.total + kChunk - 1) / kChunk,
                   [](void* arg, int64_t first, int64_t last) {
                     const Task& t = *static_cast<Task*>(arg);
                     update_range<Rule>(*t.args, first * kChunk, std::min(last * kChunk, t.total));
                   },
                   &task);
}

void sgd_on(Context& context, const OptimizerArgs& args) { step<rules::Sgd>(context, args); }
void adam_on(Context& context, const OptimizerArgs& args) { step<rules::Adam>(context, args); }
void asgd_on(Context& context, const OptimizerArgs& args) { step<rules::Asgd>(context, args); }
void adamax_on(Context& context, const OptimizerArgs& args) { step<rules::Adamax>(context, args); }
void nadam_on(Context& context, const OptimizerArgs& args) { step<rules::Nadam>(context, args); }
void radam_on(Context& context, const OptimizerArgs& args) { step<rules::Radam>(context, args); }
void adagrad_on(Context& context, const OptimizerArgs& args) {
  step<rules::Adagrad>(context, args);
}
void adadelta_on(Context& context, const OptimizerArgs& args) {
  step<rules::Adadelta>(context, args);
}
void rmsprop_on(Context& context, const OptimizerArgs& args) {
  step<rules::Rmsprop>(context, args);
}
void rprop_on(Context& context, const OptimizerArgs& args) { step<rules::Rprop>(context, args); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void sgd(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(sgd_on, context, args); }
void adam(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(adam_on, context, args); }
void asgd(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(asgd_on, context, args); }
void adamax(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(adamax_on, context, args); }
void nadam(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(nadam_on, context, args); }
void radam(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(radam_on, context, args); }
void adagrad(Context& context, const OptimizerArgs& args) {
  LIBDL_ON_ISA(adagrad_on, context, args);
}
void adadelta(Context& context, const OptimizerArgs& args) {
  LIBDL_ON_ISA(adadelta_on, context, args);
}
void rmsprop(Context& context, const OptimizerArgs& args) {
  LIBDL_ON_ISA(rmsprop_on, context, args);
}
void rprop(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(rprop_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
