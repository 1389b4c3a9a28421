// SPDX-License-Identifier: Apache-2.0

// How products of matrices run the micro-kernel, which is compiled once for all of them
// (micro_kernel.cc): up to kRows rows of a times two vectors of columns of b, or part of one.
#if defined(LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#undef LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#else
#define LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#endif

#include <array>

#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/gemm/step.h"
#include "kernels/cpu/traverse/first-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int64_t kLine = 64 / sizeof(T);  // elements in a cache line
template <class T>
constexpr int64_t kWide = 2 * kN<T>;  // columns of the micro-kernel
// Rows of the micro-kernel: 2 R sums, 2 vectors of b and one of a must fit the registers.
template <class T>
constexpr int64_t kRows = kN<T> * sizeof(T) == 64   ? 12
                          : kN<T> * sizeof(T) == 32 ? 6
                                                    : 4;

// Those for each number of rows, from 1 on.
template <class T>
using Heights = std::array<Kernels<T>, kRows<T>>;

}  // namespace

// By how a lies.
extern const Heights<float> kFloatKernels[kLayout];
extern const Heights<double> kDoubleKernels[kLayout];

namespace {

HWY_INLINE void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

template <class T>
HWY_INLINE const Kernels<T>& kernels_for(int64_t rows, OperandLayout layout) {
  if constexpr (sizeof(T) == 4) {
    return kFloatKernels[static_cast<int>(layout)][rows - 1];
  } else {
    return kDoubleKernels[static_cast<int>(layout)][rows - 1];
  }
}

// The micro-kernel over `width` columns of one panel.
template <class T>
HWY_INLINE void panel_product(const Kernels<T>& kernels, Step<T> step, int64_t width) {
  for (; width >= kWide<T>; width -= kWide<T>) {
    kernels.wide(step);
    step.b += kWide<T>;
    step.c += kWide<T>;
    step.next += kLine<T>;
  }
  for (; width > 0; width -= kN<T>) {
    step.columns = std::min(width, kN<T>);
    kernels.narrow(step);
    step.b += kN<T>;
    step.c += kN<T>;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
