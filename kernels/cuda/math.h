// SPDX-License-Identifier: Apache-2.0

// The elementary functions of the scalar expressions on the device: CUDA's for float and double
// (bounds in the CUDA programming guide's appendix on mathematical functions, 2 ulp or less), those
// of libcu++ for complex numbers. Included by sources that hold kernels only.
#pragma once

#include <cmath>

#include <cuda/std/complex>

#include "kernels/complex_math.h"
#include "kernels/cuda/device.h"
#include "kernels/pointwise.h"

namespace libdl::kernels::cuda {

LIBDL_DEVICE float select(bool which, float x, float y) { return which ? x : y; }
LIBDL_DEVICE double select(bool which, double x, double y) { return which ? x : y; }
using kernels::select;
LIBDL_DEVICE bool any(bool which) { return which; }

template <class V>
struct Math {  // float and double
  static LIBDL_DEVICE V sqrt(V x) { return ::sqrt(x); }
  static LIBDL_DEVICE V rsqrt(V x) { return V(1) / ::sqrt(x); }
  static LIBDL_DEVICE V exp(V x) { return ::exp(x); }
  static LIBDL_DEVICE V expm1(V x) { return ::expm1(x); }
  static LIBDL_DEVICE V log(V x) { return ::log(x); }
  static LIBDL_DEVICE V log1p(V x) { return ::log1p(x); }
  static LIBDL_DEVICE V log2(V x) { return ::log2(x); }
  static LIBDL_DEVICE V log10(V x) { return ::log10(x); }
  static LIBDL_DEVICE V exp2(V x) { return ::exp2(x); }
  static LIBDL_DEVICE V sin(V x) { return ::sin(x); }
  static LIBDL_DEVICE V cos(V x) { return ::cos(x); }
  static LIBDL_DEVICE V tan(V x) { return ::tan(x); }
  static LIBDL_DEVICE V tanh(V x) { return ::tanh(x); }
  static LIBDL_DEVICE V erf(V x) { return ::erf(x); }
  static LIBDL_DEVICE V floor(V x) { return ::floor(x); }
  static LIBDL_DEVICE V ceil(V x) { return ::ceil(x); }
  static LIBDL_DEVICE V round(V x) { return ::rint(x); }
  static LIBDL_DEVICE V trunc(V x) { return ::trunc(x); }
  static LIBDL_DEVICE V fmod(V x, V y) { return ::fmod(x, y); }
  static LIBDL_DEVICE V pow(V x, V y) { return ::pow(x, y); }
  static LIBDL_DEVICE V abs(V x) { return ::fabs(x); }
  static LIBDL_DEVICE V fma(V x, V y, V z) { return ::fma(x, y, z); }
  // A NaN in x stays.
  static LIBDL_DEVICE V at_most(V x, V limit) { return x > limit ? limit : x; }
  static LIBDL_DEVICE V at_least(V x, V limit) { return x < limit ? limit : x; }
  static LIBDL_DEVICE V copysign(V x, V y) { return ::copysign(x, y); }
  static LIBDL_DEVICE bool isinf(V x) { return ::fabs(x) == V(INFINITY); }
  static LIBDL_DEVICE bool isfinite(V x) { return ::fabs(x) < V(INFINITY); }
  // From the smaller exponential, so that neither end overflows or cancels.
  static LIBDL_DEVICE V sigmoid(V x) {
    const V e = ::exp(-::fabs(x));
    return (x < V(0) ? e : V(1)) / (V(1) + e);
  }
  // The limit at -inf is 0, but the product would be a NaN.
  static LIBDL_DEVICE V silu(V x) {
    const V share = sigmoid(x);
    return share == V(0) ? share : x * share;
  }
  static LIBDL_DEVICE V normal_cdf(V x) { return V(0.5) * ::erfc(-x * V(0.70710678118654752440)); }
  static LIBDL_DEVICE V gelu(V x) {
    const V share = normal_cdf(x);
    return share == V(0) ? share : x * share;
  }
  static LIBDL_DEVICE V normal_density(V x) {
    return V(0.39894228040143267794) * ::exp(V(-0.5) * x * x);
  }
};

template <>
struct Math<Complex> {
  using System = ::cuda::std::complex<double>;
  static LIBDL_DEVICE System of(Complex z) { return {z.re, z.im}; }
  static LIBDL_DEVICE Complex own(System z) { return {z.real(), z.imag()}; }
#define LIBDL_UNARY(name) \
  static LIBDL_DEVICE Complex name(Complex z) { return own(::cuda::std::name(of(z))); }
  LIBDL_UNARY(sqrt)
  LIBDL_UNARY(exp)
  LIBDL_UNARY(log)
  LIBDL_UNARY(sin)
  LIBDL_UNARY(cos)
  LIBDL_UNARY(tan)
  LIBDL_UNARY(tanh)
#undef LIBDL_UNARY
#define LIBDL_UNARY(name) \
  static LIBDL_DEVICE Complex name(Complex z) { return own(complex_math::name(of(z))); }
  LIBDL_UNARY(exp2)
  LIBDL_UNARY(expm1)
  LIBDL_UNARY(log1p)
  LIBDL_UNARY(log2)
  LIBDL_UNARY(log10)
#undef LIBDL_UNARY
  static LIBDL_DEVICE Complex rsqrt(Complex z) { return Complex{1, 0} / sqrt(z); }
  static LIBDL_DEVICE Complex pow(Complex x, Complex y) {
    if ((y.re == 0 && y.im == 0) || (x.re == 1 && x.im == 0)) return {1, 0};
    if (x.re == 0 && x.im == 0 && y.im == 0) return {y.re > 0 ? 0 : INFINITY, 0};
    return own(::cuda::std::pow(of(x), of(y)));
  }
  static LIBDL_DEVICE Complex abs(Complex z) { return {::hypot(z.re, z.im), 0}; }
  static LIBDL_DEVICE Complex sigmoid(Complex z) {
    return Complex{1, 0} / (Complex{1, 0} + exp(-z));
  }
  static LIBDL_DEVICE Complex silu(Complex z) { return z * sigmoid(z); }
  static LIBDL_DEVICE bool isinf(Complex z) {
    return Math<double>::isinf(z.re) || Math<double>::isinf(z.im);
  }
  static LIBDL_DEVICE bool isfinite(Complex z) {
    return Math<double>::isfinite(z.re) && Math<double>::isfinite(z.im);
  }
};

using kernels::is_bool;
using kernels::is_complex;
using kernels::is_integer;
using kernels::is_negative;
using kernels::number;
using kernels::power;
using kernels::quotient;

#define LIBDL_EXPRESSION LIBDL_DEVICE
#include "kernels/expressions.h"
#undef LIBDL_EXPRESSION

// Every expression by its number, for a class that has it; truth values are 1 or 0 of the class.
template <class V>
constexpr char kLetter = is_bool<V>                  ? 'B'
                         : std::is_same_v<V, Int64>  ? 'I'
                         : std::is_same_v<V, Uint64> ? 'U'
                         : is_complex<V>             ? 'C'
                                                     : 'F';

template <class V>
LIBDL_DEVICE V truth_as(V x) {
  return x;
}
template <class V>
LIBDL_DEVICE V truth_as(bool x)
  requires(!std::is_same_v<V, bool>)
{
  return number<V>(x);
}

// Sets `truth` if the result is a truth value.
template <class V>
LIBDL_DEVICE V evaluate(int32_t which, V x, V y, V z, bool& truth) {
  switch (static_cast<Expression>(which)) {
#define LIBDL_RESULT_same false
#define LIBDL_RESULT_truth true
#define POINTWISE(name, inputs, classes, result)                                \
  case Expression::name:                                                        \
    truth = LIBDL_RESULT_##result;                                              \
    if constexpr (has_letter(classes, kLetter<V>)) {                            \
      if constexpr (inputs == 1) return truth_as<V>(expression::name(x));       \
      if constexpr (inputs == 2) return truth_as<V>(expression::name(x, y));    \
      if constexpr (inputs == 3) return truth_as<V>(expression::name(x, y, z)); \
    }                                                                           \
    break;
#include "kernels/pointwise.def"
#undef POINTWISE
#undef LIBDL_RESULT_same
#undef LIBDL_RESULT_truth
  }
  return V{};
}

}  // namespace libdl::kernels::cuda
