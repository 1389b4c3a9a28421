// SPDX-License-Identifier: Apache-2.0

// Expressions in the dtypes that their operands have, where the class would only convert: integers
// narrower than 64 bits, which wrap to the same values as in 64 bits, and choices, which move bits.
#include <libdl/dtype.h>

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

// The entries of one dtype: operands as they are, and numbers after the first.
template <class T>
struct Narrow {
  static constexpr TileFn plain[] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, kernels::Wrapping<T>, inputs, has_letter(classes, 'I')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
  };
  static constexpr TileFn number[] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, kernels::Wrapping<T>, inputs, takes_numbers(Expression::name), true>(),
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
  TileTable plain[kIsas], number[kIsas];
};
#define LIBDL_NARROW(T) \
  {LIBDL_FOR_EACH_ISA(Narrow<T>::plain), LIBDL_FOR_EACH_ISA(Narrow<T>::number)}
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
  return tables != nullptr ? tables->plain[static_cast<int>(isa())] : nullptr;
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
