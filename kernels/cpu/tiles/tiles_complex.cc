// SPDX-License-Identifier: Apache-2.0

// The complex expressions. Arithmetic goes by vectors of real and imaginary parts, in doubles for
// complex64 too; the elementary functions are scalar code on the system's library.
#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_complex.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/convert_value.h"
#include "kernels/cpu/math/arithmetic-inl.h"
#include "kernels/cpu/tiles/tiles_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has one lane
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr D d;
HWY_INLINE int64_t pairs() { return static_cast<int64_t>(hn::Lanes(d) / 2); }

// Lanes 2k and 2k + 1 are a number's real and imaginary part. Every operation is that of
// kernels/scalars.h, rounded where it rounds: bits do not depend on the instruction set.
struct Pairs {
  V raw;

  // Written out: what the compiler makes by itself is not of this target.
  HWY_INLINE Pairs() {}
  HWY_INLINE Pairs(V v) : raw(v) {}
};
HWY_INLINE V evens() {  // all bits of the even lanes
  const hn::RebindToUnsigned<D> u;
  const auto ones = hn::Set(u, ~uint64_t{0});
  return hn::BitCast(d, hn::OddEven(hn::Zero(u), ones));
}
HWY_INLINE Pairs one() { return {hn::And(evens(), hn::Set(d, 1))}; }
HWY_INLINE V signs(V which) { return hn::And(which, hn::Set(d, -0.0)); }
HWY_INLINE V swapped(V x) { return hn::Shuffle01(x); }
HWY_INLINE V negated(V x) { return hn::Xor(x, hn::Set(d, -0.0)); }
HWY_INLINE V less_even(V x, V y) {  // x - y in the even lanes, x + y in the odd ones
  return hn::Add(x, hn::Xor(y, signs(evens())));
}
HWY_INLINE Pairs operator+(Pairs x, Pairs y) { return {hn::Add(x.raw, y.raw)}; }
HWY_INLINE Pairs operator-(Pairs x, Pairs y) { return {hn::Sub(x.raw, y.raw)}; }
HWY_INLINE Pairs operator-(Pairs x) { return {negated(x.raw)}; }
HWY_INLINE Pairs operator*(Pairs x, Pairs y) {
  return {
      less_even(hn::Mul(x.raw, hn::DupEven(y.raw)), hn::Mul(swapped(x.raw), hn::DupOdd(y.raw)))};
}
// x * y where the products of their parts are exact, as of complex64: a fused sum rounds as often.
HWY_INLINE Pairs exact_product(Pairs x, Pairs y) {
#if HWY_TARGET == HWY_AVX3
  return {V{_mm512_fmaddsub_pd(x.raw.raw, hn::DupEven(y.raw).raw,
                               hn::Mul(swapped(x.raw), hn::DupOdd(y.raw)).raw)}};
#elif HWY_TARGET == HWY_AVX2
  return {V{_mm256_fmaddsub_pd(x.raw.raw, hn::DupEven(y.raw).raw,
                               hn::Mul(swapped(x.raw), hn::DupOdd(y.raw)).raw)}};
#else
  return x * y;
#endif
}
// Smith's division.
HWY_INLINE Pairs operator/(Pairs x, Pairs y) {
  const V re = hn::DupEven(y.raw), im = hn::DupOdd(y.raw);
  const auto real = hn::Ge(hn::Abs(re), hn::Abs(im));
  const V large = hn::IfThenElse(real, re, im), small = hn::IfThenElse(real, im, re);
  const V ratio = hn::Div(small, large);
  const V scale = hn::Div(hn::Set(d, 1), hn::Add(large, hn::Mul(small, ratio)));
  // (x.im, -x.re)
  const V turned = hn::Xor(swapped(x.raw), hn::AndNot(evens(), hn::Set(d, -0.0)));
  const V first = hn::IfThenElse(real, x.raw, turned), second = hn::IfThenElse(real, turned, x.raw);
  const V y0 = hn::Mul(hn::Add(first, hn::Mul(second, ratio)), scale);
  const auto zero = hn::And(hn::Eq(re, hn::Zero(d)), hn::Eq(im, hn::Zero(d)));
  if (HWY_LIKELY(hn::AllFalse(d, zero))) return {y0};
  return {hn::IfThenElse(zero, hn::Div(x.raw, hn::Abs(re)), y0)};
}

