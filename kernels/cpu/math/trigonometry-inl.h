// SPDX-License-Identifier: Apache-2.0

// Sine, cosine and tangent: V is Lanes<double>, Lanes<double, 24> or, but for the tangent,
// Lanes<float>.
#if defined(LIBDL_KERNELS_CPU_MATH_TRIGONOMETRY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_TRIGONOMETRY_INL_H
#undef LIBDL_KERNELS_CPU_MATH_TRIGONOMETRY_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_TRIGONOMETRY_INL_H
#endif

#include <cmath>

#include "kernels/cpu/math/arithmetic-inl.h"
#include "kernels/cpu/math/sixteenths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// f of the lanes where `where` holds, by the system's library; the others keep y.
template <double (*f)(double), class V>
HWY_NOINLINE V repaired(Truth<double> where, V x, V y) {
  HWY_ALIGN double from[HWY_MAX_BYTES / sizeof(double)], to[HWY_MAX_BYTES / sizeof(double)];
  typename V::Tag d;
  hn::Store(x.raw, d, from);
  for (size_t i = 0; i < hn::Lanes(d); ++i) to[i] = f(from[i]);
  return hn::IfThenElse(where.raw, hn::Load(d, to), y.raw);
}

// x = n scale pi/2 + r + low, scale a power of two. pi/2 in parts of 50, 29 and 53 bits: fused, x
// less n times the first is exact for |n| < 2^22, and so is n times the second.
template <class V>
HWY_INLINE V rest_of_turns(V x, V n, double scale, V& low) {
  const V second(scale * 0x1.1a62634p-54);
  const V a = nfma(n, V(scale * 0x1.921fb54442d18p+0), x), r = nfma(n, second, a);
  low = nfma(n, V(scale * -0x1.d747f23e32ed7p-83), nfma(n, second, a - r));
  return r;
}
// x = n pi/2 + r + low, |n| < 2^20. Unfused, n times the first two parts of 33, 33 and 53 bits is
// exact. What is lost in r, up to half its last place, is kept in low.
template <class V>
HWY_INLINE V quarter_turns(V x, V& anchored, V& low) {
  anchored = fma(x, V(0x1.45f306dc9c883p-1), anchor<V>());
  V n = anchored - anchor<V>();
  V a = nfma(n, V(0x1.921fb544p+0), x);
  V b = nfma(n, V(0x1.0b4611a6p-34), a);
  V tail = n * V(0x1.3198a2e037073p-69);
  V r = b - tail;
  V lost = nfma(n, V(0x1.0b4611a6p-34), a - b);
  low = ((b - r) - tail) + lost;
  return r;
}
constexpr double kFewTurns = 0x1p20;  // |x| below it are reduced here

// Whether bit `bit` of the anchored whole number, plus `offset`, is set.
template <class V>
HWY_INLINE Truth<double> has_bit(V anchored, int offset, int bit) {
  auto word = hn::Add(anchored.bits(), V::word(static_cast<uint64_t>(offset)));
  hn::ScalableTag<uint64_t> d;
  return {
      hn::RebindMask(hn::ScalableTag<double>(), hn::TestBit(word, hn::Set(d, uint64_t{1} << bit)))};
}

template <class V>
HWY_INLINE V sin_near_zero(V r, V low) {
  V z = r * r, y = r * z * polynomial(z, coefficients::SinTail::c) + fma(low * z, V(-0.5), low);
  return r + y;
}
template <class V>
HWY_INLINE V cos_near_zero(V r, V low) {
  V z = r * r, half = V(0.5) * z, one(1), w = one - half;
  return w + (((one - w) - half) + (z * z * polynomial(z, coefficients::CosTail::c) - r * low));
}

