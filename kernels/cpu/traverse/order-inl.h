// SPDX-License-Identifier: Apache-2.0

// The fixed order in which n values are combined, whatever the vector width: value r belongs to
// lane r % L (64 bytes of lanes); a lane combines 8 values in sequence, then 8 such groups in
// sequence; then the lanes of that block of 64 L values are merged by halves, and the blocks
// pairwise (Tree). The error of a sum stays below 2 log2(n) eps sum|x|.
#if defined(LIBDL_KERNELS_CPU_TRAVERSE_ORDER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TRAVERSE_ORDER_INL_H
#undef LIBDL_KERNELS_CPU_TRAVERSE_ORDER_INL_H
#else
#define LIBDL_KERNELS_CPU_TRAVERSE_ORDER_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/traverse/first-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kSteps = 8;   // values a lane takes in sequence
constexpr int64_t kGroups = 8;  // groups a block takes in sequence

template <class T>
constexpr int64_t kLanes = sizeof(T) == 1 ? 16 : 64 / sizeof(T);
template <class T>
constexpr int64_t kBlock = kLanes<T> * kSteps * kGroups;

// A vector of numbers; for other types a single value.
template <class T>
struct Pack {
  using V = T;
  static constexpr int64_t n = 1;
  static HWY_INLINE V load(const T* p) { return *p; }
  static HWY_INLINE void store(V v, T* p) { *p = v; }
  static HWY_INLINE V set(T x) { return x; }
  static HWY_INLINE T first(V v) { return v; }
};
template <class T>
struct VectorPack {
  using D = hn::CappedTag<T, kLanes<T>>;
  using V = hn::Vec<D>;
  static constexpr int64_t n = hn::MaxLanes(D());
  static HWY_INLINE V load(const T* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE void store(V v, T* p) { hn::StoreU(v, D(), p); }
  static HWY_INLINE V set(T x) { return hn::Set(D(), x); }
  static HWY_INLINE T first(V v) { return hn::GetLane(v); }
};
template <>
struct Pack<float> : VectorPack<float> {};
template <>
struct Pack<double> : VectorPack<double> {};
template <>
struct Pack<int64_t> : VectorPack<int64_t> {};

template <class T>
constexpr bool kIsVector = std::is_floating_point_v<T> || std::is_same_v<T, int64_t>;

#if HWY_TARGET != HWY_SCALAR
// Complex numbers as pairs of lanes.
struct ComplexVector {
  using D = hn::CappedTag<double, 8>;
  hn::Vec<D> raw;

  // Written out: what the compiler makes by itself is not of this target.
  HWY_INLINE ComplexVector() {}
  HWY_INLINE ComplexVector(hn::Vec<D> v) : raw(v) {}

