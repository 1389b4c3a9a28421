// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/optimizer.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements, across tensors
constexpr int64_t kTile = 256;

// n elements of one tensor; the unused states are null.
template <class T>
struct Span {
  T* param;
  const T* grad;
  T *state1, *state2, *state3;
};

template <class T>
struct Sgd {
  const OptimizerArgs* args;
  using P = Pack<T>;
  using V = typename P::V;

  void apply(const Span<T>& s, int64_t i) const {
    const OptimizerArgs& a = *args;
    V p = P::load(s.param + i);
    V g = P::load(s.grad + i);
    if (a.maximize) g = hn::Neg(g);
    if (a.weight_decay != 0) g = hn::Add(g, hn::Mul(p, P::set(static_cast<T>(a.weight_decay))));
    if (s.state1 != nullptr) {
      const V momentum = P::set(static_cast<T>(a.momentum));
      V m = g;
      if (!a.first) {
        m = hn::Add(hn::Mul(P::load(s.state1 + i), momentum),
                    hn::Mul(g, P::set(static_cast<T>(1 - a.dampening))));
      }
      P::store(m, s.state1 + i);
      g = a.nesterov ? hn::Add(g, hn::Mul(m, momentum)) : m;
    }
    P::store(hn::Sub(p, hn::Mul(g, P::set(static_cast<T>(a.lr)))), s.param + i);
  }
};

template <class T>
struct Adam {
  const OptimizerArgs* args;
  using P = Pack<T>;
  using V = typename P::V;

  void apply(const Span<T>& s, int64_t i) const {
    const OptimizerArgs& a = *args;
    V p = P::load(s.param + i);
    V g = P::load(s.grad + i);
    if (a.maximize) g = hn::Neg(g);
    if (a.weight_decay != 0) {
      if (a.decoupled) {
        p = hn::Mul(p, P::set(static_cast<T>(1 - a.lr * a.weight_decay)));
      } else {
        g = hn::Add(g, hn::Mul(p, P::set(static_cast<T>(a.weight_decay))));
      }
    }
    V m = P::load(s.state1 + i);
    // m moves towards g; the form depends on the weight so that weight 1 gives g exactly.
    m = 1 - a.beta1 < 0.5 ? hn::Add(m, hn::Mul(hn::Sub(g, m), P::set(static_cast<T>(1 - a.beta1))))
                          : hn::Sub(g, hn::Mul(hn::Sub(g, m), P::set(static_cast<T>(a.beta1))));
    V v = P::load(s.state2 + i);
    v = hn::Add(hn::Mul(v, P::set(static_cast<T>(a.beta2))),
                hn::Mul(hn::Mul(g, g), P::set(static_cast<T>(1 - a.beta2))));
    P::store(m, s.state1 + i);
    P::store(v, s.state2 + i);
    if (a.amsgrad) {
      v = Max::apply<T>(P::load(s.state3 + i), v);
      P::store(v, s.state3 + i);
    }
    const V denominator = hn::Add(hn::Div(hn::Sqrt(v), P::set(static_cast<T>(std::sqrt(a.bias2)))),
                                  P::set(static_cast<T>(a.eps)));
    const V step = hn::Mul(hn::Div(m, denominator), P::set(static_cast<T>(a.lr / a.bias1)));
    P::store(hn::Sub(p, step), s.param + i);
  }
};

// Contiguous T; the last few elements pass through a padded copy and so get the same arithmetic.
template <template <class> class Rule, class T>
void update(const OptimizerArgs& args, const Span<T>& s, int64_t n) {
  constexpr int64_t kN = Pack<T>::n;
  const Rule<T> rule{&args};
  int64_t i = 0;
  for (; i + kN <= n; i += kN) rule.apply(s, i);
  if (i == n) return;
  T p[kN] = {}, g[kN] = {}, s1[kN] = {}, s2[kN] = {}, s3[kN] = {};
  const int64_t rest = n - i;
  std::copy_n(s.param + i, rest, p);
  std::copy_n(s.grad + i, rest, g);
  if (s.state1 != nullptr) std::copy_n(s.state1 + i, rest, s1);
  if (s.state2 != nullptr) std::copy_n(s.state2 + i, rest, s2);
  if (s.state3 != nullptr) std::copy_n(s.state3 + i, rest, s3);
  rule.apply({p, g, s.state1 ? s1 : nullptr, s.state2 ? s2 : nullptr, s.state3 ? s3 : nullptr}, 0);
  std::copy_n(p, rest, s.param + i);
  if (s.state1 != nullptr) std::copy_n(s1, rest, s.state1 + i);
  if (s.state2 != nullptr) std::copy_n(s2, rest, s.state2 + i);
  if (s.state3 != nullptr) std::copy_n(s3, rest, s.state3 + i);
}

template <class T>
T* state(void* const* list, int32_t tensor, int64_t first) {
  if (list == nullptr || list[tensor] == nullptr) return nullptr;
  return static_cast<T*>(list[tensor]) + first;
}

template <template <class> class Rule, class T>
void update_direct(const OptimizerArgs& a, int32_t t, int64_t first, int64_t n) {
  update<Rule, T>(
      a,
      {static_cast<T*>(a.param[t]) + first, static_cast<const T*>(a.grad[t]) + first,
       state<T>(a.state1, t, first), state<T>(a.state2, t, first), state<T>(a.state3, t, first)},
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
    update<Rule, float>(a,
                        {tile[0], tile[1], data[2] ? tile[2] : nullptr, data[3] ? tile[3] : nullptr,
                         data[4] ? tile[4] : nullptr},
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

void sgd_on(Context& context, const OptimizerArgs& args) { step<Sgd>(context, args); }
void adam_on(Context& context, const OptimizerArgs& args) { step<Adam>(context, args); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void sgd(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(sgd_on, context, args); }
void adam(Context& context, const OptimizerArgs& args) { LIBDL_ON_ISA(adam_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
