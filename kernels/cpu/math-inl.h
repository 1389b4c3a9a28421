// SPDX-License-Identifier: Apache-2.0

// Elementary functions of vectors of double (T = double) and float.
#if defined(LIBDL_KERNELS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_INL_H_
#undef LIBDL_KERNELS_CPU_MATH_INL_H_
#else
#define LIBDL_KERNELS_CPU_MATH_INL_H_
#endif

#include <cmath>

#include "kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// f of each lane, by the system's library in double.
template <class T, double (*f)(double)>
HWY_INLINE Lanes<T> each(Lanes<T> x) {
  HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)];
  typename Lanes<T>::Tag d;
  hn::Store(x.raw, d, lane);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lane[i] = static_cast<T>(f(lane[i]));
  return hn::Load(d, lane);
}
template <class T, double (*f)(double, double)>
HWY_INLINE Lanes<T> each(Lanes<T> x, Lanes<T> y) {
  HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)], other[HWY_MAX_BYTES / sizeof(T)];
  typename Lanes<T>::Tag d;
  hn::Store(x.raw, d, lane);
  hn::Store(y.raw, d, other);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lane[i] = static_cast<T>(f(lane[i], other[i]));
  return hn::Load(d, lane);
}

template <class T>
HWY_INLINE Lanes<T> abs(Lanes<T> x) { return hn::Abs(x.raw); }
template <class T>
HWY_INLINE Lanes<T> sqrt(Lanes<T> x) { return hn::Sqrt(x.raw); }
#if HWY_TARGET == HWY_SCALAR  // there Ceil(0) is -0
#define LIBDL_ROUNDING(name, Highway) \
  template <class T>                  \
  HWY_INLINE Lanes<T> name(Lanes<T> x) { return T(std::name(hn::GetLane(x.raw))); }
#else
#define LIBDL_ROUNDING(name, Highway) \
  template <class T>                  \
  HWY_INLINE Lanes<T> name(Lanes<T> x) { return hn::Highway(x.raw); }
#endif
LIBDL_ROUNDING(floor, Floor)
LIBDL_ROUNDING(ceil, Ceil)
LIBDL_ROUNDING(nearbyint, Round)
LIBDL_ROUNDING(trunc, Trunc)
#undef LIBDL_ROUNDING
template <class T>
HWY_INLINE Lanes<T> round(Lanes<T> x) { return nearbyint(x); }  // half to even
template <class T>
HWY_INLINE Lanes<T> copysign(Lanes<T> x, Lanes<T> y) { return hn::CopySign(x.raw, y.raw); }
template <class T>
HWY_INLINE Lanes<T> fma(Lanes<T> x, Lanes<T> y, Lanes<T> z) { return hn::MulAdd(x.raw, y.raw, z.raw); }
template <class T>
HWY_INLINE Truth<T> isinf(Lanes<T> x) { return abs(x) == Lanes<T>(T(INFINITY)); }
template <class T>
HWY_INLINE Truth<T> isfinite(Lanes<T> x) { return abs(x) < Lanes<T>(T(INFINITY)); }

template <class T>
HWY_INLINE Lanes<T> fmod(Lanes<T> x, Lanes<T> y) { return each<T, std::fmod>(x, y); }
template <class T>
HWY_INLINE Lanes<T> pow(Lanes<T> x, Lanes<T> y) { return each<T, std::pow>(x, y); }
#define LIBDL_EACH(name) \
  template <class T>     \
  HWY_INLINE Lanes<T> name(Lanes<T> x) { return each<T, std::name>(x); }
LIBDL_EACH(exp)
LIBDL_EACH(expm1)
LIBDL_EACH(log)
LIBDL_EACH(log1p)
LIBDL_EACH(log2)
LIBDL_EACH(log10)
LIBDL_EACH(exp2)
LIBDL_EACH(sin)
LIBDL_EACH(cos)
LIBDL_EACH(tan)
LIBDL_EACH(tanh)
LIBDL_EACH(erf)
LIBDL_EACH(erfc)
#undef LIBDL_EACH

template <class T>
HWY_INLINE Lanes<T> sigmoid(Lanes<T> x) {
  Lanes<T> e = exp(-abs(x));
  Lanes<T> one(T(1));
  return select(x < Lanes<T>(), e, one) / (one + e);
}
template <class T>
HWY_INLINE Lanes<T> normal_cdf(Lanes<T> x) {
  return Lanes<T>(T(0.5)) * erfc(x * Lanes<T>(T(-0.70710678118654752440)));
}
template <class T>
HWY_INLINE Lanes<T> normal_density(Lanes<T> x) {
  return exp(Lanes<T>(T(-0.5)) * x * x) * Lanes<T>(T(0.39894228040143267794));
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math

namespace libdl::kernels::cpu::HWY_NAMESPACE {

template <class V>
struct Math;
template <class T>
struct Math<Lanes<T>> {
  using V = Lanes<T>;
#define LIBDL_UNARY(name) \
  static HWY_INLINE auto name(V x) { return math::name(x); }
  LIBDL_UNARY(abs)
  LIBDL_UNARY(sqrt)
  LIBDL_UNARY(floor)
  LIBDL_UNARY(ceil)
  LIBDL_UNARY(round)
  LIBDL_UNARY(trunc)
  LIBDL_UNARY(isinf)
  LIBDL_UNARY(isfinite)
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
  LIBDL_UNARY(normal_cdf)
  LIBDL_UNARY(normal_density)
#undef LIBDL_UNARY
  static HWY_INLINE V fma(V x, V y, V z) { return math::fma(x, y, z); }
  static HWY_INLINE V copysign(V x, V y) { return math::copysign(x, y); }
  static HWY_INLINE V fmod(V x, V y) { return math::fmod(x, y); }
  static HWY_INLINE V pow(V x, V y) { return math::pow(x, y); }
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