  friend HWY_INLINE ComplexVector operator+(ComplexVector a, ComplexVector x) {
    return {hn::Add(a.raw, x.raw)};
  }
};
template <>
struct Pack<std::complex<double>> {
  using T = std::complex<double>;
  using V = ComplexVector;
  using D = ComplexVector::D;
  static constexpr int64_t n = hn::MaxLanes(D()) / 2;
  static HWY_INLINE V load(const T* p) {
    return {hn::LoadU(D(), reinterpret_cast<const double*>(p))};
  }
  // The first `count` numbers from p, the others from `rest`.
  static HWY_INLINE V load_first(const T* p, int64_t count, V rest) {
    T lane[n];
    store(rest, lane);
    std::copy_n(p, std::min(count, n), lane);
    return load(lane);
  }
  static HWY_INLINE void store(V v, T* p) { hn::StoreU(v.raw, D(), reinterpret_cast<double*>(p)); }
  static HWY_INLINE V set(T x) {
    T lane[n];
    std::fill_n(lane, n, x);
    return load(lane);
  }
  static HWY_INLINE T first(V v) {
    T lane[n];
    store(v, lane);
    return lane[0];
  }
};
HWY_INLINE ComplexVector operator*(ComplexVector a, ComplexVector x) {
  const ComplexVector::D d;
  const auto turned = hn::Mul(hn::Shuffle01(a.raw), hn::DupOdd(x.raw));
  const auto signs = hn::OddEven(hn::Zero(d), hn::Set(d, -0.0));
  const auto y = hn::Add(hn::Mul(a.raw, hn::DupEven(x.raw)), hn::Xor(turned, signs));
  if (HWY_LIKELY(hn::AllFalse(d, hn::IsNaN(y)))) return {y};
  // The scalar product recovers infinities (C, annex G); its neighbours keep their bits.
  using P = Pack<std::complex<double>>;
  P::T left[P::n], right[P::n], product[P::n];
  P::store(a, left);
  P::store(x, right);
  P::store({y}, product);
  for (int64_t i = 0; i < P::n; ++i) {
    if (std::isnan(product[i].real()) || std::isnan(product[i].imag()))
      product[i] = left[i] * right[i];
  }
  return P::load(product);
}
#endif
template <class T>
constexpr bool kInPairs = requires { Pack<T>::load_first; };

// Elements that are T only once they are loaded: the upper half of a float, float16, complex64.
struct StoredBfloat {
  uint16_t bits;
};
struct StoredHalf {
  uint16_t bits;
};
using StoredComplex = std::complex<float>;

// A vector of T from values as they are stored.
template <class T, class S>
HWY_INLINE typename Pack<T>::V load_as(const S* from) {
  using P = Pack<T>;
  if constexpr (std::is_same_v<S, T>) {
    return P::load(from);
#if HWY_TARGET != HWY_SCALAR
  } else if constexpr (std::is_same_v<S, StoredComplex>) {
    const hn::Rebind<float, typename P::D> narrow;
    const auto parts = hn::LoadU(narrow, reinterpret_cast<const float*>(from));
    return {hn::PromoteTo(typename P::D(), parts)};
#endif
  } else if constexpr (std::is_same_v<S, StoredComplex>) {
    return T(*from);
  } else {
    const typename P::D d;
    const hn::Rebind<uint16_t, decltype(d)> halves;
    const auto bits = hn::LoadU(halves, reinterpret_cast<const uint16_t*>(from));
    if constexpr (std::is_same_v<S, StoredHalf>) {
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, decltype(d)>(), bits));
    } else {
      const hn::RebindToUnsigned<decltype(d)> words;
      return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
    }
  }
}
// Up to a vector's values; those beyond `count` are unspecified.
template <class T, class S>
HWY_INLINE typename Pack<T>::V load_first_as(const S* from, int64_t count) {
  S lane[Pack<T>::n] = {};
  std::copy_n(from, std::min(count, Pack<T>::n), lane);
  return load_as<T>(lane);
}

// One value in every lane; only the first lane is used.
template <class T, class S>
HWY_INLINE typename Pack<T>::V all_as(const S* from) {
  if constexpr (std::is_same_v<S, T>) {
    return Pack<T>::set(*from);
  } else {
    return load_first_as<T>(from, 1);
  }
}

struct Sum {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T, class V>
  static HWY_INLINE V apply(V a, V x) {
    if constexpr (kIsVector<T>) {
      return hn::Add(a, x);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x));
    } else {
      return a + x;
    }
  }
  template <class T>
  static HWY_INLINE T one(T a, T x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x));
    }
    return a + x;
  }
};

struct Prod {
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class T, class V>
  static HWY_INLINE V apply(V a, V x) {
    if constexpr (kIsVector<T>) {
      return hn::Mul(a, x);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(x));
    } else {
      return a * x;
    }
  }
  template <class T>
  static HWY_INLINE T one(T a, T x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(x));
    }
    return a * x;
  }
};

// A NaN wins over numbers, and the first NaN is kept.
template <bool kMax>
struct Extreme {
  template <class T>
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (sizeof(T) == 1) return kMax ? 0 : 1;  // bool
    if constexpr (Limits::has_infinity) return kMax ? -Limits::infinity() : Limits::infinity();
    return kMax ? Limits::lowest() : Limits::max();
  }
  template <class T, class V>
  static HWY_INLINE V apply(V a, V x) {
    if constexpr (kIsVector<T> && std::is_integral_v<T>) {
      return kMax ? hn::Max(a, x) : hn::Min(a, x);
    } else if constexpr (kIsVector<T>) {
      const auto better = kMax ? hn::Gt(x, a) : hn::Lt(x, a);
      const auto x_nan = hn::And(hn::IsNaN(x), hn::Eq(a, a));
      return hn::IfThenElse(hn::Or(better, x_nan), x, a);
    } else {
      return one<T>(a, x);
    }
  }
  // The same where x is no NaN: one instruction of x86, whose second operand is the result where
  // the two are equal or either is a NaN.
  template <class T, class V>
  static HWY_INLINE V quick(V a, V x) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return kMax ? hn::Max(x, a) : hn::Min(x, a);
