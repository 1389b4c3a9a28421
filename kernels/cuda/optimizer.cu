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
  OptimizerOptions options;
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
#define LIBDL_RULE LIBDL_DEVICE
#include "kernels/optimizer_rules.h"
#undef LIBDL_RULE

LIBDL_DEVICE bool is_aligned_to(const void* data, size_t unit) {
  return reinterpret_cast<uintptr_t>(data) % unit == 0;
}

// kWidth elements, 1 or 4, from i on.
template <class Rule, class T, class E, int kWidth>
LIBDL_DEVICE void update(const Rule& rule, const Entry& entry, const bool (&has)[3], int64_t i) {
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
    rules::Element<T> e{value_of<T>(param[j]), value_of<T>(grad[j]), {}};
    for (int k = 0; k < 3; ++k) e.state[k] = value_of<T>(state[k][j]);
    rule(e);
    param[j] = element_of<E>(e.param);
    for (int k = 0; k < 3; ++k) state[k][j] = element_of<E>(e.state[k]);
  }
  write(entry.param, param);
  LIBDL_UNROLL
  for (int k = 0; k < 3; ++k)
    if (has[k]) write(entry.state[k], state[k]);
}

template <template <class> class Rule, class T, class E>
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
  const Rule<T> rule(s.options);
  const int64_t fours = aligned ? (end - start) / 4 : 0;
  for (int64_t k = threadIdx.x; k < fours; k += blockDim.x)
    update<Rule<T>, T, E, 4>(rule, entry, has, start + 4 * k);
  for (int64_t i = start + 4 * fours + threadIdx.x; i < end; i += blockDim.x)
    update<Rule<T>, T, E, 1>(rule, entry, has, i);
}

#define LIBDL_STEPS(name, Rule)                                            \
  LIBDL_KERNEL(name##_f16, Step) { step<rules::Rule, float, Half>(p); }    \
  LIBDL_KERNEL(name##_bf16, Step) { step<rules::Rule, float, Bfloat>(p); } \
  LIBDL_KERNEL(name##_f32, Step) { step<rules::Rule, float, float>(p); }   \
  LIBDL_KERNEL(name##_f64, Step) { step<rules::Rule, double, double>(p); }
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
  step.options = a.options;
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

#define LIBDL_STEPS(name)                                                             \
  void name(Context& context, const OptimizerArgs& a) {                               \
    take_step(context, a, {#name "_f16", #name "_bf16", #name "_f32", #name "_f64"}); \
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
