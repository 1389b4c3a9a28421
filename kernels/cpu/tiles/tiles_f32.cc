// SPDX-License-Identifier: Apache-2.0

// The float32 class of the pointwise expressions. Those of in_double() are computed in vectors of
// double, which makes their result the rounded true one in all but rare cases.
#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_f32.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

constexpr bool in_double(Expression e) {
  using enum Expression;
  for (Expression wide : {div_floor, remainder, fmod, pow, rsqrt, expm1, tan, gelu_derivative,
                          gelu_tanh, gelu_tanh_derivative}) {
    if (e == wide) return true;
  }
  return false;
}

template <Expression e>
using Value = std::conditional_t<in_double(e), Lanes<double, 24>, Lanes<float>>;

extern const TileFn f32_table[kExpressions];
const TileFn f32_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Value<Expression::name>, float, inputs, has_letter(classes, 'F')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

extern const TileFn f32_number_table[kExpressions];
const TileFn f32_number_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  number_entry<Expression::name, name##_op, Value<Expression::name>, float, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

extern const TileFn f32_counted_table[kExpressions];
const TileFn f32_counted_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  counted_entry<name##_op, Lanes<float>, float, inputs, has_letter(classes, 'F')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
const TileTable f32_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f32_table);
const TileTable f32_number_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f32_number_table);
const TileTable f32_counted_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f32_counted_table);
}  // namespace libdl::kernels::cpu
#endif