// A number's modulus as its real part, where squares neither overflow nor underflow: of complex64.
HWY_INLINE Pairs modulus(Pairs x) {
  const V square = hn::Mul(x.raw, x.raw);
  const V size = hn::Sqrt(hn::Add(square, swapped(square)));
  const V a = hn::Abs(x.raw), infinity = hn::Set(d, INFINITY);
  const V most = hn::IfThenElse(hn::Eq(a, infinity), a, swapped(a));
  return {hn::And(evens(), hn::IfThenElse(hn::Eq(most, infinity), infinity, size))};
}

// x / y of complex64: the squares of its parts neither overflow nor underflow, so one real division
// is enough. Where y is 0, infinite or a NaN, and for the signs of zeros, the other division tells.
HWY_INLINE Pairs quotient_of_floats(Pairs x, Pairs y) {
  const V square = hn::Mul(y.raw, y.raw), size = hn::Add(square, swapped(square));
  const Pairs turned{hn::Xor(y.raw, hn::AndNot(evens(), hn::Set(d, -0.0)))};
  const V inverse = math::reciprocal(Lanes<double>(size)).raw;
  const V y0 = hn::Mul((x * turned).raw, inverse), zero = hn::Zero(d);
  const auto unusual = hn::Or(hn::Eq(size, zero), hn::Eq(y0, zero));
  const auto finite = hn::Lt(size, hn::Set(d, INFINITY));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::AndNot(unusual, finite)))) return x / y;
  return {y0};
}
HWY_INLINE Pairs direction(Pairs x) {
  const V size = hn::DupEven(modulus(x).raw);
  return {hn::IfThenZeroElse(hn::Eq(size, hn::Zero(d)), hn::Div(x.raw, size))};
}

// From the nearer end, as kernels/expressions.h has it.
HWY_INLINE Pairs interpolated(Pairs x, Pairs end, Pairs weight) {
  const Pairs way = end - x, rest = one() - weight;
  const V size = hn::DupEven(modulus(weight).raw);
  const auto near = hn::Lt(size, hn::Set(d, 0.5));
  return {hn::IfThenElse(near, (x + weight * way).raw, (end - way * rest).raw)};
}

// All bits where both parts are equal. As numbers, truths are 1 and 0.
HWY_INLINE V same(Pairs x, Pairs y) {
  const V parts = hn::VecFromMask(d, hn::Eq(x.raw, y.raw));
  return hn::And(parts, swapped(parts));
}

#define LIBDL_COMPLEX(name, expression)  \
  struct name##_pairs {                  \
    template <class... P>                \
    static HWY_INLINE Pairs of(P... p) { \
      const Pairs x[] = {p...};          \
      return expression;                 \
    }                                    \
  };
