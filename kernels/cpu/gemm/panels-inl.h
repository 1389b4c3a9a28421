// SPDX-License-Identifier: Apache-2.0

// Packing: matrices of any strides and floating dtype are copied so that the micro-kernel of
// micro_kernel.cc reads them sequentially.
#if defined(LIBDL_KERNELS_CPU_GEMM_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_GEMM_PANELS_INL_H
#undef LIBDL_KERNELS_CPU_GEMM_PANELS_INL_H
#else
#define LIBDL_KERNELS_CPU_GEMM_PANELS_INL_H
#endif

#include <libdl/dtype.h>

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/cpu/gemm/gemm_tile.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Vectors = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
constexpr int64_t kN = hn::MaxLanes(Vectors<T>());
template <class T>
constexpr int32_t kDtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;

#if HWY_TARGET != HWY_SCALAR
// Pieces of 16 bytes, `stride` apart, as one vector.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_pieces(D d, const T* from, int64_t stride) {
  constexpr size_t kPieces = hn::MaxLanes(D()) * sizeof(T) / 16;
  if constexpr (kPieces == 1) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kLower = kPieces / 2;
    return hn::Combine(d, load_pieces(half, from + kLower * stride, stride),
                       load_pieces(half, from, stride));
  }
}

// As many rows as a vector has lanes, of 16 bytes each: every piece of a vector is one of a row.
template <class F>
HWY_INLINE void transpose_strip(F f, float* y, int64_t to_stride, const float* x,
                                int64_t from_stride) {
  const hn::Repartition<double, F> g;
  const auto r0 = load_pieces(f, x, 4 * from_stride);
  const auto r1 = load_pieces(f, x + from_stride, 4 * from_stride);
  const auto r2 = load_pieces(f, x + 2 * from_stride, 4 * from_stride);
  const auto r3 = load_pieces(f, x + 3 * from_stride, 4 * from_stride);
  const auto a = hn::BitCast(g, hn::InterleaveLower(f, r0, r1));
  const auto b = hn::BitCast(g, hn::InterleaveLower(f, r2, r3));
  const auto c = hn::BitCast(g, hn::InterleaveUpper(f, r0, r1));
  const auto e = hn::BitCast(g, hn::InterleaveUpper(f, r2, r3));
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(g, a, b)), f, y);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(g, a, b)), f, y + to_stride);
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(g, c, e)), f, y + 2 * to_stride);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(g, c, e)), f, y + 3 * to_stride);
}
template <class D>
HWY_INLINE void transpose_strip(D d, double* y, int64_t to_stride, const double* x,
                                int64_t from_stride) {
  const auto r0 = load_pieces(d, x, 2 * from_stride);
  const auto r1 = load_pieces(d, x + from_stride, 2 * from_stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, y);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, y + to_stride);
}

// Rows from `row` on, as many at a time as D has lanes; the first row that is left.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE int64_t transpose_strips(D d, int64_t row, T* to, int64_t to_stride, const T* from,
                                    int64_t from_stride, int64_t rows, int64_t cols) {
  constexpr int64_t kHeight = hn::MaxLanes(D()), kSide = 16 / sizeof(T);
  for (; row + kHeight <= rows; row += kHeight) {
    int64_t j = 0;
    for (; j + kSide <= cols; j += kSide)
      transpose_strip(d, to + j * to_stride + row, to_stride, from + row * from_stride + j,
                      from_stride);
    for (; j < cols; ++j)
      for (int64_t r = row; r < row + kHeight; ++r)
        to[j * to_stride + r] = from[r * from_stride + j];
  }
  return row;
}
#endif

// to[j][i] = from[i][j] for `rows` rows of `cols` values, few enough to stay in the first cache.
template <class T>
HWY_INLINE void transpose_block(T* to, int64_t to_stride, const T* from, int64_t from_stride,
                                int64_t rows, int64_t cols) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr size_t kSide = 16 / sizeof(T);
  i = transpose_strips(Vectors<T>(), i, to, to_stride, from, from_stride, rows, cols);
  i = transpose_strips(hn::CappedTag<T, kSide>(), i, to, to_stride, from, from_stride, rows, cols);
