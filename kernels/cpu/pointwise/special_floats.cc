// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pointwise/special_floats.h"

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pointwise/special_floats.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/math/bessel-inl.h"
#include "kernels/cpu/math/gamma-inl.h"
#include "kernels/cpu/math/inverses-inl.h"
#include "kernels/cpu/math/normal-inl.h"
#include "kernels/cpu/math/short_inverses-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace {

using Short = Lanes<double, 24>;
using Long = Lanes<double>;  // where digits may cancel

// log(e^x + e^y): of the larger one and what the distance to the other adds, log(1 + e) = 2 atanh(e
// / (2 + e)) with e = e^-off. Where the sum is small its digits cancel, and all of them count.
template <class V, class Power, class Scale>
HWY_INLINE V sum_of_logarithms(V x, V y, const Power& power, const Scale& in_base) {
  const V top = select(x > y, x, y), e = power(-math::abs(x - y));
  const V s = e * math::reciprocal(e + V(2)), z = s * s;
  const V rest = math::fma(s * z, math::polynomial(z, coefficients::kLogSum), s + s);
  V sum = top + in_base(rest);
  const auto small = math::abs(sum) < V(0x1p-8);
  if (any(small)) sum = select(small, top + in_base(math::log1p(e)), sum);
  return select(x == y, x + in_base(V(std::numbers::ln2)), sum);
}
template <class V>
HWY_INLINE V logaddexp(V x, V y) {
  return sum_of_logarithms(
      x, y, [](V off) HWY_ATTR { return math::exp(off); }, [](V log) HWY_ATTR { return log; });
}
template <class V>
HWY_INLINE V logaddexp2(V x, V y) {
  return sum_of_logarithms(
      x, y, [](V off) HWY_ATTR { return math::exp2(off); },
      [](V log) HWY_ATTR { return log * V(std::numbers::log2e); });
}

template <class V>
HWY_INLINE V load(const float* x) {
  const typename V::Tag d;
  if constexpr (sizeof(typename V::Scalar) == 4) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, typename V::Tag>(), x));
  }
}
template <class V>
HWY_INLINE void store(V y, float* to) {
  if constexpr (sizeof(typename V::Scalar) == 4) {
    hn::StoreU(y.raw, typename V::Tag(), to);
  } else {
#if HWY_TARGET == HWY_SCALAR  // there DemoteTo turns infinity into the largest number
    *to = static_cast<float>(hn::GetLane(y.raw));
#else
    const hn::Rebind<float, typename V::Tag> half;
    hn::StoreU(hn::DemoteTo(half, y.raw), half, to);
#endif
  }
}

// Of one operand or two, a vector at a time.
template <class V, int kInputs, class F>
HWY_INLINE void at(const float* const* in, float* out, int64_t i, const F& f) {
  if constexpr (kInputs == 1) {
    store<V>(f(load<V>(in[0] + i)), out + i);
  } else {
    store<V>(f(load<V>(in[0] + i), load<V>(in[1] + i)), out + i);
  }
}
// Every second vector divides (lanes-inl.h); the last one is filled up.
template <class V, int kInputs, class F>
HWY_INLINE void each(const float* const* in, float* out, int64_t n, const F& f) {
  constexpr int64_t kMost = HWY_MAX_BYTES / sizeof(float);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(typename V::Tag()));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    at<V, kInputs>(in, out, i, f);
    at<typename V::Second, kInputs>(in, out, i + lanes, f);
  }
  for (; i < n; i += lanes) {
    const int64_t here = std::min(lanes, n - i);
    float rest[2][kMost], last[kMost];
    const float* from[2] = {rest[0], rest[1]};
    for (int k = 0; k < kInputs; ++k) {
      std::fill_n(rest[k], kMost, in[k][i]);
      std::copy_n(in[k] + i, here, rest[k]);
    }
    at<V, kInputs>(from, last, 0, f);
    std::copy_n(last, here, out + i);
  }
}

#define OF_ONE(name, V, function)                                              \
  void name(const float* const* in, float* out, int64_t n) {                   \
    each<V, 1>(in, out, n, []<class W>(W x) HWY_ATTR { return function(x); }); \
  }
#define OF_TWO(name, V, function)                                                      \
  void name(const float* const* in, float* out, int64_t n) {                           \
    each<V, 2>(in, out, n, []<class W>(W x, W y) HWY_ATTR { return function(x, y); }); \
  }
OF_ONE(sinh_floats, Short, math::sinh)
OF_ONE(cosh_floats, Short, math::cosh)
OF_ONE(asin_floats, Short, math::asin)
OF_ONE(acos_floats, Short, math::acos)
OF_ONE(atan_floats, Short, math::atan)
OF_ONE(asinh_floats, Short, math::asinh)
OF_ONE(acosh_floats, Short, math::acosh)
OF_ONE(atanh_floats, Short, math::atanh)
OF_ONE(erfc_floats, Short, math::erfc)
OF_ONE(erfcx_floats, Short, math::erfcx)
OF_ONE(erfinv_floats, Short, math::erfinv)
OF_ONE(ndtr_floats, Short, math::ndtr)
OF_ONE(ndtri_floats, Short, math::ndtri)
OF_ONE(log_ndtr_floats, Short, math::log_ndtr)
OF_ONE(i0_floats, Short, math::i0)
OF_ONE(i0e_floats, Short, math::i0e)
OF_ONE(i1_floats, Short, math::i1)
OF_ONE(i1e_floats, Short, math::i1e)
OF_ONE(lgamma_floats, Long, math::lgamma)
OF_ONE(digamma_floats, Long, math::digamma)
OF_TWO(atan2_floats, Short, math::atan2)
OF_TWO(hypot_floats, Short, math::hypot)
OF_TWO(logaddexp_floats, Long, logaddexp)
OF_TWO(logaddexp2_floats, Long, logaddexp2)
constexpr SpecialFloats polygamma_floats = nullptr, igamma_floats = nullptr,
                        igammac_floats = nullptr;

// For results of 16 bits.
OF_ONE(asin_halves, Lanes<float>, math::short_results::asin)
OF_ONE(acos_halves, Lanes<float>, math::short_results::acos)
OF_ONE(atan_halves, Lanes<float>, math::short_results::atan)
OF_ONE(atanh_halves, Lanes<float>, math::short_results::atanh)
#undef OF_ONE
#undef OF_TWO

SpecialFloats floats_of(Special function, bool halves) {
  if (halves) {
    switch (function) {
      case Special::asin: return asin_halves;
      case Special::acos: return acos_halves;
      case Special::atan: return atan_halves;
      case Special::atanh: return atanh_halves;
      default: break;
    }
  }
  switch (function) {
#define SPECIAL(name) \
  case Special::name: return name##_floats;
#include "kernels/special.def"
  }
  return nullptr;
}

void find_floats(Special function, bool halves, SpecialFloats* found) {
  *found = floats_of(function, halves);
}

}  // namespace
}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

SpecialFloats special_floats(Special function, bool halves) {
  SpecialFloats found;
  LIBDL_ON_ISA(find_floats, function, halves, &found);
  return found;
}

}  // namespace libdl::kernels::cpu
#endif
