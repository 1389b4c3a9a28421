// SPDX-License-Identifier: Apache-2.0

// Norms of rows and columns.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_NORM_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_NORM_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_NORM_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// A sum of powers that overflowed, or is so small that terms may have vanished on the way.
template <class T>
bool is_lost(T sum) {
  constexpr T tiny = std::is_same_v<T, float> ? T(0x1p-80f) : T(0x1p-900);
  return sum < tiny || sum == std::numeric_limits<T>::infinity();
}

// Powers of elements, as Load::kPower fetches them. Not Plain, which has ways of its own to read
// elements that nobody raises to a power.
struct Power : Plain {};

// Euclidean norms of elements times a power of two of each column's own.
template <class T>
void scaled_roots(const Job<T>& job, int64_t unit, const T* none, const T* largest,
                  const bool* lost, T* result) {
  T scale[kWidth<T>], sum[kWidth<T>];
  int exponent[kWidth<T>];
  for (int64_t i = 0; i < job.width(unit); ++i) {
    // Those of subnormal numbers are cut off: their scale would be infinite.
    exponent[i] =
        lost[i] ? std::min(-std::ilogb(largest[i]), std::numeric_limits<T>::max_exponent - 1) : 0;
    scale[i] = std::ldexp(T(1), exponent[i]);
  }
  pass<Sum, Square, T>(job.scaled(scale), unit, none, sum);
  for (int64_t i = 0; i < job.width(unit); ++i) {
    if (lost[i]) result[i] = std::ldexp(std::sqrt(sum[i]), -exponent[i]);
  }
}

// Sums of (|x| / unit_length)^p, one element after the other.
template <class T>
void shares_to_power(const Job<T>& job, int64_t unit, const T* unit_length, double* sum) {
  alignas(64) T tile[std::max(kBlock<T>, kWidth<T>)];
  const int64_t width = job.width(unit), rows = job.columns ? 1 : kBlock<T>;
  std::fill_n(sum, width, 0.0);
  for (int64_t r = 0; r < job.n; r += rows) {
    const int64_t count = job.columns ? width : std::min(rows, job.n - r);
    if (job.columns) {
      job.fetch(tile, job.base(unit) + job.reduced.offset(r) * job.bytes, job.kept.inner_stride(),
                count);
    } else {
      job.fetch_row(tile, job.base(unit), r, count);
    }
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = job.columns ? k : 0;
      const double share =
          static_cast<double>(std::abs(tile[k])) / static_cast<double>(unit_length[i]);
      sum[i] += std::pow(share, job.args->number);
    }
  }
}

// Norms whose sums are lost although they themselves may be numbers of T: again, with the largest
// magnitude as the unit (the smallest, if p is negative).
template <class T>
void rescue(const Job<T>& job, int64_t unit, const T* none, bool* lost, T* result) {
  const double p = job.args->number;
  Job<T> plain = job;
  if (job.load == Load::kPower) {
    plain.load = job.is_complex() ? Load::kModulus : Load::kPlain;
    plain.direct = plain.load == Load::kPlain && Job<T>::is_element(job.args->in.dtype);
  }
  T size[kWidth<T>];
  Job<T> sized = plain;  // in any order
  sized.reduced =
      Dims::by_stride(job.args->in, job.args->in.ndim - job.args->reduced, job.args->in.ndim);
  if (p > 0) {
    pass<Max, Magnitude, T>(sized, unit, none, size);
  } else {
    pass<Min, Magnitude, T>(sized, unit, none, size);
  }
  bool any = false;
  for (int64_t i = 0; i < job.width(unit); ++i) {
    lost[i] = lost[i] && size[i] > 0 && size[i] <= std::numeric_limits<T>::max();
    any |= lost[i];
  }
  if (!any) return;
  if (p == 2) return scaled_roots(plain, unit, none, size, lost, result);
  double sum[kWidth<T>];
  shares_to_power(plain, unit, size, sum);
  for (int64_t i = 0; i < job.width(unit); ++i) {
    if (lost[i]) result[i] = static_cast<T>(static_cast<double>(size[i]) * std::pow(sum[i], 1 / p));
  }
}

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
  } else {
    pass<Sum, Power, T>(job, unit, none, result);
  }
  bool lost[kWidth<T>], any_lost = false;
  for (int64_t i = 0; i < width; ++i) {
    any_lost |= lost[i] = is_lost(result[i]);
    result[i] = p == 2 ? std::sqrt(result[i])
                       : static_cast<T>(std::pow(static_cast<double>(result[i]), 1 / p));
  }
  if (any_lost && job.n > 0) rescue(job, unit, none, lost, result);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