LIBDL_COMPLEX(add, x[0] + x[1])
LIBDL_COMPLEX(sub, x[0] - x[1])
LIBDL_COMPLEX(add_scaled, x[0] + x[1] * x[2])
LIBDL_COMPLEX(mul, x[0] * x[1])
LIBDL_COMPLEX(mul_of_floats, exact_product(x[0], x[1]))
LIBDL_COMPLEX(div, x[0] / x[1])
LIBDL_COMPLEX(neg, -x[0])
LIBDL_COMPLEX(square, x[0] * x[0])
LIBDL_COMPLEX(square_of_floats, exact_product(x[0], x[0]))
LIBDL_COMPLEX(reciprocal, one() / x[0])
LIBDL_COMPLEX(div_of_floats, quotient_of_floats(x[0], x[1]))
LIBDL_COMPLEX(reciprocal_of_floats, quotient_of_floats(one(), x[0]))
LIBDL_COMPLEX(conj, Pairs{hn::Xor(x[0].raw, hn::AndNot(evens(), hn::Set(d, -0.0)))})
LIBDL_COMPLEX(abs, modulus(x[0]))
LIBDL_COMPLEX(sgn, direction(x[0]))
LIBDL_COMPLEX(lerp, interpolated(x[0], x[1], x[2]))
LIBDL_COMPLEX(eq, Pairs{hn::And(same(x[0], x[1]), one().raw)})
LIBDL_COMPLEX(ne, Pairs{hn::AndNot(same(x[0], x[1]), one().raw)})
LIBDL_COMPLEX(cube, x[0] * x[0] * x[0])
#undef LIBDL_COMPLEX

// T is float or double: the parts as they lie in memory.
template <class T>
HWY_INLINE Pairs load(const void* from, int64_t i) {
  const T* at = static_cast<const T*>(from) + 2 * i;
  if constexpr (sizeof(T) == 8) {
    return {hn::LoadU(d, at)};
  } else {
    return {hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), at))};
  }
}
template <class T>
HWY_INLINE void store(Pairs x, void* to, int64_t i) {
  T* at = static_cast<T*>(to) + 2 * i;
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(x.raw, d, at);
  } else {
    const hn::Rebind<float, D> f;
    hn::StoreU(hn::DemoteTo(f, x.raw), f, at);
  }
}

// The inputs after the first are one complex number each, of two Numbers; void: they vary, too.
template <class Op, class T, int kInputs, class Number = void>
void pairs_tile(const void* const* in, void* out, int64_t n) {
  constexpr bool kNumbers = !std::is_void_v<Number>;
  Pairs number[3];
  if constexpr (kNumbers) {
    for (int k = 1; k < kInputs; ++k) {
      Number parts[2];
      double many[hn::MaxLanes(d)];
      std::memcpy(parts, in[k], sizeof(parts));
      for (size_t l = 0; l < hn::MaxLanes(d); ++l) many[l] = static_cast<double>(parts[l % 2]);
      number[k].raw = hn::LoadU(d, many);
    }
  }
  const auto at = [&](const void* const* from, int64_t i) HWY_ATTR {
    const auto operand = [&](int k) HWY_ATTR {
      return kNumbers && k > 0 ? number[k] : load<T>(from[k], i);
    };
    if constexpr (kInputs == 1) return Op::of(operand(0));
    if constexpr (kInputs == 2) return Op::of(operand(0), operand(1));
    if constexpr (kInputs == 3) return Op::of(operand(0), operand(1), operand(2));
  };
  int64_t i = 0;
  for (; i + pairs() <= n; i += pairs()) store<T>(at(in, i), out, i);
  if (i == n) return;
  T rest[kInputs][hn::MaxLanes(d)] = {}, y[hn::MaxLanes(d)];
  const void* from[kInputs];
  const size_t bytes = static_cast<size_t>(n - i) * 2 * sizeof(T);
  for (int k = 0; k < kInputs; ++k) {
    from[k] = rest[k];
    if (!kNumbers || k == 0) {
      std::memcpy(rest[k], static_cast<const T*>(in[k]) + 2 * i, bytes);
    }
  }
  store<T>(at(from, 0), y, 0);
  std::memcpy(static_cast<T*>(out) + 2 * i, y, bytes);
}

