// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/reduce_float.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/reduction/reduce_plain-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

void reduce_float_on(Context& context, const ReduceArgs& args, Load load) {
  run_plain<float>(context, args, load);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void reduce_float(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(reduce_float_on, context, args, load);
}

}  // namespace libdl::kernels::cpu
#endif
