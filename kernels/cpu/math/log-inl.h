// SPDX-License-Identifier: Apache-2.0

// Logarithms of vectors: V is Lanes<float>, Lanes<double> or Lanes<double, 24>.
#if defined(LIBDL_KERNELS_CPU_MATH_LOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_LOG_INL_H
#undef LIBDL_KERNELS_CPU_MATH_LOG_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_LOG_INL_H
#endif

#include <limits>

#include "kernels/cpu/math/arithmetic-inl.h"
#include "kernels/cpu/math/sixteenths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2; for positive finite x.
template <class V>
HWY_INLINE V log_parts(V x, V& k) {
  using W = typename V::Word;
  constexpr W root = kIsDouble<V> ? W(0x3FE6A09E667F3BCD) : W(0x3F3504F3);
  constexpr W one = V::kBias << V::kMantissa;
  constexpr W magic = (V::kBias + V::kMantissa) << V::kMantissa;  // the bits of 2^kMantissa
  V shift;
  if constexpr (kIsDouble<V> == kAllBits<V>) {  // a float is no subnormal double
    auto subnormal = x < V(std::numeric_limits<typename V::Scalar>::min());
    x = select(subnormal, x * V(typename V::Scalar(kIsDouble<V> ? 0x1p54 : 0x1p25)), x);
    shift = select(subnormal, V(typename V::Scalar(kIsDouble<V> ? 54 : 25)), V());
  }
  auto distance = hn::Add(x.bits(), V::word(one - root));
  auto exponent = hn::ShiftRight<V::kMantissa>(distance);
  k = V::of_bits(hn::Or(exponent, V::word(magic))) - V::of_bits(V::word(magic | V::kBias)) - shift;
  auto mantissa = hn::And(distance, V::word((W(1) << V::kMantissa) - 1));
  return V::of_bits(hn::Add(mantissa, V::word(root))) - V(1);
}

// The logarithms of 0, negative numbers, infinity and NaN.
template <class V>
HWY_INLINE V log_limits(V x, V y) {
  y = select(x == infinity<V>(), x, y);
  y = select(x == V(), -infinity<V>(), y);
  return select(x >= V(), y, V(std::numeric_limits<typename V::Scalar>::quiet_NaN()));
}

// log(1 + f) = f - bend: returns bend.
template <class V>
HWY_INLINE V log_bend(V f) {
  V half(typename V::Scalar(0.5));
  if constexpr (kAllBits<V>) {
    V s = f / (f + V(2)), z = s * s, h = half * f * f;
    return h - s * fma(z, tail<coefficients::LogSeries>(z), h);
  } else {
    return f * f * nfma(f, tail<coefficients::LogTail>(f), half);
  }
}

// ln 2 in two parts, k times the first of which is exact.
template <class V>
HWY_INLINE V ln2_high() {
  return V(typename V::Scalar(kIsDouble<V> ? 0x1.62e42feep-1 : 0x1.628p-1));
}
template <class V>
HWY_INLINE V ln2_low() {
  return V(typename V::Scalar(kIsDouble<V> ? 0x1.a39ef35793c76p-33 : 0x1.90bfbep-11));
}

