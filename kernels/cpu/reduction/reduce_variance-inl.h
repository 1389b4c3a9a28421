// SPDX-License-Identifier: Apache-2.0

// Variances and standard deviations.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_VARIANCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_VARIANCE_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_VARIANCE_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_VARIANCE_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Squared distances from the mean. The mean is rounded, and by its error e every sum of n squares
// is too large by n e e. Where that may show, e is found as the mean of the distances, and taken
// off. Distances as small as e consist mostly of it: there the mean is corrected first, so that the
// variance of equal elements is 0.
template <class T>
void squared_distances(const Job<T>& job, int64_t unit, const T* none, T* result) {
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  const int64_t width = job.width(unit);
  const auto n = static_cast<T>(job.n);
  T mean[kWidth<T>], error[kWidth<T>], again[kWidth<T>];
  bool shows[kWidth<T>], lost[kWidth<T>], any_shows = false, any_lost = false;
  pass<Sum, Plain, T>(job, unit, none, mean);
  for (int64_t i = 0; i < width; ++i) mean[i] /= n;
  pass<Sum, CentredSquare, T>(job, unit, mean, result);
  for (int64_t i = 0; i < width; ++i) {
    const T rounding = 16 * kEpsilon * mean[i], most = n * rounding * rounding;
    any_shows |= shows[i] = result[i] > 0 && result[i] * kEpsilon <= most;
    any_lost |= lost[i] = result[i] > 0 && result[i] <= most;
  }
  if (!any_shows) return;
  pass<Sum, Centred, T>(job, unit, mean, error);
  if (any_lost) {
    for (int64_t i = 0; i < width; ++i)
      if (lost[i]) mean[i] += error[i] / n;
    pass<Sum, CentredSquare, T>(job, unit, mean, again);
    for (int64_t i = 0; i < width; ++i)
      if (lost[i]) result[i] = again[i];
    pass<Sum, Centred, T>(job, unit, mean, error);
  }
  for (int64_t i = 0; i < width; ++i) {
    if (!shows[i]) continue;
    const T rest = result[i] - error[i] * (error[i] / n);
    result[i] = rest < 0 ? T(0) : rest;  // a NaN stays
  }
}

// The standard deviation may be finite and nonzero although the variance overflows or underflows:
// such sums are recomputed with elements times 2^exponent.
template <class T>
void rescue(const Job<T>& job, int64_t unit, const T* none, double freedom, int exponent,
            const bool* wanted, T* result) {
  T sum[kWidth<T>], scale[kWidth<T>];
  std::fill_n(scale, kWidth<T>, std::ldexp(T(1), exponent));
  squared_distances(job.scaled(scale), unit, none, sum);
  for (int64_t i = 0; i < job.width(unit); ++i) {
    if (!wanted[i] || !(sum[i] >= 0))
      continue;  // large elements that are equal have a variance of 0
    const double variance = static_cast<double>(sum[i]) / freedom;
    result[i] = static_cast<T>(job.args->root ? std::ldexp(std::sqrt(variance), -exponent)
                                              : std::ldexp(variance, -2 * exponent));
  }
}

template <class T>
void variance(const Job<T>& job, int64_t unit, const T* none, T* result) {
  constexpr int exponent = std::is_same_v<T, float> ? 96 : 600;
  constexpr T least = std::is_same_v<T, float> ? T(0x1p-80f) : T(0x1p-900);
  const int64_t width = job.width(unit);
  squared_distances(job, unit, none, result);
  const double freedom = std::max(0.0, static_cast<double>(job.n) - job.args->number);
  bool over[kWidth<T>], under[kWidth<T>], any_over = false, any_under = false;
  for (int64_t i = 0; i < width; ++i) {
    any_over |= over[i] = !(result[i] <= std::numeric_limits<T>::max());
    any_under |= under[i] = result[i] < least;
    result[i] /= static_cast<T>(freedom);
    if (job.args->root) result[i] = std::sqrt(result[i]);
  }
  if (any_over) rescue(job, unit, none, freedom, -exponent, over, result);
  if (any_under) rescue(job, unit, none, freedom, exponent, under, result);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
