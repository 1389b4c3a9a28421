// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/reduce_complex.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

void complex_values(const Job<Complex>& job, int64_t unit, const Complex* none, Complex* result) {
  if (static_cast<Reduction>(job.args->op) == Reduction::kProd) {
    return pass<Prod, Plain>(job, unit, none, result);
  }
  pass<Sum, Plain>(job, unit, none, result);
}

void reduce_complex_on(Context& context, const ReduceArgs& args, Load load) {
  run<Complex>(context, args, load, each_unit<complex_values>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void reduce_complex(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(reduce_complex_on, context, args, load);
}

}  // namespace libdl::kernels::cpu
#endif
