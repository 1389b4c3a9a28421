// SPDX-License-Identifier: Apache-2.0

// The float64 class of the pointwise expressions.
#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_f64.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

extern const TileFn f64_table[kExpressions];
const TileFn f64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Lanes<double>, double, inputs, has_letter(classes, 'F')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

extern const TileFn f64_number_table[kExpressions];
const TileFn f64_number_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  number_entry<Expression::name, name##_op, Lanes<double>, double, inputs>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

extern const TileFn f64_counted_table[kExpressions];
const TileFn f64_counted_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  counted_entry<name##_op, Lanes<double>, double, inputs, has_letter(classes, 'F')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
const TileTable f64_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f64_table);
const TileTable f64_number_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f64_number_table);
const TileTable f64_counted_tiles[kIsas] = LIBDL_FOR_EACH_ISA(f64_counted_table);
}  // namespace libdl::kernels::cpu
#endif
