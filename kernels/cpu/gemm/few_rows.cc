// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/few_rows.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/few_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/panels-inl.h"
#include "kernels/cpu/traverse/first-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE const T* at(const GemmOperand& m, int64_t row, int64_t column) {
  return static_cast<const T*>(m.data) + row * m.row_stride + column * m.col_stride;
}

// The sums of one block of k, for `count` columns of a row of out.
template <class T, class V>
HWY_INLINE void finish(const GemmTile<T>& t, V sum, bool add, int64_t row, int64_t column,
                       int64_t count) {
  const Vectors<T> d;
  T* const to = t.out + row * t.out_stride + column;
  if (count >= kN<T>) {
    hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum) : sum, d, to);
  } else {
    first::store(add ? hn::Add(first::load(d, count, to), sum) : sum, d, count, to);
  }
}

// -- b's columns are contiguous -------------------------------------------------------------------

// A square of b is turned in the first cache, and multiplied: the sums of R rows and kN columns
// stay in registers for a whole block of k.
template <class T, int R>
void transposed(const GemmTile<T>& t) {
  constexpr int64_t kSide = kN<T>, kWide = 2 * kSide, kAhead = 512 / sizeof(T);
  const Vectors<T> d;
  alignas(64) T square[kSide * kWide];
  for (int64_t j = t.j0; j < t.j1; j += kWide) {
    const int64_t width = std::min(kWide, t.j1 - j);
    if (width < kWide) std::fill(square, square + kSide * kWide, T(0));
    for (int64_t k0 = 0; k0 < t.k; k0 += kKBlock<T>) {
      const int64_t k1 = std::min(k0 + kKBlock<T>, t.k);
      hn::Vec<Vectors<T>> sum[R][2];
      LIBDL_UNROLL
      for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
      for (int64_t k = k0; k < k1; k += kSide) {
        const int64_t depth = std::min(kSide, k1 - k);
        const T* const from = at<T>(t.b, k, j);
        for (int64_t c = 0; c < width; ++c) hwy::Prefetch(from + c * t.b.col_stride + kAhead);
        transpose(square, kWide, from, t.b.col_stride, width, depth);
        for (int64_t i = 0; i < depth; ++i) {
          const auto low = hn::Load(d, square + i * kWide);
          const auto high = hn::Load(d, square + i * kWide + kSide);
          const T* const x = at<T>(t.a, 0, k + i);
          LIBDL_UNROLL
          for (int r = 0; r < R; ++r) {
            const auto factor = hn::Set(d, x[r * t.a.row_stride]);
            sum[r][0] = hn::MulAdd(factor, low, sum[r][0]);
            sum[r][1] = hn::MulAdd(factor, high, sum[r][1]);
          }
        }
      }
      LIBDL_UNROLL
      for (int r = 0; r < R; ++r) {
        finish(t, sum[r][0], k0 > 0, r, j, std::min(kSide, width));
        if (width > kSide) finish(t, sum[r][1], k0 > 0, r, j + kSide, width - kSide);
      }
    }
  }
}

// -- b's rows are contiguous ----------------------------------------------------------------------

// Adds kDepth rows of b, each times its number for each row of a, to sums in the first cache.
template <class T, int R, int kDepth>
HWY_INLINE void add_rows(const GemmTile<T>& t, int64_t k, T* sums) {
  constexpr int64_t kAhead = 4;  // rows
  const Vectors<T> d;
  hn::Vec<Vectors<T>> factor[R][kDepth];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    LIBDL_UNROLL
    for (int i = 0; i < kDepth; ++i) factor[r][i] = hn::Set(d, *at<T>(t.a, r, k + i));
  }
  const T* const b = at<T>(t.b, k, t.j0);
  const int64_t width = t.j1 - t.j0;
  for (int64_t j = 0; j < width; j += kN<T>) {
    hn::Vec<Vectors<T>> y[kDepth];
    LIBDL_UNROLL
    for (int i = 0; i < kDepth; ++i) {
      const T* const from = b + i * t.b.row_stride + j;
      hwy::Prefetch(from + kAhead * t.b.row_stride);
      y[i] = j + kN<T> <= width ? hn::LoadU(d, from) : first::load(d, width - j, from);
    }
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      auto sum = hn::Load(d, sums + r * kFewColumns<T> + j);
      LIBDL_UNROLL
      for (int i = 0; i < kDepth; ++i) sum = hn::MulAdd(factor[r][i], y[i], sum);
      hn::Store(sum, d, sums + r * kFewColumns<T> + j);
    }
  }
}

template <class T, int R>
void along(const GemmTile<T>& t) {
  constexpr int kDepth = R <= 4 ? 4 : 2;
  const Vectors<T> d;
  alignas(64) T sums[R * kFewColumns<T>];
  const int64_t width = t.j1 - t.j0;
  for (int64_t k0 = 0; k0 < t.k; k0 += kKBlock<T>) {
    const int64_t k1 = std::min(k0 + kKBlock<T>, t.k);
    std::fill(sums, sums + R * kFewColumns<T>, T(0));
    int64_t k = k0;
    for (; k + kDepth <= k1; k += kDepth) add_rows<T, R, kDepth>(t, k, sums);
    for (; k < k1; ++k) add_rows<T, R, 1>(t, k, sums);
    for (int r = 0; r < R; ++r) {
      for (int64_t j = 0; j < width; j += kN<T>) {
        finish(t, hn::Load(d, sums + r * kFewColumns<T> + j), k0 > 0, r, t.j0 + j, width - j);
      }
    }
  }
}

// -- both -----------------------------------------------------------------------------------------

template <class T, int... R>
HWY_INLINE void by_height(const GemmTile<T>& t, std::integer_sequence<int, R...>) {
  using Way = void (*)(const GemmTile<T>&);
  static constexpr Way kTransposed[] = {transposed<T, R + 1>...}, kAlong[] = {along<T, R + 1>...};
  (t.b.col_stride == 1 ? kAlong : kTransposed)[t.i1 - 1](t);
}

template <class T>
HWY_INLINE void few_rows_on(const GemmTile<T>& t) {
  by_height(t, std::make_integer_sequence<int, static_cast<int>(kFewRows)>());
  if (t.bias == nullptr) return;
  for (int64_t i = 0; i < t.i1; ++i) {
    T* const y = t.out + i * t.out_stride;
    for (int64_t j = t.j0; j < t.j1; ++j) y[j] += t.bias[j * t.bias_stride];
  }
}

void few_f32(const GemmTile<float>& tile) { few_rows_on(tile); }
void few_f64(const GemmTile<double>& tile) { few_rows_on(tile); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

template <>
void few_rows_tile(const GemmTile<float>& tile) {
  LIBDL_ON_ISA(few_f32, tile);
}
template <>
void few_rows_tile(const GemmTile<double>& tile) {
  LIBDL_ON_ISA(few_f64, tile);
}

}  // namespace libdl::kernels::cpu
#endif