// The sine of x = n pi + r, or with kQuarter the cosine of x = (n - 1/2) pi + r, is (-1)^n sin(r):
// for 24 bits the longer polynomial costs less than a second one. pi in parts of 33 and 53 bits is
// true to 2^-66 for |n| < 2^20.
template <class V, int kQuarter>
HWY_INLINE V half_turn_sine(V x) {
  const V reciprocal(0x1.45f306dc9c883p-2), half(0.5);
  V anchored, n;
  if constexpr (kQuarter == 0) {
    anchored = fma(x, reciprocal, anchor<V>());
    n = anchored - anchor<V>();
  } else {
    anchored = fma(x, reciprocal, half) + anchor<V>();
    n = (anchored - anchor<V>()) - half;
  }
  V r = nfma(n, V(0x1.0b4611a626331p-33), nfma(n, V(0x1.921fb544p+1), x));
  V z = r * r, y = r * fma(z, polynomial(z, coefficients::HalfTurnTail::c), V(1));
  return V::of_bits(hn::Xor(y.bits(), hn::ShiftLeft<63>(anchored.bits())));
}

// x = n pi / 8 + r + low: row `first` + n of the table, sin(r + low) - r and cos(r) - 1.
template <class V>
struct Sixteenth {
  V row[coefficients::TurnTable::kColumns], r, sin, cos;

  HWY_INLINE Sixteenth(V x, int first) {
    using Near = coefficients::SixteenthTurn;
    const V zero(0x1.8p52 + first);
    const V anchored = fma(x, V(0x1.45f306dc9c883p+1), zero);
    take<coefficients::TurnTable>(Rows<V>(anchored.bits()), row);
    V low;
    r = rest_of_turns(x, anchored - zero, 0.25, low);
    const V z = r * r;
    sin = fma(r * z, polynomial(z, Near::sin), low);
    cos = z * polynomial(z, Near::cos);
  }
  // The sine of x = row[0] + to_sin(), the cosine row[2] + to_cos().
  HWY_INLINE V to_sin() const { return fma(row[2], r, fma(row[2], sin, fma(row[0], cos, row[1]))); }
  HWY_INLINE V to_cos() const {
    return nfma(row[0], r, nfma(row[0], sin, fma(row[2], cos, row[3])));
  }
};

template <class V, int kQuarter>
HWY_INLINE V sine(V x) {
  if constexpr (!kAllBits<V>) {
    return half_turn_sine<V, kQuarter>(x);
  } else if constexpr (LIBDL_FUSED) {
    const Sixteenth<V> at(x, 4 * kQuarter);
    return at.row[0] + at.to_sin();
  } else {
    V n, low, r = quarter_turns(x, n, low);
    V s = sin_near_zero(r, low), c = cos_near_zero(r, low);
    V y = select(has_bit(n, kQuarter, 0), c, s);
    return select(has_bit(n, kQuarter, 1), -y, y);
  }
}

