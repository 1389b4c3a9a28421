// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/exp_shifted-inl.h"
#include "kernels/cpu/reduce_locate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void norm(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const double p = job.args->number;
  const int64_t width = job.width(unit);
  if (p == 0) return pass<Sum, NotZero, T>(job, unit, none, result);
  if (p == 1) return pass<Sum, Magnitude, T>(job, unit, none, result);
  if (p == std::numeric_limits<double>::infinity()) {
    pass<Max, Magnitude, T>(job, unit, none, result);
    if (job.n == 0) std::fill_n(result, width, T(0));
    return;
  }
  if (p == -std::numeric_limits<double>::infinity()) {
    return pass<Min, Magnitude, T>(job, unit, none, result);
  }
  if (p == 2) {
    pass<Sum, Square, T>(job, unit, none, result);
    for (int64_t i = 0; i < width; ++i) result[i] = std::sqrt(result[i]);
    return;
  }
  pass<Sum, Plain, T>(job, unit, none, result);
  for (int64_t i = 0; i < width; ++i) {
    result[i] = static_cast<T>(std::pow(static_cast<double>(result[i]), 1 / p));
  }
}

// The squared distances from the mean: M reads an element, D its distance, S that one's square.
// Distances as small as the mean's rounding error are mostly that error: the mean gets it back, so
// that the variance of equal elements is 0.
template <class M, class D, class S, class T>
void squared_distances(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  const auto n = static_cast<T>(job.n);
  T mean[kWidth<T>], error[kWidth<T>];
  pass<Sum, M, T>(job, unit, none, mean);
  for (int64_t i = 0; i < width; ++i) mean[i] /= n;
  pass<Sum, S, T>(job, unit, mean, result);
  bool lost = false;
  for (int64_t i = 0; i < width; ++i) {
    const T rounding = 16 * std::numeric_limits<T>::epsilon() * mean[i];
    lost |= result[i] > 0 && result[i] <= n * rounding * rounding;
  }
  if (!lost) return;
  pass<Sum, D, T>(job, unit, mean, error);
  for (int64_t i = 0; i < width; ++i) mean[i] += error[i] / n;
  pass<Sum, S, T>(job, unit, mean, result);
}

// A deviation of floats may be one where its square is infinite or nothing (PyTorch adds in double
// precision): such sums are formed once more, of elements times 2^exponent.
template <int exponent>
void rescue(const Job<float>& job, int64_t unit, const float* none, double freedom,
            const bool* wanted, float* result) {
  float sum[kWidth<float>];
  squared_distances<Scaled<exponent>, ScaledCentred<exponent>, ScaledCentredSquare<exponent>>(
      job, unit, none, sum);
  for (int64_t i = 0; i < job.width(unit); ++i) {
    if (!wanted[i]) continue;
    const double variance = std::ldexp(static_cast<double>(sum[i]), -2 * exponent) / freedom;
    result[i] = static_cast<float>(job.args->root ? std::sqrt(variance) : variance);
  }
}

template <class T>
void variance(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  squared_distances<Plain, Centred, CentredSquare>(job, unit, none, result);
  const double freedom = std::max(0.0, static_cast<double>(job.n) - job.args->number);
  [[maybe_unused]] bool over[kWidth<T>], under[kWidth<T>], any_over = false, any_under = false;
  for (int64_t i = 0; i < width; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      any_over |= over[i] = !(result[i] <= std::numeric_limits<float>::max());
      any_under |= under[i] = result[i] < 0x1p-80f;
    }
    result[i] /= static_cast<T>(freedom);
    if (job.args->root) result[i] = std::sqrt(result[i]);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (any_over) rescue<-96>(job, unit, none, freedom, over, result);
    if (any_under) rescue<96>(job, unit, none, freedom, under, result);
  }
}

template <class T>
void logsumexp(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  T top[kWidth<T>], shift[kWidth<T>];
  pass<Max, Plain, T>(job, unit, none, top);
  for (int64_t i = 0; i < width; ++i) shift[i] = std::isinf(top[i]) ? 0 : top[i];
  pass<Sum, ShiftedExp, T>(job, unit, shift, result);
  for (int64_t i = 0; i < width; ++i) {
    result[i] = std::isinf(top[i]) ? top[i] : std::log(result[i]) + top[i];
  }
}

template <class T>
void values(const Job<T>& job, int64_t unit, T* result) {
  static constexpr T none[kWidth<T>] = {};
  const auto op = static_cast<Reduction>(job.args->op);
  if constexpr (std::is_same_v<T, Complex>) {
    if (op == Reduction::kProd) return pass<Prod, Plain, T>(job, unit, none, result);
    return pass<Sum, Plain, T>(job, unit, none, result);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    if (op == Reduction::kAny) return pass<Max, Plain, T>(job, unit, none, result);
    return pass<Min, Plain, T>(job, unit, none, result);
  } else {
    switch (op) {
      case Reduction::kProd:
        return pass<Prod, Plain, T>(job, unit, none, result);
      case Reduction::kMax:
        return pass<Max, Plain, T>(job, unit, none, result);
      case Reduction::kMin:
        return pass<Min, Plain, T>(job, unit, none, result);
      default:
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      switch (op) {
        case Reduction::kNorm:
          return norm(job, unit, none, result);
        case Reduction::kVar:
          return variance(job, unit, none, result);
        case Reduction::kLogsumexp:
          return logsumexp(job, unit, none, result);
        default:
          break;
      }
    }
    pass<Sum, Plain, T>(job, unit, none, result);
  }
}