#endif
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

// The same for any number of columns. Each line that is written to takes part in several rows.
template <class T>
HWY_INLINE void transpose(T* to, int64_t to_stride, const T* from, int64_t from_stride,
                          int64_t rows, int64_t cols) {
  constexpr int64_t kColumns = 64;
  for (int64_t j = 0; j < cols; j += kColumns)
    transpose_block(to + j * to_stride, to_stride, from + j, from_stride, rows,
                    std::min(kColumns, cols - j));
}

// Rows of S.
template <int64_t kWidth, class T, class S>
HWY_INLINE void fetch_rows(T* to, const S* from, int64_t row_stride, int64_t rows, int64_t cols) {
  const Vectors<T> d;
  for (int64_t i = 0; i < rows; ++i, from += row_stride, to += kWidth) {
    int64_t j = 0;
    for (; j + kN<T> <= cols; j += kN<T>) hn::StoreU(stored::load(d, from + j), d, to + j);
    for (; j < cols; ++j) to[j] = widened(from[j]);
  }
}

// to[i][j] = from[i][j] as T, rows of `to` kWidth apart; from may be contiguous in either
// dimension.
template <int64_t kWidth, class T>
HWY_INLINE void fetch(T* to, const GemmOperand& m, int64_t i0, int64_t rows, int64_t j0,
                      int64_t cols) {
  const bool direct = m.dtype == kDtype<T>;
  const int64_t bytes = dtype_bytes(m.dtype);
  const char* from =
      static_cast<const char*>(m.data) + (i0 * m.row_stride + j0 * m.col_stride) * bytes;
  const auto rows_of = [&](auto s) {
    const auto* x = reinterpret_cast<const decltype(s)*>(from);
    fetch_rows<kWidth>(to, x, m.row_stride, rows, cols);
  };
  if (direct && m.col_stride == 1) return rows_of(T());
  if constexpr (sizeof(T) == 4) {
    if (m.col_stride == 1 && m.dtype == LIBDL_DTYPE_BFLOAT16) return rows_of(Bfloat());
    if (m.col_stride == 1 && m.dtype == LIBDL_DTYPE_FLOAT16) return rows_of(Half());
  }
  if (direct && m.row_stride == 1) {
    return transpose(to, kWidth, reinterpret_cast<const T*>(from), m.col_stride, cols, rows);
  }
  if (m.row_stride != 1) {
    for (int64_t i = 0; i < rows; ++i) {
      load_tile(to + i * kWidth, from + i * m.row_stride * bytes, m.dtype, m.col_stride, cols);
    }
    return;
  }
  T run[4 * kKBlock<T>];
  for (int64_t j = 0; j < cols; j += 4) {
    const int64_t count = std::min<int64_t>(4, cols - j);
    for (int64_t i = 0; i < rows; i += kKBlock<T>) {
      const int64_t height = std::min(kKBlock<T>, rows - i);
      for (int64_t c = 0; c < count; ++c) {
        load_tile(run + c * kKBlock<T>, from + ((j + c) * m.col_stride + i) * bytes, m.dtype, 1,
                  height);
      }
      transpose(to + i * kWidth + j, kWidth, run, kKBlock<T>, count, height);
    }
  }
}

// Values [k0, k0 + k) of the panel at column j.
template <class T>
HWY_INLINE void pack_block(T* to, const GemmOperand& b, int64_t k0, int64_t k, int64_t j,
                           int64_t n) {
  const int64_t width = std::min(kPanel<T>, n - j);
  fetch<kPanel<T>>(to, b, k0, k, j, width);
  for (int64_t s = 0; width < kPanel<T> && s < k; ++s) {
    std::fill(to + s * kPanel<T> + width, to + (s + 1) * kPanel<T>, T(0));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
