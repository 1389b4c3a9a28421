// SPDX-License-Identifier: Apache-2.0

// An optimizer step over many tensors at once: a launch has a table of as many tensors as fit its
// parameters, and every thread block finds its tensor there.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

constexpr int kTensors = 64;
constexpr int64_t kChunk = 4096;  // elements of a thread block

struct Entry {
  void* param;
  const void* grad;
  void* state[3];  // NULL where the rule needs none
  int64_t numel;
};
struct Step {
  int32_t tensors;
  bool nesterov, maximize, first, amsgrad, decoupled;
  double lr, momentum, dampening, beta1, beta2, eps, weight_decay, bias1, bias2;
  int64_t blocks_before[kTensors];  // of each tensor
  Entry entry[kTensors];
};

}  // namespace

#ifdef LIBDL_KERNELS

// Four elements in one access, if they are aligned.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T of[4];
};

// The values of one element; those that a rule changes are written back.
template <class T>
struct Element1 {
  T param, grad, state[3];
};

// Constants are rounded to T and every operation is rounded separately, as on the CPU.
template <class T>
struct SgdRule {
  static LIBDL_DEVICE void apply(const Step& s, Element1<T>& e, const bool (&has)[3]) {
    T g = s.maximize ? -e.grad : e.grad;
    if (s.weight_decay != 0) g = g + e.param * static_cast<T>(s.weight_decay);
    if (has[0]) {
      const T momentum = static_cast<T>(s.momentum);
      T m = g;
      if (!s.first) m = e.state[0] * momentum + g * static_cast<T>(1 - s.dampening);
      e.state[0] = m;
      g = s.nesterov ? g + m * momentum : m;
    }
    e.param = e.param - g * static_cast<T>(s.lr);
  }
};

template <class T>
struct AdamRule {
  static LIBDL_DEVICE void apply(const Step& s, Element1<T>& e, const bool (&)[3]) {
    T p = e.param;
    T g = s.maximize ? -e.grad : e.grad;
    if (s.weight_decay != 0) {
      if (s.decoupled) {
        p = p * static_cast<T>(1 - s.lr * s.weight_decay);
      } else {
        g = g + p * static_cast<T>(s.weight_decay);
      }
    }
    T m = e.state[0];
    // m moves towards g; the form depends on the weight so that weight 1 gives g exactly.
    m = 1 - s.beta1 < 0.5 ? m + (g - m) * static_cast<T>(1 - s.beta1)
                          : g - (g - m) * static_cast<T>(s.beta1);
    T v = e.state[1] * static_cast<T>(s.beta2) + g * g * static_cast<T>(1 - s.beta2);
    e.state[0] = m;
    e.state[1] = v;
    if (s.amsgrad) {
      const T top = e.state[2];  // a NaN wins
      v = v > top || (v != v && top == top) ? v : top;
      e.state[2] = v;
    }
    const T denominator =
        Math<T>::sqrt(v) / static_cast<T>(::sqrt(s.bias2)) + static_cast<T>(s.eps);
    e.param = p - m / denominator * static_cast<T>(s.lr / s.bias1);
  }
};

LIBDL_DEVICE bool is_aligned_to(const void* data, size_t unit) {
  return reinterpret_cast<uintptr_t>(data) % unit == 0;
}

// kWidth elements, 1 or 4, from i on.
template <class Rule, class T, class E, int kWidth>
LIBDL_DEVICE void update(const Step& s, const Entry& entry, const bool (&has)[3], int64_t i) {
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
    Element1<T> e{value_of<T>(param[j]), value_of<T>(grad[j]), {}};
    for (int k = 0; k < 3; ++k) e.state[k] = value_of<T>(state[k][j]);
    Rule::apply(s, e, has);
    param[j] = element_of<E>(e.param);
    for (int k = 0; k < 3; ++k) state[k][j] = element_of<E>(e.state[k]);
  }
  write(entry.param, param);
  LIBDL_UNROLL
  for (int k = 0; k < 3; ++k)
    if (has[k]) write(entry.state[k], state[k]);
}

