// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/reduce_truth.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

void truths(const Job<uint8_t>& job, int64_t unit, const uint8_t* none, uint8_t* result) {
  if (static_cast<Reduction>(job.args->op) == Reduction::kAny) {
    return pass<Max, Plain>(job, unit, none, result);
  }
  pass<Min, Plain>(job, unit, none, result);
}

void reduce_truth_on(Context& context, const ReduceArgs& args, Load load) {
  run<uint8_t>(context, args, load, each_unit<truths>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void reduce_truth(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(reduce_truth_on, context, args, load);
}

}  // namespace libdl::kernels::cpu
#endif
