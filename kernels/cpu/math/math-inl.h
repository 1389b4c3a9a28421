// SPDX-License-Identifier: Apache-2.0

// Math<V> for vectors V: the elementary functions of kernels/expressions.h.
#if defined(LIBDL_KERNELS_CPU_MATH_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_MATH_INL_H
#undef LIBDL_KERNELS_CPU_MATH_MATH_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_MATH_INL_H
#endif

#include <cmath>

#include "kernels/cpu/math/exp-inl.h"
#include "kernels/cpu/math/log-inl.h"
#include "kernels/cpu/math/powers-inl.h"
#include "kernels/cpu/math/sigmoids-inl.h"
#include "kernels/cpu/math/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

template <class V>
struct Math;
template <class T, int kBits, bool kSecond>
struct Math<Lanes<T, kBits, kSecond>> {
  using V = Lanes<T, kBits, kSecond>;
#define LIBDL_UNARY(name) \
  static HWY_INLINE V name(V x) { return math::name(x); }
  LIBDL_UNARY(abs)
  LIBDL_UNARY(sqrt)
  LIBDL_UNARY(rsqrt)
  LIBDL_UNARY(floor)
  LIBDL_UNARY(ceil)
  LIBDL_UNARY(round)
  LIBDL_UNARY(trunc)
  LIBDL_UNARY(exp)
  LIBDL_UNARY(expm1)
  LIBDL_UNARY(log)
  LIBDL_UNARY(log1p)
  LIBDL_UNARY(log2)
  LIBDL_UNARY(log10)
  LIBDL_UNARY(exp2)
  LIBDL_UNARY(sin)
  LIBDL_UNARY(cos)
  LIBDL_UNARY(tan)
  LIBDL_UNARY(tanh)
  LIBDL_UNARY(erf)
  LIBDL_UNARY(sigmoid)
  LIBDL_UNARY(silu)
  LIBDL_UNARY(gelu)
  LIBDL_UNARY(normal_cdf)
  LIBDL_UNARY(normal_density)
#undef LIBDL_UNARY
  static HWY_INLINE V fma(V x, V y, V z) { return math::fma(x, y, z); }
  static HWY_INLINE V at_most(V x, V limit) { return math::at_most(x, limit); }
  static HWY_INLINE V at_least(V x, V limit) { return math::at_least(x, limit); }
  static HWY_INLINE V copysign(V x, V y) { return math::copysign(x, y); }
  static HWY_INLINE V fmod(V x, V y) { return math::fmod(x, y); }
  static HWY_INLINE V pow(V x, V y) { return math::pow(x, y); }
  static HWY_INLINE Truth<T> isinf(V x) { return math::abs(x) == math::infinity<V>(); }
  static HWY_INLINE Truth<T> isfinite(V x) { return math::abs(x) < math::infinity<V>(); }
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