template <class Rule, class T, class E>
LIBDL_DEVICE void step(const Step& s) {
  int low = 0, high = s.tensors;  // the last tensor that begins at or before this block
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (s.blocks_before[middle] <= blockIdx.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const Entry& entry = s.entry[low];
  bool has[3], aligned = is_aligned_to(entry.param, sizeof(Four<E>)) &&
                         is_aligned_to(entry.grad, sizeof(Four<E>));
  for (int k = 0; k < 3; ++k) {
    has[k] = entry.state[k] != nullptr;
    aligned = aligned && is_aligned_to(entry.state[k], sizeof(Four<E>));
  }
  const int64_t start = (int64_t{blockIdx.x} - s.blocks_before[low]) * kChunk;
  const int64_t end = start + kChunk < entry.numel ? start + kChunk : entry.numel;
  const int64_t fours = aligned ? (end - start) / 4 : 0;
  for (int64_t k = threadIdx.x; k < fours; k += blockDim.x)
    update<Rule, T, E, 4>(s, entry, has, start + 4 * k);
  for (int64_t i = start + 4 * fours + threadIdx.x; i < end; i += blockDim.x)
    update<Rule, T, E, 1>(s, entry, has, i);
}

LIBDL_KERNEL(sgd_f16, Step) { step<SgdRule<float>, float, Half>(p); }
LIBDL_KERNEL(sgd_bf16, Step) { step<SgdRule<float>, float, Bfloat>(p); }
LIBDL_KERNEL(sgd_f32, Step) { step<SgdRule<float>, float, float>(p); }
LIBDL_KERNEL(sgd_f64, Step) { step<SgdRule<double>, double, double>(p); }
LIBDL_KERNEL(adam_f16, Step) { step<AdamRule<float>, float, Half>(p); }
LIBDL_KERNEL(adam_bf16, Step) { step<AdamRule<float>, float, Bfloat>(p); }
LIBDL_KERNEL(adam_f32, Step) { step<AdamRule<float>, float, float>(p); }
LIBDL_KERNEL(adam_f64, Step) { step<AdamRule<double>, double, double>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

static_assert(sizeof(Step) <= 4096, "a launch's parameters hold 4 KB");

// A table that is being filled.
struct Table {
  Context& context;
  const char* kernel;
  Step step;
  int64_t blocks = 0;

  void add(const Entry& entry) {
    if (step.tensors == kTensors) send();
    step.blocks_before[step.tensors] = blocks;
    step.entry[step.tensors++] = entry;
    blocks += (entry.numel + kChunk - 1) / kChunk;
  }
  void send() {
    if (step.tensors > 0) launch(context, kernel, {blocks, kThreads, 1}, step);
    step.tensors = 0;
    blocks = 0;
  }
};

void take_step(Context& context, const OptimizerArgs& a, const char* const (&names)[4]) {
  Step step{};
  step.nesterov = a.nesterov;
  step.maximize = a.maximize;
  step.first = a.first;
  step.amsgrad = a.amsgrad;
  step.decoupled = a.decoupled;
  step.lr = a.lr;
  step.momentum = a.momentum;
  step.dampening = a.dampening;
  step.beta1 = a.beta1;
  step.beta2 = a.beta2;
  step.eps = a.eps;
  step.weight_decay = a.weight_decay;
  step.bias1 = a.bias1;
  step.bias2 = a.bias2;
  for (int32_t kind = 0; kind < 4; ++kind) {
    Table table{context, names[kind], step};
    for (int32_t t = 0; t < a.count; ++t) {
      if (a.dtype[t] != LIBDL_DTYPE_FLOAT16 + kind || a.numel[t] == 0) continue;
      Entry entry{a.param[t], a.grad[t], {}, a.numel[t]};
      void* const* const states[] = {a.state1, a.state2, a.state3};
      for (int k = 0; k < 3; ++k)
        if (states[k]) entry.state[k] = states[k][t];
      table.add(entry);
    }
    table.send();
  }
}

}  // namespace

void sgd(Context& context, const OptimizerArgs& a) {
  static constexpr const char* kNames[] = {"sgd_f16", "sgd_bf16", "sgd_f32", "sgd_f64"};
  take_step(context, a, kNames);
}
void adam(Context& context, const OptimizerArgs& a) {
  static constexpr const char* kNames[] = {"adam_f16", "adam_bf16", "adam_f32", "adam_f64"};
  take_step(context, a, kNames);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
