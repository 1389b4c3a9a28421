// SPDX-License-Identifier: Apache-2.0

// Expressions in the dtypes that their operands have, where the class would only convert: integers
// narrower than 64 bits, which wrap to the same values as in 64 bits, and choices, which move bits.
#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_narrow.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

// Those that people write with numbers and that cost no more than the memory they walk over.
constexpr bool takes_numbers(Expression e) {
  using enum Expression;
  for (Expression simple : {add, sub, mul, maximum, minimum, clamp, eq, ne, lt, le, gt, ge,
                            bitwise_and, bitwise_or, bitwise_xor}) {
    if (e == simple) return true;
  }
  return false;
}

// The processor divides integers one by one; the class has vectors for it.
constexpr bool divides(Expression e) {
  using enum Expression;
  for (Expression quotient : {div_trunc, div_floor, remainder, fmod}) {
    if (e == quotient) return true;
  }
  return false;
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

// All elements by one number, which as an unsigned one is below the width, or shifts everything
// out.
template <class T, bool kLeft>
void shift_by_number(const void* const* in, void* out, int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  constexpr int kWidth = 8 * sizeof(T);
  const auto divisor = *static_cast<const Anywhere<std::make_unsigned_t<T>>*>(in[1]);
  const int bits = static_cast<int>(std::min<uint64_t>(divisor.value, kWidth));
  // Bytes are shifted as pairs, with the other byte's bits masked.
  using Lane = std::conditional_t<sizeof(T) == 1, uint16_t, T>;
  const hn::ScalableTag<Lane> d;
  const hn::Repartition<T, decltype(d)> own;
  const int half = std::min(bits, kWidth - 1), rest = bits - half;
  using Unsigned = std::make_unsigned_t<T>;
  const auto low = static_cast<Unsigned>(static_cast<Unsigned>(~Unsigned{0}) >> half);
  const auto kept = hn::Set(own, static_cast<T>(kLeft ? static_cast<Unsigned>(low << half) : low));
  const auto sign = hn::Set(own, static_cast<T>((Unsigned{1} << (kWidth - 1)) >> half));
  const auto at = [&](auto v) HWY_ATTR {
    const auto lanes = hn::BitCast(d, v);
    if constexpr (sizeof(T) == 1) {
      const auto moved = kLeft ? hn::ShiftLeftSame(lanes, half) : hn::ShiftRightSame(lanes, half);
      v = hn::And(hn::BitCast(own, moved), kept);
      if constexpr (!kLeft && std::is_signed_v<T>) v = hn::Sub(hn::Xor(v, sign), sign);
    } else {
      v = kLeft ? hn::ShiftLeftSame(lanes, half) : hn::ShiftRightSame(lanes, half);
    }
    if (rest != 0 && (kLeft || !std::is_signed_v<T>)) v = hn::Zero(own);
    return v;
  };
  const int64_t step = static_cast<int64_t>(hn::Lanes(own));
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const auto a = at(hn::LoadU(own, x + i)), b = at(hn::LoadU(own, x + i + step));
    hn::StoreU(a, own, y + i);
    hn::StoreU(b, own, y + i + step);
  }
  const void* const left[] = {x + i, in[1]};
  using Op = std::conditional_t<kLeft, bitwise_left_shift_op, bitwise_right_shift_op>;
  scalar_tile<Op, kernels::Wrapping<T>, 2, true>(left, y + i, n - i);
}
#define LIBDL_SHIFT(name, left) \
  if constexpr (e == Expression::name) return &shift_by_number<T, left>;
#else
#define LIBDL_SHIFT(name, left)
#endif
template <Expression e, class Op, class T, int kInputs>
constexpr TileFn number_kernel() {
  LIBDL_SHIFT(bitwise_left_shift, true)
  LIBDL_SHIFT(bitwise_right_shift, false)
  return entry<Op, kernels::Wrapping<T>, kInputs, takes_numbers(e), true>();
}
#undef LIBDL_SHIFT

#if HWY_TARGET == HWY_AVX3
// The elements that do not fill a vector.
template <class T, bool kLeft, class By>
void shift_rest(const T* x, const By* by, T* y, int64_t n) {
  const void* const in[] = {x, by};
  using Op = std::conditional_t<kLeft, bitwise_left_shift_op, bitwise_right_shift_op>;
  scalar_tile<Op, kernels::Wrapping<T>, 2>(in, y, n);
}

