// SPDX-License-Identifier: Apache-2.0

// Tile functions of floating-point numbers, put into tables by tiles_f32.cc, tiles_f64.cc and
// tiles_short.cc.
#if defined(LIBDL_KERNELS_CPU_TILES_TILES_FLOAT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TILES_TILES_FLOAT_INL_H
#undef LIBDL_KERNELS_CPU_TILES_TILES_FLOAT_INL_H
#else
#define LIBDL_KERNELS_CPU_TILES_TILES_FLOAT_INL_H
#endif

#include <atomic>
#include <type_traits>

#include "kernels/cpu/math/math-inl.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/first-inl.h"
#include "kernels/scalars.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

using kernels::is_bool;
using kernels::is_complex;
using kernels::is_integer;
template <class V>
HWY_INLINE V number(int n) {
  return V(static_cast<typename V::Scalar>(n));
}
#define LIBDL_EXPRESSION HWY_INLINE
#include "kernels/expressions.h"
#undef LIBDL_EXPRESSION

// Writes truth values of vectors V as bytes.
template <class V>
struct TruthMemory {
  using D = typename V::Tag;
  using Bytes = hn::Rebind<uint8_t, D>;

  static HWY_INLINE hn::Vec<Bytes> bytes(Truth<typename V::Scalar> x) {
    hn::Rebind<int32_t, D> words;
    V ones = select(x, V(1), V(0));
    if constexpr (sizeof(typename V::Scalar) == 8) {
      return hn::DemoteTo(Bytes(), hn::DemoteTo(words, ones.raw));
    } else {
      return hn::DemoteTo(Bytes(), hn::ConvertTo(words, ones.raw));
    }
  }
  static HWY_INLINE void store(Truth<typename V::Scalar> x, uint8_t* to) {
    hn::StoreU(bytes(x), Bytes(), to);
  }
  static HWY_INLINE void store(Truth<typename V::Scalar> x, uint8_t* to, size_t n) {
    HWY_ALIGN uint8_t lane[HWY_MAX_BYTES];
    hn::StoreU(bytes(x), Bytes(), lane);
    for (size_t i = 0; i < n; ++i) to[i] = lane[i];
  }
};

// Reads and writes T in memory as vectors of V's scalar, which is T or the wider type.
template <class V, class T>
struct Memory : TruthMemory<V> {
  using D = typename V::Tag;
  using Stored = hn::Rebind<T, D>;
  using Number = T;  // the type of an input that is a single number
  using TruthMemory<V>::store;
  static constexpr bool kSame = std::is_same_v<T, typename V::Scalar>;

  static HWY_INLINE V widen(hn::Vec<Stored> x) {
    if constexpr (kSame) {
      return V(x);
    } else {
      return V(hn::PromoteTo(D(), x));
    }
  }
  static HWY_INLINE hn::Vec<Stored> narrow(V x) {
    if constexpr (kSame) {
      return x.raw;
    } else {
#if HWY_TARGET == HWY_SCALAR  // there DemoteTo turns infinity into the largest number
      return hn::Set(Stored(), static_cast<T>(hn::GetLane(x.raw)));
#else
      return hn::DemoteTo(Stored(), x.raw);
#endif
    }
  }
  static HWY_INLINE V load(const T* from) { return widen(hn::LoadU(Stored(), from)); }
  static HWY_INLINE V load(const T* from, size_t n) {
    return widen(first::load(Stored(), static_cast<int64_t>(n), from));
  }
  static HWY_INLINE void store(V x, T* to) { hn::StoreU(narrow(x), Stored(), to); }
  static HWY_INLINE void store(V x, T* to, size_t n) {
    first::store(narrow(x), Stored(), static_cast<int64_t>(n), to);
  }
};

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
  template <class... V>
  static HWY_INLINE auto of(V... x) {
    using First = std::common_type_t<V...>;
    return select(Op::of(x...), number<First>(1), number<First>(0));
  }
};