// The sine or cosine of doubles of any size.
template <class V, int kQuarter>
HWY_INLINE V sine_anywhere(V x) {
  V y = sine<V, kQuarter>(x);
  if constexpr (kAllBits<V> && kQuarter == 0) y = select(x == V(), x, y);
  auto far = !(abs(x) < V(kFewTurns));
  if (!any(far)) return y;
  if constexpr (kQuarter == 0) return repaired<std::sin>(far, x, y);
  return repaired<std::cos>(far, x, y);
}
// The sine or cosine of floats, computed in doubles.
template <class V, int kQuarter>
HWY_NOINLINE V sine_in_doubles(V x) {
  using Wide = Lanes<double, 24>;
  const typename Wide::Tag d;
  const hn::Rebind<float, typename Wide::Tag> half;
  HWY_ALIGN float lane[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x.raw, typename V::Tag(), lane);
  for (size_t i = 0; i < hn::Lanes(typename V::Tag()); i += hn::Lanes(d)) {
    const Wide y = sine_anywhere<Wide, kQuarter>(hn::PromoteTo(d, hn::Load(half, lane + i)));
    hn::Store(hn::DemoteTo(half, y.raw), half, lane + i);
  }
  return hn::Load(typename V::Tag(), lane);
}
constexpr float kFewFloatTurns = 0x1p13f;  // |x| below it are reduced here
#if LIBDL_FUSED
// As Sixteenth, in floats: pi / 8 in parts of 24, 12 and 24 bits. Fused, x less n times the first
// is exact, and what is lost with the second is, where it matters: r keeps the rest of it in low.
template <class V, int kQuarter>
HWY_INLINE V float_sine(V x) {
  using Table = coefficients::FloatTurnTable;
  const V zero(0x1.8p23f + 4 * kQuarter), second(0x1.778p-27f);
  const V anchored = fma(x, V(0x1.45f306p+1f), zero), n = anchored - zero;
  const V a = nfma(n, V(0x1.921fb6p-2f), x), r = fma(n, second, a);
  const V low = nfma(n, V(0x1.68c234p-41f), fma(n, second, a - r));
  const auto row = anchored.bits();
  const V s = one_of_eight<V>(Table::c[0], row), c = one_of_eight<V>(Table::c[2], row);
  const V lost = fma(one_of_eight<V>(Table::c[3], row), r, one_of_eight<V>(Table::c[1], row));
  const V z = r * r, sin = fma(r * z, polynomial(z, Table::sin), low);
  const V cos = z * polynomial(z, Table::cos);
  V y = s + fma(c, r, fma(c, sin, fma(s, cos, lost)));
  if constexpr (!kSixteenFloats) {
    y = V::of_bits(hn::Xor(y.bits(), hn::And(hn::ShiftLeft<28>(row), V(-0.0f).bits())));
  }
  return kQuarter == 0 ? select(x == V(), x, y) : y;
}
#endif
template <class V, int kQuarter>
HWY_INLINE V sine_of(V x) {
  if constexpr (kIsDouble<V>) {
    return sine_anywhere<V, kQuarter>(x);
  } else {
#if LIBDL_FUSED
    const V y = float_sine<V, kQuarter>(x);
    auto far = !(abs(x) < V(kFewFloatTurns));
    return any(far) ? select(far, sine_in_doubles<V, kQuarter>(x), y) : y;
#else
    return sine_in_doubles<V, kQuarter>(x);
#endif
  }
}
template <class V>
HWY_INLINE V sin(V x) {
  return sine_of<V, 0>(x);
}
template <class V>
HWY_INLINE V cos(V x) {
  return sine_of<V, 1>(x);
}
// For 24 bits a quotient of polynomials costs less than sine and cosine.
template <class V>
HWY_INLINE V few_bits_tan(V x) {
  V anchored = fma(x, V(0x1.45f306dc9c883p-1), anchor<V>()), n = anchored - anchor<V>();
  V r = nfma(n, V(0x1.0b4611a626331p-34), nfma(n, V(0x1.921fb544p+0), x)), z = r * r;
  V s = r * polynomial(z, coefficients::TanTop::c), c = polynomial(z, coefficients::TanBottom::c);
  auto odd = has_bit(anchored, 0, 0);
  return select(odd, -c, s) * reciprocal(select(odd, s, c));
}
// Fused, the quotient gets back what it, the sine and the cosine lack, some last places: for that a
// reciprocal to 5 % will do, the difference of two words.
template <class V>
HWY_INLINE V tan_inside(V x) {
  V y;
  if constexpr (LIBDL_FUSED) {
    const Sixteenth<V> at(x, 0);
    const V up = at.to_sin(), down = at.to_cos(), s = at.row[0] + up, c = at.row[2] + down;
    const V rough = V::of_bits(hn::Sub(V::word(0x7fde623822fc16e6), c.bits()));
    y = s / c;
    const V lost = nfma(y, (at.row[2] - c) + down, (at.row[0] - s) + up);
    y = fma(nfma(y, c, s) + lost, rough, y);
  } else {
    V n, low, r = quarter_turns(x, n, low);
    V s = sin_near_zero(r, low), c = cos_near_zero(r, low);
    auto odd = has_bit(n, 0, 0);
    y = select(odd, -c, s) / select(odd, s, c);
  }
  return select(x == V(), x, y);
}
template <class V>
HWY_INLINE V tan(V x) {
  V y;
  if constexpr (kAllBits<V>) {
    y = tan_inside(x);
  } else {
    y = few_bits_tan(x);
  }
  auto far = !(abs(x) < V(kFewTurns));
  return any(far) ? repaired<std::tan>(far, x, y) : y;
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
