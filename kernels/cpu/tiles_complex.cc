// SPDX-License-Identifier: Apache-2.0

// The complex128 class of the pointwise expressions: scalar code on the system's library, so one
// table serves every instruction set.
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include "kernels/cpu/tiles_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace {

const TileFn c128_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Complex, inputs, has_letter(classes, 'C')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

}  // namespace
}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace libdl::kernels::cpu {
using HWY_NAMESPACE::c128_table;
const TileTable c128_tiles[kIsas] = {c128_table, c128_table, c128_table};
}  // namespace libdl::kernels::cpu
