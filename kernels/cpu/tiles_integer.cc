// SPDX-License-Identifier: Apache-2.0

// The bool, int64 and uint64 classes of the pointwise expressions.
#include "kernels/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles_integer.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

extern const TileFn bool_table[kExpressions];
const TileFn bool_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Bool, inputs, has_letter(classes, 'B')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn i64_table[kExpressions];
const TileFn i64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Int64, inputs, has_letter(classes, 'I')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn u64_table[kExpressions];
const TileFn u64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Uint64, inputs, has_letter(classes, 'U')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
const TileTable bool_tiles[kIsas] = LIBDL_FOR_EACH_ISA(bool_table);
const TileTable i64_tiles[kIsas] = LIBDL_FOR_EACH_ISA(i64_table);
const TileTable u64_tiles[kIsas] = LIBDL_FOR_EACH_ISA(u64_table);
}  // namespace libdl::kernels::cpu
#endif
