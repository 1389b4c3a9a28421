// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/reduce_norm_double.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/reduction/reduce_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

void norm_double_on(Context& context, const ReduceArgs& args, Load load) {
  run<double>(context, args, load, each_unit<norm<double>>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void norm_double(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(norm_double_on, context, args, load);
}

}  // namespace libdl::kernels::cpu
#endif