// Op::of(V...) over n elements of T, computed in vectors V. With kNumbers the inputs after the
// first are single numbers, which stay in registers.
template <class Op, class V, class T, int kInputs, bool kNumbers = false>
void tile(const void* const* in, void* out, int64_t count) {
  using M = Memory<V, T>;
  using Out = std::conditional_t<Op::kTruth, uint8_t, T>;
  const T* a = static_cast<const T*>(in[0]);
  [[maybe_unused]] const T* b = kInputs > 1 ? static_cast<const T*>(in[1]) : nullptr;
  [[maybe_unused]] const T* c = kInputs > 2 ? static_cast<const T*>(in[2]) : nullptr;
  [[maybe_unused]] V second, third;
  if constexpr (kNumbers) {
    using Number = typename M::Number;
    second = V(static_cast<typename V::Scalar>(*static_cast<const Number*>(in[1])));
    if constexpr (kInputs > 2) {
      third = V(static_cast<typename V::Scalar>(*static_cast<const Number*>(in[2])));
    }
  }
  Out* to = static_cast<Out*>(out);
  const size_t step = hn::Lanes(typename V::Tag());
  const size_t n = static_cast<size_t>(count);
  // `rest` is empty or the number of elements left.
  const auto at = [&](size_t i, auto... rest) __attribute__((always_inline)) {
    if constexpr (kInputs == 1) {
      return Op::of(M::load(a + i, rest...));
    } else if constexpr (kInputs == 2 && kNumbers) {
      return Op::of(M::load(a + i, rest...), second);
    } else if constexpr (kInputs == 2) {
      return Op::of(M::load(a + i, rest...), M::load(b + i, rest...));
    } else if constexpr (kNumbers) {
      return Op::of(M::load(a + i, rest...), second, third);
    } else {
      return Op::of(M::load(a + i, rest...), M::load(b + i, rest...), M::load(c + i, rest...));
    }
  };
  const auto second_at = [&](size_t i) __attribute__((always_inline)) {
    if constexpr (kInputs != 1) {
      return at(i);
    } else if constexpr (Op::kTruth) {
      return Op::of(M::load(a + i));
    } else {
      return V(Op::of(typename V::Second(M::load(a + i).raw)).raw);
    }
  };
  // In this order: if vectors cross cache lines the processor merges stores to rising addresses.
  const auto store_both = [&](const auto& y, const auto& z, size_t i)
                              __attribute__((always_inline)) {
                                M::store(y, to + i);
                                std::atomic_signal_fence(std::memory_order_seq_cst);
                                M::store(z, to + i + step);
                              };
  size_t i = 0;
  if constexpr (kInputs == 1 || kNumbers) {
    // The slow unit computes one root of doubles in the time in which Newton steps compute three.
    constexpr bool kSlow = std::is_same_v<Op, sqrt_op> && sizeof(typename V::Scalar) == 8;
    for (; i + (kSlow ? 4 : 2) * step <= n; i += 2 * step) {
      if constexpr (kSlow) {
        const auto y = at(i), z = at(i + step);
        store_both(y, z, i);
        i += 2 * step;
      }
      const auto y = at(i), z = second_at(i + step);
      store_both(y, z, i);
    }
  }
  for (; i + step <= n; i += step) M::store(at(i), to + i);
  const size_t rest = n - i;
  if (rest != 0) M::store(at(i, rest), to + i, rest);
}

template <class Op, class V, class T, int kInputs, bool kExists>
constexpr TileFn entry() {
  if constexpr (kExists) {
    return &tile<Op, V, T, kInputs>;
  } else {
    return nullptr;
  }
}

template <class Op, class V, class T, int kInputs, bool kExists>
constexpr TileFn counted_entry() {
  if constexpr (kExists && Op::kTruth) {
    return &tile<counted<Op>, V, T, kInputs>;
  } else {
    return nullptr;
  }
}

struct cube_op {
  static constexpr bool kTruth = false;
  template <class V>
  static HWY_INLINE V of(V x) {
    if constexpr (sizeof(typename V::Scalar) == 8) {
      return x * x * x;
    } else {
      return of_floats(x);
    }
  }
  // The square and its rounding error: the cube is then rounded once, to within half an ulp plus
  // 2^-24 ulp. The error itself must not underflow or overflow.
  template <class V>
  static HWY_INLINE V of_floats(V x) {
    const V square = x * x, lost = math::fma(x, x, -square);
    const V a = math::abs(x);
    if (math::any_outside(a, V(0x1p-33f), V(0x1p43f))) {
      const auto safe = ((V(0x1p-33f) <= a) & (a < V(0x1p43f))) | (x == V());
      if (any(!safe)) return of_doubles(x);
    }
    return math::fma(square, x, lost * x);
  }
  template <class V>
  static HWY_NOINLINE V of_doubles(V x) {
    HWY_ALIGN float lane[HWY_MAX_BYTES / sizeof(float)];
    const typename V::Tag d;
    hn::Store(x.raw, d, lane);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      const double y = static_cast<double>(lane[i]);
      lane[i] = static_cast<float>(y * y * y);
    }
    return hn::Load(d, lane);
  }
};
#if LIBDL_FUSED
template <class V, class T>
using CubeLanes = Lanes<T>;
#else
template <class V, class T>
using CubeLanes = V;
#endif
// A power with a fixed exponent; squares and cubes give the same bits as pow() (powers-inl.h).
template <class V, class T>
void power_tile(const void* const* in, void* out, int64_t n) {
  const T exponent = *static_cast<const T*>(in[1]);
  if (exponent == 2) return tile<square_op, Lanes<T>, T, 1>(in, out, n);
  if (exponent == 3) return tile<cube_op, CubeLanes<V, T>, T, 1>(in, out, n);
  tile<pow_op, V, T, 2, true>(in, out, n);
}

// The tile function with single numbers after the first input, or NULL: only for expressions that
// are commonly used with numbers and are limited by memory bandwidth.
template <Expression e, class Op, class V, class T, int kInputs>
constexpr TileFn number_entry() {
  using enum Expression;
  if constexpr (e == pow) {
    return &power_tile<V, T>;
  } else if constexpr (e == add || e == sub || e == mul || e == div || e == clamp || e == elu ||
                       e == leaky_relu || e == softplus || e == hardtanh || e == prelu) {
    return &tile<Op, V, T, kInputs, true>;
  } else {
    return nullptr;
  }
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