#else
    return hn::IfThenElse(kMax ? hn::Gt(x, a) : hn::Lt(x, a), x, a);
#endif
  }
  template <class T>
  static HWY_INLINE T one(T a, T x) {
    const bool better = kMax ? x > a : x < a;
    return better || (x != x && a == a) ? x : a;
  }
};
using Max = Extreme<true>;
using Min = Extreme<false>;

// Whether C has a quick form, valid if no value is a NaN.
template <class C, class T>
constexpr bool kQuick = false;
template <bool kMax>
constexpr bool kQuick<Extreme<kMax>, float> = true;
template <bool kMax>
constexpr bool kQuick<Extreme<kMax>, double> = true;

// C in its quick form, noting any NaN that it sees; or C itself. Values come in pairs.
template <class C, class T, bool kIsQuick>
struct Taker {
  using V = typename Pack<T>::V;
  HWY_INLINE Taker() {}  // an implicit one would be compiled for the baseline
  HWY_INLINE void see(V, V) {}
  HWY_INLINE bool fails() const { return false; }
  static HWY_INLINE V join(V a, V x) { return C::template apply<T>(a, x); }
};
template <class C, class T>
struct Taker<C, T, true> {
  using V = typename Pack<T>::V;
  using D = typename Pack<T>::D;
  hn::Mask<D> nan;
  HWY_INLINE Taker() : nan(hn::IsNaN(hn::Zero(D()))) {}
  HWY_INLINE void see(V a, V b) { nan = hn::Or(nan, either_nan(a, b)); }
  HWY_INLINE bool fails() const { return !hn::AllFalse(D(), nan); }
  static HWY_INLINE V join(V a, V x) { return C::template quick<T>(a, x); }

  static HWY_INLINE hn::Mask<D> either_nan(V a, V b) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(T) == 4) {
      return {_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_UNORD_Q)};
    } else {
      return {_mm512_cmp_pd_mask(a.raw, b.raw, _CMP_UNORD_Q)};
    }
#elif HWY_TARGET == HWY_AVX2
    if constexpr (sizeof(T) == 4) {
      return hn::MaskFromVec(V{_mm256_cmp_ps(a.raw, b.raw, _CMP_UNORD_Q)});
    } else {
      return hn::MaskFromVec(V{_mm256_cmp_pd(a.raw, b.raw, _CMP_UNORD_Q)});
    }
#else
    return hn::Or(hn::IsNaN(a), hn::IsNaN(b));
#endif
  }
};

// What is combined: a function of the value and one parameter per row.
struct Plain {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V) {
    return x;
  }
};
struct Magnitude {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V) {
    return hn::Abs(x);
  }
};
struct Square {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V) {
    return hn::Mul(x, x);
  }
};
struct Centred {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V mean) {
    return hn::Sub(x, mean);
  }
};
struct CentredSquare {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V mean) {
    const V d = hn::Sub(x, mean);
    return hn::Mul(d, d);
  }
};
struct NotZero {
  template <class T, class V>
  static HWY_INLINE V apply(V x, V) {
    return hn::IfThenZeroElse(hn::Eq(x, Pack<T>::set(0)), Pack<T>::set(1));  // a NaN counts
  }
};

// Combines the second half of the lanes into the first.
template <int64_t kHalf, class C, class T>
HWY_INLINE void merge_half(T* lane) {
  if constexpr (kIsVector<T>) {
    const hn::CappedTag<T, kHalf> d;
    constexpr int64_t kN = hn::MaxLanes(d);
    for (int64_t l = 0; l < kHalf; l += kN) {
      hn::StoreU(C::template apply<T>(hn::LoadU(d, lane + l), hn::LoadU(d, lane + kHalf + l)), d,
                 lane + l);
    }
  } else {
    for (int64_t l = 0; l < kHalf; ++l) lane[l] = C::template one<T>(lane[l], lane[l + kHalf]);
  }
}