template <class T>
void finish_values(const Job<T>& job, int64_t unit) {
  T result[kWidth<T>];
  values(job, unit, result);
  const View& out = job.args->out;
  if (job.out.ndim == 0) return store_tile(out.data, out.dtype, 1, result, 1);
  store_range(result, static_cast<char*>(out.data), out.dtype, dtype_bytes(out.dtype), job.out,
              job.first(unit), job.width(unit));
}

// Contiguous rows of T, one result each.
template <class C, class T>
void plain_rows(const Job<T>& job, int64_t first, int64_t last) {
  const auto* in = static_cast<const T*>(job.args->in.data) + first * job.kept.inner_stride();
  auto* out = static_cast<T*>(job.args->out.data) + first * job.out.inner_stride();
  for (int64_t unit = first; unit < last; ++unit) {
    *out = combine<C, Plain, T>(in, job.n, T(0));
    in += job.kept.inner_stride();
    out += job.out.inner_stride();
  }
}

template <class T>
using Finish = void (*)(const Job<T>& job, int64_t first, int64_t last);

template <class T>
Finish<T> finish_for(const Job<T>& job) {
  const auto op = static_cast<Reduction>(job.args->op);
  if (op == Reduction::kArgmax || op == Reduction::kArgmin || op == Reduction::kMaxIndex ||
      op == Reduction::kMinIndex) {
    return [](const Job<T>& j, int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) finish_index<T>(j, unit);
    };
  }
  if constexpr (kIsVector<T>) {
    const bool plain =
        job.direct && !job.columns && !job.split && job.kept.ndim <= 1 && job.out.ndim <= 1 &&
        job.args->out.dtype == job.args->in.dtype &&
        (job.reduced.ndim == 0 || (job.reduced.ndim == 1 && job.reduced.strides[0] == 1));
    if (plain && op == Reduction::kSum) return plain_rows<Sum, T>;
    if (plain && op == Reduction::kMax) return plain_rows<Max, T>;
    if (plain && op == Reduction::kMin) return plain_rows<Min, T>;
  }
  return [](const Job<T>& j, int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) finish_values<T>(j, unit);
  };
}

template <class T>
void run(Context& context, const ReduceArgs& args, Load load) {
  const Job<T> job(context, args, load);
  struct Task {
    const Job<T>* job;
    Finish<T> finish;
    int64_t grain;
  } task{&job, finish_for(job), 1};
  if (job.split || job.rows * job.n < 4 * kGrain) return task.finish(job, 0, job.units);
  const int64_t each = std::max<int64_t>(1, job.n * job.rows / std::max<int64_t>(1, job.units));
  task.grain = std::max<int64_t>(1, kGrain / each);
  context.parallel(
      context.pool, (job.units + task.grain - 1) / task.grain,
      [](void* arg, int64_t first, int64_t last) {
        const Task& t = *static_cast<Task*>(arg);
        t.finish(*t.job, first * t.grain, std::min(last * t.grain, t.job->units));
      },
      &task);
}

bool is_complex(int32_t dtype) { return dtype >= LIBDL_DTYPE_COMPLEX64; }

void run_in(int32_t dtype, Context& context, const ReduceArgs& args, Load load) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32:
      return run<float>(context, args, load);
    case LIBDL_DTYPE_FLOAT64:
      return run<double>(context, args, load);
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128:
      return run<Complex>(context, args, load);
    case LIBDL_DTYPE_UINT64:
      return run<uint64_t>(context, args, load);
    default:
      return run<int64_t>(context, args, load);
  }
}

void reduce_on(Context& context, const ReduceArgs& args) {
  switch (static_cast<Reduction>(args.op)) {
    case Reduction::kAll:
    case Reduction::kAny:
      return run<uint8_t>(context, args, Load::kPlain);
    case Reduction::kNorm: {
      const double p = args.number;
      const bool power = p != 0 && p != 1 && p != 2 && !std::isinf(p);
      if (is_complex(args.in.dtype)) {
        return run<double>(context, args, power ? Load::kPower : Load::kModulus);
      }
      return run_in(args.out.dtype, context, args, power ? Load::kPower : Load::kPlain);
    }
    case Reduction::kSum:
    case Reduction::kProd:
    case Reduction::kVar:
    case Reduction::kLogsumexp:
      return run_in(args.out.dtype, context, args, Load::kPlain);
    default:
      return run_in(args.in.dtype, context, args, Load::kPlain);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void reduce(Context& context, const ReduceArgs& args) { LIBDL_ON_ISA(reduce_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
