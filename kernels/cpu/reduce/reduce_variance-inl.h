// SPDX-License-Identifier: Apache-2.0

// Variances and standard deviations.
#if defined(LIBDL_KERNELS_CPU_REDUCE_REDUCE_VARIANCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCE_REDUCE_VARIANCE_INL_H
#undef LIBDL_KERNELS_CPU_REDUCE_REDUCE_VARIANCE_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCE_REDUCE_VARIANCE_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/reduce/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Squared distances from the mean: M reads an element, D its distance, S the square of that.
// Distances as small as the mean's rounding error consist mostly of that error: the mean is
// corrected by it, so that the variance of equal elements is 0.
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

// The standard deviation of floats may be finite and nonzero although the variance overflows or
// underflows (PyTorch adds in double precision): such sums are recomputed with elements times
// 2^exponent.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
