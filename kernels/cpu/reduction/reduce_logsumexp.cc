// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduction/reduce_logsumexp.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/math/exp_shifted-inl.h"
#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void logsumexp(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  T top[kWidth<T>], shift[kWidth<T>];
  pass<Max, Plain, T>(job, unit, none, top);
  for (int64_t i = 0; i < width; ++i) shift[i] = std::isinf(top[i]) ? 0 : top[i];
  pass<Sum, ShiftedExp, T>(job, unit, shift, result);
  for (int64_t i = 0; i < width; ++i) {
    result[i] = std::isinf(top[i]) ? top[i] : std::log(result[i]) + top[i];
  }
}

void logsumexp_float_on(Context& context, const ReduceArgs& args, Load load) {
  run<float>(context, args, load, each_unit<logsumexp<float>>);
}

void logsumexp_double_on(Context& context, const ReduceArgs& args, Load load) {
  run<double>(context, args, load, each_unit<logsumexp<double>>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void logsumexp_float(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(logsumexp_float_on, context, args, load);
}

void logsumexp_double(Context& context, const ReduceArgs& args, Load load) {
  LIBDL_ON_ISA(logsumexp_double_on, context, args, load);
}

}  // namespace libdl::kernels::cpu
#endif
