// SPDX-License-Identifier: Apache-2.0

// The micro-kernel of all products of float32 and float64: up to kRows rows of a times two vectors
// of columns of b, or part of one, with all sums in registers.
#include "kernels/cpu/gemm/step.h"

#include <utility>

#include "kernels/cpu/simd/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/micro_kernel.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/gemm_kernel-inl.h"
#include "kernels/cpu/simd/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Reads the values of rows of a, one value of k after another.
template <class T, OperandLayout kLayout>
struct Column {
  static constexpr bool kByColumns = kLayout == OperandLayout::kColumns;
  const T* at;
  int64_t stride;
  HWY_INLINE explicit Column(const Step<T>& step) : at(step.a), stride(step.a_stride) {
    if (kLayout == OperandLayout::kCopiedRows) stride = kKBlock<T>;
  }
  HWY_INLINE const T& operator[](int r) const { return at[kByColumns ? r : r * stride]; }
  HWY_INLINE void advance() { at += kByColumns ? stride : 1; }
};

// kVectors is two, or one in which only the first `columns` values exist.
template <class T, int R, OperandLayout kLayout, int kVectors>
HWY_NOINLINE void kernel(const Step<T>& step) {
  const Vectors<T> d;
  using V = hn::Vec<Vectors<T>>;
  Column<T, kLayout> a(step);
  const T* HWY_RESTRICT b = step.b;
  T* HWY_RESTRICT c = step.c;
  const int64_t k = step.k, b_stride = step.b_stride, c_stride = step.c_stride;
  const int64_t columns = step.columns;
  const T* next = step.next;
  // Clear the sums, and prefetch the lines of c that they go to.
  V sum[kVectors][R];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v][r] = hn::Zero(d);
    if (step.stream) continue;
    hwy::Prefetch(c + r * c_stride);
    if (kVectors > 1) hwy::Prefetch(c + r * c_stride + kWide<T> - 1);
  }
  // Multiply: for each value of k, a row of b times one value of every row of a. A panel of more
  // lines than a run reads is in the second cache, and its lines are not next to each other: the
  // hardware fetches them late.
  constexpr int64_t kAhead = 8;  // values of k
  LIBDL_UNROLL_TWICE
  for (int64_t i = 0; i < k; ++i, a.advance(), b += b_stride, next += b_stride) {
    V y[kVectors];
    if constexpr (kVectors == 1 && first::kMasksMemory) {
      y[0] = first::load(d, columns, b);
    } else {
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, b + v * kN<T>);
    }
    if constexpr (kWide<T> < kPanel<T>) hwy::Prefetch(b + kAhead * b_stride);
    prefetch_l2(next);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r]);
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[v][r] = hn::MulAdd(x, y[v], sum[v][r]);
    }
  }
  // Write back: scale the sums, and add them to c or store them.
  const V scale = hn::Set(d, step.alpha);
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + r * c_stride + v * kN<T>;
      V z = hn::Mul(sum[v][r], scale);
      if constexpr (kVectors == 1) {
        if (step.add) z = hn::Add(first::load(d, columns, to), z);
        first::store(z, d, columns, to);
      } else if (step.stream) {
        hn::Stream(z, d, to);
      } else {
        if (step.add) z = hn::Add(hn::LoadU(d, to), z);
        hn::StoreU(z, d, to);
      }
    }
  }
}

template <class T, OperandLayout kLayout, int... R>
constexpr Heights<T> heights(std::integer_sequence<int, R...>) {
  return {{{kernel<T, R + 1, kLayout, 2>, kernel<T, R + 1, kLayout, 1>}...}};
}
template <class T, OperandLayout kLayout>
constexpr Heights<T> kHeights =
    heights<T, kLayout>(std::make_integer_sequence<int, static_cast<int>(kRows<T>)>());

}  // namespace

const Heights<float> kFloatKernels[kLayout] = {kHeights<float, OperandLayout::kRows>,
                                               kHeights<float, OperandLayout::kColumns>,
                                               kHeights<float, OperandLayout::kCopiedRows>};
const Heights<double> kDoubleKernels[kLayout] = {kHeights<double, OperandLayout::kRows>,
                                                 kHeights<double, OperandLayout::kColumns>,
                                                 kHeights<double, OperandLayout::kCopiedRows>};

}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();