// 1 / x of complex64: parts of two vectors are sorted, so that there is one division for both. The
// other way (quotient_of_floats) tells where a part is 0, or both are too large or NaN.
template <class L>
HWY_INLINE bool reciprocals(Pairs& a, Pairs& b) {
  const V re = hn::InterleaveLower(d, a.raw, b.raw), im = hn::InterleaveUpper(d, a.raw, b.raw);
  const V size = hn::Add(hn::Mul(re, re), hn::Mul(im, im)), zero = hn::Zero(d);
  const auto unusual = hn::Or(hn::Eq(re, zero), hn::Eq(im, zero));
  const auto finite = hn::Lt(size, hn::Set(d, INFINITY));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::AndNot(unusual, finite)))) return false;
  const V inverse = math::reciprocal(L(size)).raw;
  const V real = hn::Mul(re, inverse), imaginary = negated(hn::Mul(im, inverse));
  a.raw = hn::InterleaveLower(d, real, imaginary);
  b.raw = hn::InterleaveUpper(d, real, imaginary);
  return true;
}
template <class L>
HWY_INLINE void store_reciprocals(const float* from, float* to) {
  Pairs a = load<float>(from, 0), b = load<float>(from, pairs());
  if (HWY_UNLIKELY(!reciprocals<L>(a, b))) {
    a = quotient_of_floats(one(), a);
    b = quotient_of_floats(one(), b);
  }
  store<float>(a, to, 0);
  store<float>(b, to, pairs());
}
void reciprocal_tile(const void* const* in, void* out, int64_t n) {
  const auto* x = static_cast<const float*>(in[0]);
  auto* y = static_cast<float*>(out);
  const int64_t step = 4 * pairs();  // parts of two vectors; every second pair of them divides
  int64_t i = 0;
  for (; i + 2 * step <= 2 * n; i += 2 * step) {
    store_reciprocals<Lanes<double>>(x + i, y + i);
    store_reciprocals<Lanes<double>::Second>(x + i + step, y + i + step);
  }
  const void* const rest[] = {x + i};
  pairs_tile<reciprocal_of_floats_pairs, float, 1>(rest, y + i, n - i / 2);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// A complex64 times a number: one of doubles has inexact products, two of which are rounded; a real
// one has only one a part (which must not vanish: the sign of zero would come from elsewhere).
template <class T>
void times_number(const void* const* in, void* out, int64_t n) {
  double parts[2];
  std::memcpy(parts, in[1], sizeof(parts));
  const auto is_float = [](double x) {
    return std::abs(x) <= std::numeric_limits<float>::max() && static_cast<float>(x) == x;
  };
  const bool real = parts[1] == 0 && std::abs(parts[0]) > 1e-200;
  if (real || (is_float(parts[0]) && is_float(parts[1]))) {
    return pairs_tile<mul_of_floats_pairs, T, 2, double>(in, out, n);
  }
  pairs_tile<mul_pairs, T, 2, double>(in, out, n);
}
#endif

// The vector form of an expression, or NULL.
template <Expression e, class T, int kInputs, bool kNumbers = false>
constexpr TileFn pairs_entry() {
#define LIBDL_COMPLEX(name) \
  if constexpr (e == Expression::name) return &pairs_tile<name##_pairs, T, kInputs, Number>;
  using Number = std::conditional_t<kNumbers, double, void>;
  constexpr bool kFloats = sizeof(T) == 4;
  if constexpr (kFloats && !kNumbers) {  // a number is no float
    if constexpr (e == Expression::mul) return &pairs_tile<mul_of_floats_pairs, T, kInputs>;
    if constexpr (e == Expression::square) return &pairs_tile<square_of_floats_pairs, T, kInputs>;
    if constexpr (e == Expression::div) return &pairs_tile<div_of_floats_pairs, T, kInputs>;
    if constexpr (e == Expression::reciprocal) return &reciprocal_tile;
  }
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (kFloats && kNumbers && e == Expression::mul) return &times_number<T>;
#endif
  LIBDL_COMPLEX(add)
  LIBDL_COMPLEX(sub)
  LIBDL_COMPLEX(mul)
  LIBDL_COMPLEX(div)
  LIBDL_COMPLEX(add_scaled)
  if constexpr (kFloats) {
    LIBDL_COMPLEX(lerp)
    if constexpr (kInputs == 2) {
      LIBDL_COMPLEX(eq)
      LIBDL_COMPLEX(ne)
    }
  }
  if constexpr (kInputs == 1 && !kNumbers) {
    LIBDL_COMPLEX(neg)
    LIBDL_COMPLEX(square)
    LIBDL_COMPLEX(reciprocal)
    LIBDL_COMPLEX(conj)
    if constexpr (kFloats) {
      LIBDL_COMPLEX(abs)
      LIBDL_COMPLEX(sgn)
    }
  }
#undef LIBDL_COMPLEX
  return nullptr;
}
// Of a row of complex64 and one number of that dtype, or NULL.
template <Expression e, int kInputs>
constexpr TileFn row_entry() {
  if constexpr (kInputs == 2) {
    if constexpr (e == Expression::add) return &pairs_tile<add_pairs, float, 2, float>;
    if constexpr (e == Expression::sub) return &pairs_tile<sub_pairs, float, 2, float>;
    if constexpr (e == Expression::mul) return &pairs_tile<mul_of_floats_pairs, float, 2, float>;
    if constexpr (e == Expression::div) return &pairs_tile<div_of_floats_pairs, float, 2, float>;
  }
  return nullptr;
}
#else
template <Expression e, class T, int kInputs, bool kNumbers = false>
constexpr TileFn pairs_entry() {
  return nullptr;
}
template <Expression e, int kInputs>
constexpr TileFn row_entry() {
  return nullptr;
}
#endif

template <Expression e, class Op, int kInputs, bool kExists>
constexpr TileFn wide_entry() {
  constexpr TileFn pairs = pairs_entry<e, double, kInputs>();
  if constexpr (pairs != nullptr) return pairs;
  return entry<Op, Complex, kInputs, kExists>();
}

}  // namespace