// Merges lanes [0, count) by halves; missing lanes are skipped.
template <class C, class T>
HWY_INLINE T merge_lanes(T* lane, int64_t count) {
  if (count == kLanes<T>) {
    if constexpr (kLanes<T> == 16) merge_half<8, C>(lane);
    if constexpr (kLanes<T> >= 8) merge_half<4, C>(lane);
    merge_half<2, C>(lane);
    return C::template one<T>(lane[0], lane[1]);
  }
  for (int64_t half = kLanes<T> / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l + half < count; ++l)
      lane[l] = C::template one<T>(lane[l], lane[l + half]);
    if (count > half) count = half;
  }
  return lane[0];
}

// All lanes of the vectors of a block, merged by halves.
template <class C, class T>
HWY_INLINE T merge_packs(typename Pack<T>::V* total) {
  using P = Pack<T>;
  constexpr int64_t kPacks = kLanes<T> / P::n;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (kIsVector<T>) {
    const auto join = [](auto a, auto b) HWY_ATTR { return C::template apply<T>(a, b); };
    const hn::CappedTag<T, 32 / sizeof(T)> d256;
    const hn::CappedTag<T, 16 / sizeof(T)> d128;
    hn::Vec<hn::CappedTag<T, 32 / sizeof(T)>> half;
    if constexpr (kPacks == 1) {
      half = join(hn::LowerHalf(d256, total[0]), hn::UpperHalf(d256, total[0]));
    } else {
      half = join(total[0], total[1]);
    }
    auto quarter = join(hn::LowerHalf(d128, half), hn::UpperHalf(d128, half));
    if constexpr (sizeof(T) == 4) {
      quarter = join(quarter, hn::Shuffle1032(quarter));
      return hn::GetLane(join(quarter, hn::Shuffle2301(quarter)));
    } else {
      return hn::GetLane(join(quarter, hn::Shuffle01(quarter)));
    }
  }
#endif
  alignas(64) T lane[kLanes<T>];
  for (int64_t k = 0; k < kPacks; ++k) P::store(total[k], lane + k * P::n);
  return merge_lanes<C, T>(lane, kLanes<T>);
}

// Pack k of kLanes values, of which the first `count` exist; the lanes beyond come from `rest`.
template <class M, class T, class S, class V>
HWY_INLINE V load_lanes(const S* x, int64_t count, int64_t k, V parameter, V rest) {
  using P = Pack<T>;
  const int64_t here = count - k * P::n;
  if (here <= 0) return rest;
  if constexpr (kIsVector<T>) {
    const typename P::D d;
    const auto there = hn::FirstN(d, static_cast<size_t>(here < P::n ? here : P::n));
    V v;
    if constexpr (std::is_same_v<S, T>) {
      v = first::load(d, here, x + k * P::n);
    } else {
      v = load_first_as<T>(x + k * P::n, here);
    }
    return hn::IfThenElse(there, M::template apply<T>(v, parameter), rest);
  } else if constexpr (kInPairs<T>) {
    T lane[P::n];
    for (int64_t l = 0; l < std::min(here, P::n); ++l) lane[l] = T(x[k * P::n + l]);
    return P::load_first(lane, here, rest);  // M is Plain
  } else {
    return M::template apply<T>(T(x[k]), parameter);
  }
}

