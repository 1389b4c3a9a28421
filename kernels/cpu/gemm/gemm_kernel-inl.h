// SPDX-License-Identifier: Apache-2.0

// The micro-kernel of gemm.cc: up to kRows rows of a times two vectors of columns of b, or part of
// one, with all sums in registers.
#if defined(LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#undef LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#else
#define LIBDL_KERNELS_CPU_GEMM_GEMM_KERNEL_INL_H
#endif

#include <utility>

#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/simd/unroll.h"
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

HWY_INLINE void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

// One run of the micro-kernel: c[r][j] (+)= alpha * sum over k of a[r][k] * b[k][j], j below kWide
// or `columns`.
template <class T>
struct Step {
  const T* a;
  int64_t a_stride;  // of rows or columns, where a is read in place
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride, k;
  T alpha;
  bool add;
  bool stream;      // c is written past the caches; only without add
  int64_t columns;  // if there are fewer than kWide
  const T*
      next;  // the next panel, with rows laid out like b's: one line of each is prefetched to L2
};

// How the micro-kernel reads a: rows or columns of T in place, or a copied stripe in the same
// orientation as a, so that copying is sequential on both sides.
enum class Lies { kRows, kColumns, kCopiedRows, kCopiedColumns };
constexpr bool by_columns(Lies lies) {
  return lies == Lies::kColumns || lies == Lies::kCopiedColumns;
}
constexpr bool copied(Lies lies) {
  return lies == Lies::kCopiedRows || lies == Lies::kCopiedColumns;
}

// Reads the values of rows of a, one value of k after another.
template <class T, Lies kLies>
struct Column {
  const T* at;
  int64_t stride;
  HWY_INLINE explicit Column(const Step<T>& step) : at(step.a), stride(step.a_stride) {
    if (copied(kLies)) stride = by_columns(kLies) ? kStripe<T> : kKBlock<T>;
  }
  HWY_INLINE const T& operator[](int r) const { return at[by_columns(kLies) ? r : r * stride]; }
  HWY_INLINE void advance() { at += by_columns(kLies) ? stride : 1; }
};

// kVectors is two, or one in which only the first `columns` values exist.
template <class T, int R, Lies kLies, int kVectors>
HWY_NOINLINE void kernel(const Step<T>& step) {
  const Vectors<T> d;
  using V = hn::Vec<Vectors<T>>;
  Column<T, kLies> a(step);
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

template <class T>
struct Kernels {
  void (*wide)(const Step<T>&);
  void (*narrow)(const Step<T>&);
};
template <class T, Lies kLies, int... R>
HWY_INLINE Kernels<T> kernels_for(int64_t rows, std::integer_sequence<int, R...>) {
  static constexpr Kernels<T> kList[] = {
      {kernel<T, R + 1, kLies, 2>, kernel<T, R + 1, kLies, 1>}...};
  return kList[rows - 1];
}
template <class T>
HWY_INLINE Kernels<T> kernels_for(int64_t rows, Lies lies) {
  constexpr auto kHeights = std::make_integer_sequence<int, static_cast<int>(kRows<T>)>();
  switch (lies) {
    case Lies::kRows: return kernels_for<T, Lies::kRows>(rows, kHeights);
    case Lies::kColumns: return kernels_for<T, Lies::kColumns>(rows, kHeights);
    case Lies::kCopiedRows: return kernels_for<T, Lies::kCopiedRows>(rows, kHeights);
    case Lies::kCopiedColumns: return kernels_for<T, Lies::kCopiedColumns>(rows, kHeights);
  }
  return {};
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
