// SPDX-License-Identifier: Apache-2.0

// Sums, products, extrema and their positions.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PLAIN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PLAIN_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PLAIN_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PLAIN_INL_H
#endif

#include "kernels/cpu/reduction/reduce_locate-inl.h"
#include "kernels/cpu/reduction/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void plain_values(const Job<T>& job, int64_t unit, const T* none, T* result) {
  switch (static_cast<Reduction>(job.args->op)) {
    case Reduction::kProd: return pass<Prod, Plain, T>(job, unit, none, result);
    case Reduction::kMax: return pass<Max, Plain, T>(job, unit, none, result);
    case Reduction::kMin: return pass<Min, Plain, T>(job, unit, none, result);
    default: return pass<Sum, Plain, T>(job, unit, none, result);
  }
}

// Contiguous rows of T, one result each.
template <class C, class T>
void plain_rows(const Job<T>& job, int64_t first, int64_t last) {
  const auto* in = static_cast<const T*>(job.args->in.data) + first * job.kept.inner_stride();
  auto* out = static_cast<T*>(job.args->out.data) + first * job.out.inner_stride();
  for (int64_t unit = first; unit < last; ++unit) {
    *out = combine<C, Plain, T>(in, job.n, T(0));
    in += job.kept.inner_stride();
    out += job.out.inner_stride();
  }
}

template <class T>
Finish<T> plain_finish(const Job<T>& job) {
  const auto op = static_cast<Reduction>(job.args->op);
  if (op == Reduction::kArgmax || op == Reduction::kArgmin || op == Reduction::kMaxIndex ||
      op == Reduction::kMinIndex) {
    return [](const Job<T>& j, int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) finish_index<T>(j, unit);
    };
  }
  if constexpr (kIsVector<T>) {
    const bool plain =
        job.direct && !job.columns && !job.split && job.kept.ndim <= 1 && job.out.ndim <= 1 &&
        job.args->out.dtype == job.args->in.dtype &&
        (job.reduced.ndim == 0 || (job.reduced.ndim == 1 && job.reduced.strides[0] == 1));
    if (plain && op == Reduction::kSum) return plain_rows<Sum, T>;
    if (plain && op == Reduction::kProd) return plain_rows<Prod, T>;
    if (plain && op == Reduction::kMax) return plain_rows<Max, T>;
    if (plain && op == Reduction::kMin) return plain_rows<Min, T>;
  }
  return each_unit<plain_values<T>>(job);
}

template <class T>
void run_plain(Context& context, const ReduceArgs& args, Load load) {
  run<T>(context, args, load, plain_finish<T>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