// Everything but the merging of lanes for a block of at least kLanes values; false if the quick
// form fails.
template <class C, class M, class T, bool kIsQuick, class S>
HWY_INLINE bool combine_lanes(const S* x, int64_t count, T parameter, typename Pack<T>::V* total) {
  using P = Pack<T>;
  using V = typename P::V;
  constexpr int64_t kPacks = kLanes<T> / P::n;
  const auto p = P::set(parameter);
  const auto identity = P::set(C::template identity<T>());
  Taker<C, T, kIsQuick> taker;
  V sum[kPacks];
  const auto at = [&](int64_t step, int64_t k) HWY_ATTR {
    return M::template apply<T>(load_as<T>(x + step * kLanes<T> + k * P::n), p);
  };
  for (int64_t k = 0; k < kPacks; ++k) total[k] = identity;
  // Whole groups of kSteps values per lane.
  const int64_t full = count / kLanes<T>;
  int64_t step = 0;
  for (; step + kSteps <= full; step += kSteps, x += kSteps * kLanes<T>) {
    for (int64_t k = 0; k < kPacks; ++k) sum[k] = identity;
    for (int64_t s = 0; s < kSteps; s += 2) {
      for (int64_t k = 0; k < kPacks; ++k) {
        const V a = at(s, k), b = at(s + 1, k);
        taker.see(a, b);
        sum[k] = taker.join(taker.join(sum[k], a), b);
      }
    }
    for (int64_t k = 0; k < kPacks; ++k) total[k] = taker.join(total[k], sum[k]);
  }
  // An incomplete last group: whole steps, then one with fewer lanes.
  const int64_t rest = count % kLanes<T>;
  if (step < full || rest > 0) {
    for (int64_t k = 0; k < kPacks; ++k) sum[k] = identity;
    const auto take = [&](V v, int64_t k) HWY_ATTR {
      taker.see(v, v);
      sum[k] = taker.join(sum[k], v);
    };
    for (; step < full; ++step, x += kLanes<T>) {
      for (int64_t k = 0; k < kPacks; ++k) take(at(0, k), k);
    }
    for (int64_t k = 0; rest > 0 && k < kPacks; ++k) {
      take(load_lanes<M, T>(x, rest, k, p, identity), k);
    }
    for (int64_t k = 0; k < kPacks; ++k) total[k] = taker.join(total[k], sum[k]);
  }
  return !taker.fails();
}

// One block of at most kBlock contiguous values.
template <class C, class M, class T, class S>
HWY_INLINE T combine_block(const S* x, int64_t count, T parameter) {
  using P = Pack<T>;
  constexpr int64_t kPacks = kLanes<T> / P::n;
  const auto p = P::set(parameter);
  const auto identity = P::set(C::template identity<T>());
  alignas(64) T lane[kLanes<T>];
  if (count <= 2) {  // without going through memory
    T pair[2] = {};
    for (int64_t l = 0; l < count; ++l) {
      const auto v = M::template apply<T>(all_as<T>(x + l), p);
      pair[l] = P::first(C::template apply<T>(identity, v));
    }
    if (count == 0) return C::template identity<T>();
    return count == 1 ? pair[0] : C::template one<T>(pair[0], pair[1]);
  }
  if (count < kLanes<T>) {
    for (int64_t k = 0; k < kPacks; ++k) {
      const auto v = load_lanes<M, T>(x, count, k, p, identity);
      P::store(C::template apply<T>(identity, v), lane + k * P::n);
    }
    return merge_lanes<C, T>(lane, count);
  }
  typename P::V total[kPacks];
  if (!combine_lanes<C, M, T, kQuick<C, T>>(x, count, parameter, total)) {
    combine_lanes<C, M, T, false>(x, count, parameter, total);
  }
  return merge_packs<C, T>(total);
}

// Results of blocks, merged pairwise as they arrive: level k holds 2^k of them.
template <class C, class T>
struct Tree {
  T node[60];
  int64_t count = 0;

  HWY_INLINE void push(T x) {
    int depth = __builtin_popcountll(count);
    for (int64_t c = count++; c & 1; c >>= 1) x = C::template one<T>(node[--depth], x);
    node[depth] = x;
  }
  HWY_INLINE T result() const {
    int depth = __builtin_popcountll(count);
    if (depth == 0) return C::template identity<T>();
    T x = node[--depth];
    while (depth > 0) x = C::template one<T>(node[--depth], x);
    return x;
  }
};

// combine_block where the call is little beside it: its code is large.
template <class C, class M, class T, class S>
HWY_NOINLINE T combine_one_block(const S* x, int64_t count, T parameter) {
  return combine_block<C, M, T>(x, count, parameter);
}

// n contiguous values in the order of this file.
template <class C, class M, class T, class S>
HWY_INLINE T combine_blocks(const S* x, int64_t n, T parameter) {
  if (n <= kBlock<T>) return combine_one_block<C, M, T>(x, n, parameter);
  Tree<C, T> tree;
  for (int64_t i = 0; i < n; i += kBlock<T>) {
    tree.push(combine_one_block<C, M, T>(x + i, n - i < kBlock<T> ? n - i : kBlock<T>, parameter));
  }
  return tree.result();
}

// The same where there may be few.
template <class C, class M, class T, class S>
HWY_INLINE T combine(const S* x, int64_t n, T parameter) {
  if (n <= kBlock<T>) return combine_block<C, M, T>(x, n, parameter);
  return combine_blocks<C, M, T>(x, n, parameter);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