// x = 2^k m with 1 <= m < 2, for positive finite x. AVX-512's instructions also work for the
// others: the logarithm of what they return is infinite or NaN as required.
template <class V>
HWY_INLINE V binary_parts(V x, V& k) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kIsDouble<V>) {
    k = typename V::Raw{_mm512_getexp_pd(x.raw.raw)};
    return typename V::Raw{_mm512_getmant_pd(x.raw.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
  } else {
    k = typename V::Raw{_mm512_getexp_ps(x.raw.raw)};
    return typename V::Raw{_mm512_getmant_ps(x.raw.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
  }
#else
  using T = typename V::Scalar;
  using W = typename V::Word;
  constexpr W mantissa = (W(1) << V::kMantissa) - 1;
  const V magic(static_cast<T>(mantissa + 1)), lift(4 * static_cast<T>(mantissa + 1));
  V bias(static_cast<T>(V::kBias));
  auto word = x.bits();
  const auto subnormal = x < V(std::numeric_limits<T>::min());
  if (any(subnormal)) {
    word = select(subnormal, x * lift, x).bits();
    bias = select(subnormal, bias + V(T(V::kMantissa + 2)), bias);
  }
  k = (V::of_bits(hn::Or(hn::ShiftRight<V::kMantissa>(word), magic.bits())) - magic) - bias;
  return V::of_bits(hn::Or(hn::And(word, V::word(mantissa)), V(1).bits()));
#endif
}
// y for positive finite x, and what binary_parts() leads to on AVX-512 for the others. The root has
// the NaNs of its instructions.
template <class V>
HWY_INLINE V table_log_limits([[maybe_unused]] V x, V y) {
#if HWY_TARGET == HWY_AVX3
  return y;
#else
  const auto inside = (x > V()) & (x < infinity<V>());
  if (!any(!inside)) return y;
  return select(inside, y, select(x == V(), -infinity<V>(), V(hn::Sqrt(x.raw))));
#endif
}
// m f - 1 for f of 7 bits, of floats 5: rounded once also by processors that round products.
template <class V>
HWY_INLINE V near_one(V m, V f) {
#if LIBDL_FUSED
  return fma(m, f, V(-1));
#else
  const V high = V::of_bits(hn::And(m.bits(), V::word(~typename V::Word{255})));
  return (high * f - V(1)) + (m - high) * f;
#endif
}
// Of doubles: log(x) = k log(2) - log(f) + log(1 + r). Near 0 all but the last is nothing, exactly.
template <class Table, class V>
HWY_INLINE V table_log(V x) {
  V k, m = binary_parts(x, k), row[Table::kColumns];
  take<Table>(Rows<V>(hn::ShiftRight<V::kMantissa - 4>(m.bits())), row);
  const V r = near_one(m, row[0]);
  V low = row[2];
  if constexpr (Table::kUnitLow != 0) low = fma(k, V(Table::kUnitLow), low);
  low = fma(r, polynomial(r, Table::q), low);
  const V near = fma(r, V(Table::kFirst), low);
  return table_log_limits(x, fma(k, V(Table::kUnit), row[1]) + near);
}

// log(x) = y + low to 2^-65 of it, for positive finite x: returns y. Sums and products are kept
// whole up to the third power of r; what is smaller than that is rounded.
template <class V>
HWY_INLINE V log_in_two(V x, V& low) {
  using Table = coefficients::LogTable;
  using Power = coefficients::LogOfPower;
  V k, m = binary_parts(x, k), row[Table::kColumns];
  take<Table>(Rows<V>(hn::ShiftRight<V::kMantissa - 4>(m.bits())), row);
  const V near = m * row[0], near_low = fma(m, row[0], -near);
  const V first = fma(k, V(Table::kUnit), row[1]);  // exact; nothing, or larger than r
  const V one_less = near - V(1), r = one_less + near_low, r_low = near_low - (r - one_less);
  const V half = V(-0.5) * r, square = half * r, square_low = fma(half, r, -square);
  const V cube = square * r, cube_low = fma(square_low, r, fma(square, r, -cube));
  const V third = cube * V(Power::kThird);
  const V third_low = fma(cube_low, V(Power::kThird),
                          fma(cube, V(Power::kThirdLow), fma(cube, V(Power::kThird), -third)));
  const V one = first + r, two = one + square, three = two + third;
  V rest = fma(k, V(Table::kUnitLow), row[2]) + (r - (one - first));
  rest = rest + (square - (two - one)) + (third - (three - two));
  rest = rest + nfma(r, r_low, r_low) + square_low + third_low;
  rest = fma(square * square, polynomial(r, Power::q), rest);
  const V y = three + rest;
  low = rest - (y - three);
  return y;
}

// The same of floats, by eight rows in which r is exact.
template <class V>
HWY_INLINE V float_table_log(V x) {
  using Table = coefficients::FloatLogTable;
  V k, m = binary_parts(x, k);
  const auto row = hn::ShiftRight<V::kMantissa - 3>(m.bits());
  const V r = near_one(m, one_of_eight<V>(Table::c[0], row));
  const V low = fma(k, V(Table::kUnitLow), one_of_eight<V>(Table::c[2], row));
  const V near = r + fma(r * r, polynomial(r, Table::q), low);
  return table_log_limits(x, fma(k, V(Table::kUnit), one_of_eight<V>(Table::c[1], row)) + near);
}

template <class V>
HWY_INLINE V log_inside(V x) {
  V k, f = log_parts(x, k);
  V rest = fma(k, ln2_low<V>(), -log_bend(f)) + f;
  return fma(k, ln2_high<V>(), rest);
}
// The same parts of a finite float that is no subnormal; 2^-k too, or zero for the largest k.
template <class V>
struct NearParts {
  V k, f, down;

  explicit HWY_INLINE NearParts(V x) {
    const hn::RebindToSigned<typename V::Tag> whole;
    constexpr uint32_t root = 0x3f3504f3;  // of 1/2, as in log_parts
    auto distance = hn::BitCast(whole, hn::Sub(x.bits(), V::word(root)));
    auto exponent = hn::ShiftRight<V::kMantissa>(distance);
    auto moved = hn::ShiftLeft<V::kMantissa>(exponent);
    k = hn::ConvertTo(typename V::Tag(), exponent);
    f = V(hn::BitCast(typename V::Tag(), hn::Sub(hn::BitCast(whole, x.bits()), moved))) - V(1);
    down = V(hn::BitCast(typename V::Tag(), hn::Sub(hn::BitCast(whole, V(1).bits()), moved)));
  }
  static HWY_INLINE Truth<float> holds(V x) {
    return (x >= V(std::numeric_limits<float>::min())) & (x < infinity<V>());
  }
};
template <class V>
HWY_INLINE V log(V x) {
  if constexpr (kAllBits<V>) {
    return table_log<coefficients::LogTable>(x);
  } else if constexpr (kIsDouble<V>) {
    return log_limits(x, log_inside(x));
  } else {
    return float_table_log(x);
  }
}

// The rounding error c of u = 1 + x is compensated: log(u + c) = log(u) + c / u.
template <class V>
HWY_INLINE V rounding_of_one_plus(V x, V u) {
  V one(1), b = u - one;
  return (one - (u - b)) + (x - b);
}
// Floats: f is x itself where k is 0, and elsewhere 1 / (1 + f) within a hundredth serves.
template <class V>
HWY_INLINE V log1p(V x) {
  V one(1), u = one + x, c = rounding_of_one_plus(x, u), y;
  if constexpr (kIsDouble<V>) {
    c = c / u;
    c = select(abs(c) <= one, c, V());  // u = 0 or infinite
    V k, f = log_parts(u, k);
    V low = fma(k, ln2_low<V>(), c) - log_bend(f);
    y = log_limits(u, fma(k, ln2_high<V>(), f + low));
  } else {
    const NearParts<V> p(u);
    const auto same = p.k == V();
    V f = select(same, x, p.f), inverse = fma(f, V(0x1.d41944p-1f), V(-0x1.14a450p+0f));
    inverse = fma(f, inverse, V(0x1.014770p+0f));
    c = select(same, V(), c * p.down * inverse);
    V low = fma(p.k, ln2_low<V>(), c) - log_bend(f);
    y = fma(p.k, ln2_high<V>(), f + low);
    const auto near = NearParts<V>::holds(u) & (u < V(0x1p100f));
    if (any(!near)) y = select(near, y, log_limits(u, log_inside(u)));
  }
  return select(abs(x) < V(typename V::Scalar(kIsDouble<V> ? 0x1p-54 : 0x1p-25)), x, y);
}

// The logarithm of floats to another base: k * unit + f * ratio + f^2 p(f), the constants in two
// parts.
template <class Base, class V>
HWY_INLINE V float_log_inside(V k, V f) {
  V low = f * fma(f, polynomial(f, Base::c), V(Base::kRatioLow));
  if constexpr (Base::kUnitLow != 0) low = fma(k, V(Base::kUnitLow), low);
  return fma(k, V(Base::kUnitHigh), fma(f, V(Base::kRatioHigh), low));
}
template <class Base, class V>
HWY_INLINE V float_log(V x) {
  const NearParts<V> p(x);
  V y = float_log_inside<Base>(p.k, p.f);
  const auto near = NearParts<V>::holds(x);
  if (!any(!near)) return y;
  V k, f = log_parts(x, k);
  return select(near, y, log_limits(x, float_log_inside<Base>(k, f)));
}
template <class V>
HWY_INLINE V log2(V x) {
  if constexpr (kIsDouble<V>) {
    return table_log<coefficients::Log2Table>(x);
  } else {
    return float_log<coefficients::BaseTwo>(x);
  }
}
template <class V>
HWY_INLINE V log10(V x) {
  if constexpr (kIsDouble<V>) {
    return table_log<coefficients::Log10Table>(x);
  } else {
    return float_log<coefficients::BaseTen>(x);
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
