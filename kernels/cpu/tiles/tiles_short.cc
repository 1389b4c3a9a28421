// SPDX-License-Identifier: Apache-2.0

// Expressions of float16 and bfloat16 as they lie in memory: each vector is widened to float32,
// computed and rounded, where the way through the class would write and read float32 in between.
// They are those that cost no more than the conversions.
#include <libdl/dtype.h>

#include <cstring>

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_short.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/convert_value.h"
#include "kernels/cpu/tiles/tiles_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

#if LIBDL_FUSED  // targets with fma have F16C too
using V = Lanes<float>;
using D = V::Tag;
using Words = hn::Rebind<uint32_t, D>;
using Halves = hn::Rebind<uint16_t, D>;

HWY_INLINE V widened(Bfloat, hn::Vec<Halves> x) {
  return V(hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), x))));
}
HWY_INLINE V widened(Half, hn::Vec<Halves> x) {
  return V(hn::PromoteTo(D(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), x)));
}
// To nearest even, as to_bfloat (kernels/convert_value.h); the processor's own instruction would
// flush subnormal numbers.
HWY_INLINE hn::Vec<Halves> rounded(Bfloat, V x) {
  const Words d;
  const auto bits = hn::BitCast(d, x.raw), upper = hn::ShiftRight<16>(bits);
  const auto even = hn::And(upper, hn::Set(d, 1));
  const auto nearest = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7FFF)), even));
  const auto nan = hn::RebindMask(d, hn::IsNaN(x.raw));
  return hn::TruncateTo(Halves(), hn::IfThenElse(nan, hn::Or(upper, hn::Set(d, 0x40)), nearest));
}
HWY_INLINE hn::Vec<Halves> rounded(Half, V x) {
  return hn::BitCast(Halves(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), x.raw));
}

template <class T>
struct ShortMemory : TruthMemory<V> {
  using Number = float;
  using TruthMemory<V>::store;
  static HWY_INLINE V load(const T* from) {
    return widened(T(), hn::LoadU(Halves(), reinterpret_cast<const uint16_t*>(from)));
  }
  static HWY_INLINE V load(const T* from, size_t n) {
    HWY_ALIGN uint16_t lane[hn::MaxLanes(D())] = {};
    std::memcpy(lane, from, n * sizeof(T));
    return widened(T(), hn::Load(Halves(), lane));
  }
  static HWY_INLINE void store(V x, T* to) {
    hn::StoreU(rounded(T(), x), Halves(), reinterpret_cast<uint16_t*>(to));
  }
  static HWY_INLINE void store(V x, T* to, size_t n) {
    HWY_ALIGN uint16_t lane[hn::MaxLanes(D())];
    hn::Store(rounded(T(), x), Halves(), lane);
    std::memcpy(static_cast<void*>(to), lane, n * sizeof(T));
  }
};
template <>
struct Memory<V, Half> : ShortMemory<Half> {};
template <>
struct Memory<V, Bfloat> : ShortMemory<Bfloat> {};

// The sign is the uppermost bit of both.
template <Expression e>
void sign_tile(const void* const* in, void* out, int64_t n) {
  const hn::ScalableTag<uint16_t> d;
  const auto sign = hn::Set(d, 0x8000);
  const auto* x = static_cast<const uint16_t*>(in[0]);
  auto* y = static_cast<uint16_t*>(out);
  const auto at = [&](auto bits) HWY_ATTR {
    return e == Expression::neg ? hn::Xor(bits, sign) : hn::AndNot(sign, bits);
  };
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const auto a = at(hn::LoadU(d, x + i)), b = at(hn::LoadU(d, x + i + step));
    hn::StoreU(a, d, y + i);
    hn::StoreU(b, d, y + i + step);
  }
  for (; i < n; ++i) {
    const uint16_t bits = x[i];
    y[i] = e == Expression::neg ? bits ^ 0x8000 : bits & 0x7FFF;
  }
}

