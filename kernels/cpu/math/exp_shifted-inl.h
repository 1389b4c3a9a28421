// SPDX-License-Identifier: Apache-2.0

// e^x for x <= 0, as softmax needs it: half the cost of the general function.
#if defined(LIBDL_KERNELS_CPU_MATH_EXP_SHIFTED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_EXP_SHIFTED_INL_H
#undef LIBDL_KERNELS_CPU_MATH_EXP_SHIFTED_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_EXP_SHIFTED_INL_H
#endif

#include "hwy/contrib/math/math-inl.h"
#include "kernels/cpu/math/math_coefficients.h"
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Within 2 ulp; results below the smallest normal number are 0. x may exceed 0 by rounding errors.
template <class T, class V>
HWY_INLINE V exp_nonpositive(V x) {
  const typename Pack<T>::D d;
  if constexpr (sizeof(T) == 8) {
    return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);  // Highway's exp(NaN) is 0
  } else {
    const hn::RebindToSigned<decltype(d)> word;
    // x = n ln 2 + r: the sum with 1.5 * 2^23 holds n in its last bits; ln 2 in two parts, the
    // first short, so that its product with n is exact without fma.
    const V anchor = hn::Set(d, 0x1.8p23f);
    const V anchored = hn::MulAdd(x, hn::Set(d, 0x1.715476p+0f), anchor);
    const V n = hn::Sub(anchored, anchor);
    V r = hn::MulAdd(n, hn::Set(d, -coefficients::kLn2First), x);
    r = hn::MulAdd(n, hn::Set(d, -coefficients::kLn2Second), r);
    // (e^r - 1 - r) / r^2 interpolated at the Chebyshev nodes of |r| <= ln(2)/2: error 8e-9.
    V p = hn::MulAdd(r, hn::Set(d, 0x1.6d1224p-10f), hn::Set(d, 0x1.120c88p-7f));
    p = hn::MulAdd(r, p, hn::Set(d, 0x1.555518p-5f));
    p = hn::MulAdd(r, p, hn::Set(d, 0x1.5554dcp-3f));
    p = hn::MulAdd(r, p, hn::Set(d, 0.5f));
    p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
    const auto exponent = hn::Add(hn::BitCast(word, anchored), hn::Set(word, 127));
    const V y = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), y);  // a NaN stays
  }
}

struct ShiftedExp {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V shift) {
    return exp_nonpositive<T>(hn::Sub(x, shift));
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
