// SPDX-License-Identifier: Apache-2.0

// Norms of rows and columns.
#if defined(LIBDL_KERNELS_CPU_REDUCE_REDUCE_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCE_REDUCE_NORM_INL_H
#undef LIBDL_KERNELS_CPU_REDUCE_REDUCE_NORM_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCE_REDUCE_NORM_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/reduce/reduce_run-inl.h"

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