extern const TileFn c128_table[kExpressions];
const TileFn c128_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  wide_entry<Expression::name, name##_op, inputs, has_letter(classes, 'C')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn c64_table[kExpressions];
const TileFn c64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) pairs_entry<Expression::name, float, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn c64_number_table[kExpressions];
const TileFn c64_number_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  pairs_entry<Expression::name, float, inputs, true>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn c64_row_table[kExpressions];
const TileFn c64_row_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) row_entry<Expression::name, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn c64_cube[1];
#if HWY_TARGET != HWY_SCALAR
const TileFn c64_cube[1] = {&pairs_tile<cube_pairs, float, 1>};
#else
const TileFn c64_cube[1] = {nullptr};
#endif

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

const TileTable c128_tiles[kIsas] = LIBDL_FOR_EACH_ISA(c128_table);

namespace {
constexpr TileTable kC64[kIsas] = LIBDL_FOR_EACH_ISA(c64_table);
constexpr TileTable kC64Cube[kIsas] = LIBDL_FOR_EACH_ISA(c64_cube);
constexpr TileTable kC64Number[kIsas] = LIBDL_FOR_EACH_ISA(c64_number_table);
constexpr TileTable kC64Row[kIsas] = LIBDL_FOR_EACH_ISA(c64_row_table);
}  // namespace

TileFn c64_tile(int32_t expression) { return kC64[static_cast<int>(isa())][expression]; }
TileFn c64_power_tile(double exponent) {
  if (exponent == 2) return c64_tile(static_cast<int32_t>(Expression::square));
  if (exponent == 3) return *kC64Cube[static_cast<int>(isa())];
  return nullptr;
}
TileFn c64_number_tile(int32_t expression) {
  return kC64Number[static_cast<int>(isa())][expression];
}
TileFn c64_row_tile(int32_t expression) { return kC64Row[static_cast<int>(isa())][expression]; }

}  // namespace libdl::kernels::cpu
#endif
