// SPDX-License-Identifier: Apache-2.0

// Tile functions of classes computed as scalars; the compiler turns the blocks into vectors where
// the instruction set has them.
#if defined(LIBDL_KERNELS_CPU_TILES_TILES_SCALAR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TILES_TILES_SCALAR_INL_H
#undef LIBDL_KERNELS_CPU_TILES_TILES_SCALAR_INL_H
#else
#define LIBDL_KERNELS_CPU_TILES_TILES_SCALAR_INL_H
#endif

#include <complex>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/complex_math.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/scalars.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

using kernels::is_bool;
using kernels::is_complex;
using kernels::is_integer;
using kernels::is_negative;
using kernels::number;
using kernels::power;
using kernels::quotient;
using kernels::select;

// Elementary functions exist for Complex only.
template <class V>
struct Math;
template <>
struct Math<Complex> {
  using System = std::complex<double>;
  static Complex own(System z) { return {z.real(), z.imag()}; }
#define LIBDL_UNARY(name) \
  static Complex name(Complex z) { return own(std::name(System(z.re, z.im))); }
  LIBDL_UNARY(sqrt)
  LIBDL_UNARY(exp)
  LIBDL_UNARY(log)
  LIBDL_UNARY(sin)
  LIBDL_UNARY(cos)
  LIBDL_UNARY(tan)
  LIBDL_UNARY(tanh)
#undef LIBDL_UNARY
#define LIBDL_UNARY(name) \
  static Complex name(Complex z) { return own(kernels::complex_math::name(System(z.re, z.im))); }
  LIBDL_UNARY(exp2)
  LIBDL_UNARY(expm1)
  LIBDL_UNARY(log1p)
  LIBDL_UNARY(log2)
  LIBDL_UNARY(log10)
#undef LIBDL_UNARY
  static Complex rsqrt(Complex z) { return Complex{1, 0} / sqrt(z); }
  static Complex pow(Complex x, Complex y) {
    if ((y.re == 0 && y.im == 0) || (x.re == 1 && x.im == 0)) return {1, 0};
    if (x.re == 0 && x.im == 0 && y.im == 0) return {y.re > 0 ? 0 : INFINITY, 0};
    return own(std::pow(System(x.re, x.im), System(y.re, y.im)));
  }
  static Complex abs(Complex z) { return {std::hypot(z.re, z.im), 0}; }
  static Complex sigmoid(Complex z) { return Complex{1, 0} / (Complex{1, 0} + exp(-z)); }
  static Complex silu(Complex z) { return z * sigmoid(z); }
  static bool isinf(Complex z) { return std::isinf(z.re) || std::isinf(z.im); }
  static bool isfinite(Complex z) { return std::isfinite(z.re) && std::isfinite(z.im); }
};

#define LIBDL_EXPRESSION HWY_INLINE
#include "kernels/expressions.h"
#undef LIBDL_EXPRESSION

// An unaligned value in memory of any type.
template <class T>
struct __attribute__((packed, may_alias)) Anywhere {
  T value;
};

// out may be one of the inputs at the same position: iterations do not depend on each other.
#undef LIBDL_INDEPENDENT
#if defined(__clang__)
#define LIBDL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LIBDL_INDEPENDENT _Pragma("GCC ivdep")
#endif
// With kNumbers the inputs after the first are single numbers.
template <class Op, class V, int kInputs, bool kNumbers = false>
void scalar_tile(const void* const* in, void* out, int64_t n) {
  using Out = std::conditional_t<Op::kTruth, Bool, V>;
  const auto* a = static_cast<const Anywhere<V>*>(in[0]);
  const auto* b = static_cast<const Anywhere<V>*>(in[kInputs > 1 ? 1 : 0]);
  const auto* c = static_cast<const Anywhere<V>*>(in[kInputs > 2 ? 2 : 0]);
  [[maybe_unused]] const V second = b->value, third = c->value;
  auto* y = static_cast<Anywhere<Out>*>(out);
  LIBDL_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kInputs == 1) {
      y[i].value = Out{Op::of(V(a[i].value))};
    } else if constexpr (kInputs == 2 && kNumbers) {
      y[i].value = Out{Op::of(V(a[i].value), second)};
    } else if constexpr (kNumbers) {
      y[i].value = Out{Op::of(V(a[i].value), second, third)};
    } else if constexpr (kInputs == 2) {
      y[i].value = Out{Op::of(V(a[i].value), V(b[i].value))};
    } else {
      y[i].value = Out{Op::of(V(a[i].value), V(b[i].value), V(c[i].value))};
    }
  }
}

#define LIBDL_RESULT_same false
#define LIBDL_RESULT_truth true
#define POINTWISE(name, inputs, classes, result)          \
  struct name##_op {                                      \
    static constexpr bool kTruth = LIBDL_RESULT_##result; \
    template <class... V>                                 \
    static HWY_INLINE auto of(V... x) {                   \
      return expression::name(x...);                      \
    }                                                     \
  };
#include "kernels/pointwise.def"
#undef POINTWISE
#undef LIBDL_RESULT_same
#undef LIBDL_RESULT_truth

// A truth value as the number 1 or 0.
template <class Op>
struct counted {
  static constexpr bool kTruth = false;
  template <class V, class... Others>
  static HWY_INLINE V of(V x, Others... others) {
    return select(Op::of(x, others...), number<V>(1), number<V>(0));
  }
};

template <class Op, class V, int kInputs, bool kExists, bool kNumbers = false>
constexpr TileFn entry() {
  if constexpr (kExists) {
    return &scalar_tile<Op, V, kInputs, kNumbers>;
  } else {
    return nullptr;
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