// Bytes by bytes, which are widened to have a shift for each lane.
template <class T, bool kLeft>
void shift_bytes(const void* const* in, void* out, int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* by = static_cast<const uint8_t*>(in[1]);
  auto* y = static_cast<T*>(out);
  using Wide = std::conditional_t<std::is_signed_v<T> && !kLeft, int16_t, uint16_t>;
  const hn::ScalableTag<Wide> d;
  const hn::ScalableTag<uint16_t> u;
  const hn::Rebind<std::conditional_t<std::is_signed_v<Wide>, int8_t, uint8_t>, decltype(d)> half;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto most = hn::Set(u, 8);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto value = hn::PromoteTo(
        d, hn::LoadU(half, reinterpret_cast<const hn::TFromD<decltype(half)>*>(x + i)));
    const auto bits = hn::BitCast(d, hn::Min(hn::PromoteTo(u, hn::LoadU(bytes, by + i)), most));
    const auto moved = kLeft ? hn::Shl(value, bits) : hn::Shr(value, bits);
    const auto low = hn::TruncateTo(bytes, hn::BitCast(u, moved));
    hn::StoreU(low, bytes, reinterpret_cast<uint8_t*>(y + i));
  }
  shift_rest<T, kLeft>(x + i, by + i, y + i, n - i);
}
// The processor has a shift for each lane of 16 bits; those that are too large, negative ones among
// them, shift everything out.
template <class T, bool kLeft>
void shift_shorts(const void* const* in, void* out, int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* by = static_cast<const T*>(in[1]);
  auto* y = static_cast<T*>(out);
  const hn::ScalableTag<T> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto value = hn::LoadU(d, x + i), bits = hn::LoadU(d, by + i);
    hn::StoreU(kLeft ? hn::Shl(value, bits) : hn::Shr(value, bits), d, y + i);
  }
  shift_rest<T, kLeft>(x + i, by + i, y + i, n - i);
}
#define LIBDL_SHIFT(name, left)                                                        \
  if constexpr (sizeof(T) == 1 && e == Expression::name) return &shift_bytes<T, left>; \
  if constexpr (sizeof(T) == 2 && e == Expression::name) return &shift_shorts<T, left>;
#else
#define LIBDL_SHIFT(name, left)
#endif
template <Expression e, class Op, class T, int kInputs, bool kExists>
constexpr TileFn tensor_kernel() {
  LIBDL_SHIFT(bitwise_left_shift, true)
  LIBDL_SHIFT(bitwise_right_shift, false)
  return entry<Op, kernels::Wrapping<T>, kInputs, kExists && !divides(e)>();
}
#undef LIBDL_SHIFT

// The entries of one dtype: operands as they are, and numbers after the first.
template <class T>
struct Narrow {
  static constexpr TileFn tensors[] = {
#define POINTWISE(name, inputs, classes, result) \
  tensor_kernel<Expression::name, name##_op, T, inputs, has_letter(classes, 'I')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
  static constexpr TileFn number[] = {
#define POINTWISE(name, inputs, classes, result) \
  number_kernel<Expression::name, name##_op, T, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
};

struct TwoWords {
  uint64_t low, high;
};
HWY_INLINE TwoWords pick(bool which, TwoWords x, TwoWords y) {
  return {which ? x.low : y.low, which ? x.high : y.high};
}
template <class Bits>
HWY_INLINE Bits pick(bool which, Bits x, Bits y) {
  return which ? x : y;
}

// The condition is a byte.
template <class Bits>
void choice(const void* const* in, void* out, int64_t n) {
  const auto* condition = static_cast<const uint8_t*>(in[0]);
  const auto* a = static_cast<const Anywhere<Bits>*>(in[1]);
  const auto* b = static_cast<const Anywhere<Bits>*>(in[2]);
  auto* y = static_cast<Anywhere<Bits>*>(out);
  LIBDL_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const Bits x0 = a[i].value, x1 = b[i].value;
    y[i].value = pick(condition[i] != 0, x0, x1);
  }
}
extern const TileFn choices[5];
const TileFn choices[5] = {choice<uint8_t>, choice<uint16_t>, choice<uint32_t>, choice<uint64_t>,
                           choice<TwoWords>};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
namespace {

struct NarrowTables {
  TileTable tensors[kIsas], number[kIsas];
};
#define LIBDL_NARROW(T) \
  {LIBDL_FOR_EACH_ISA(Narrow<T>::tensors), LIBDL_FOR_EACH_ISA(Narrow<T>::number)}
constexpr NarrowTables kU8 = LIBDL_NARROW(uint8_t), kI8 = LIBDL_NARROW(int8_t),
                       kI16 = LIBDL_NARROW(int16_t), kI32 = LIBDL_NARROW(int32_t);
#undef LIBDL_NARROW
constexpr const TileFn* kChoices[kIsas] = LIBDL_FOR_EACH_ISA(choices);

const NarrowTables* narrow_tables(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_UINT8: return &kU8;
    case LIBDL_DTYPE_INT8: return &kI8;
    case LIBDL_DTYPE_INT16: return &kI16;
    case LIBDL_DTYPE_INT32: return &kI32;
    default: return nullptr;
  }
}

}  // namespace

TileTable narrow_tiles(int32_t dtype) {
  const NarrowTables* tables = narrow_tables(dtype);
  return tables != nullptr ? tables->tensors[static_cast<int>(isa())] : nullptr;
}
TileTable narrow_number_tiles(int32_t dtype) {
  return narrow_tables(dtype)->number[static_cast<int>(isa())];
}

TileFn choice_tile(int32_t bytes) {
  const int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
  return kChoices[static_cast<int>(isa())][log];
}

}  // namespace libdl::kernels::cpu
#endif