// The products are exact but for the last, which is rounded once.
struct third_power {
  static constexpr bool kTruth = false;
  static HWY_INLINE V of(V x) { return x * x * x; }
  static HWY_INLINE V::Second of(V::Second x) { return x * x * x; }
};

constexpr bool is_cheap(Expression e) {
  using enum Expression;
  // clang-format off: it would take a line for each
  for (Expression cheap :
       {add,  sub,   add_scaled, mul,     div,     sign, reciprocal, square, sqrt,
        rsqrt, relu, floor,      ceil,    round,   trunc, maximum,   minimum, clamp,
        lerp, isnan, isinf,      isfinite, eq,     ne,   lt,         le,     gt,
        ge,   threshold_mask, positive, copysign}) {
    // clang-format on
    if (e == cheap) return true;
  }
  return false;
}

template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_entry() {
  if constexpr (e == Expression::neg || e == Expression::abs) return &sign_tile<e>;
  return entry<Op, V, T, kInputs, is_cheap(e)>();
}
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_number_entry() {
  using enum Expression;
  if constexpr (e == pow) return nullptr;
  if constexpr (is_cheap(e)) return number_entry<e, Op, V, T, kInputs>();
  return nullptr;
}
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_counted_entry() {
  return counted_entry<Op, V, T, kInputs, is_cheap(e)>();
}
constexpr TileFn kHalfCube = &tile<third_power, V, Half, 1>;
constexpr TileFn kBfloatCube = &tile<third_power, V, Bfloat, 1>;
#else
constexpr TileFn kHalfCube = nullptr, kBfloatCube = nullptr;
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_entry() {
  return nullptr;
}
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_number_entry() {
  return nullptr;
}
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn short_counted_entry() {
  return nullptr;
}
#endif

// The entries of one dtype: operands as they are, numbers after the first, truths as 1 and 0.
template <class T>
struct Short {
  static constexpr TileFn tensors[] = {
#define POINTWISE(name, inputs, classes, result) \
  short_entry<Expression::name, name##_op, T, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
  static constexpr TileFn number[] = {
#define POINTWISE(name, inputs, classes, result) \
  short_number_entry<Expression::name, name##_op, T, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
  static constexpr TileFn counted[] = {
#define POINTWISE(name, inputs, classes, result) \
  short_counted_entry<Expression::name, name##_op, T, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
};

extern const TileFn cubes[2];
const TileFn cubes[2] = {kHalfCube, kBfloatCube};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
namespace {

// In the order of ShortOperands.
constexpr TileTable kHalf[][kIsas] = {
    LIBDL_FOR_EACH_ISA(Short<Half>::tensors),
    LIBDL_FOR_EACH_ISA(Short<Half>::number),
    LIBDL_FOR_EACH_ISA(Short<Half>::counted),
};
constexpr TileTable kBfloat[][kIsas] = {
    LIBDL_FOR_EACH_ISA(Short<Bfloat>::tensors),
    LIBDL_FOR_EACH_ISA(Short<Bfloat>::number),
    LIBDL_FOR_EACH_ISA(Short<Bfloat>::counted),
};

constexpr const TileFn* kCubes[kIsas] = LIBDL_FOR_EACH_ISA(cubes);

}  // namespace

TileFn short_power_tile(int32_t dtype, float exponent) {
  if (exponent == 2) {
    return short_tile(dtype, ShortOperands::kTensors, static_cast<int32_t>(Expression::square));
  }
  if (exponent != 3) return nullptr;
  return kCubes[static_cast<int>(isa())][dtype == LIBDL_DTYPE_FLOAT16 ? 0 : 1];
}

TileFn short_tile(int32_t dtype, ShortOperands form, int32_t expression) {
  const auto& tables = dtype == LIBDL_DTYPE_FLOAT16 ? kHalf : kBfloat;
  return tables[static_cast<int>(form)][static_cast<int>(isa())][expression];
}

}  // namespace libdl::kernels::cpu
#endif
