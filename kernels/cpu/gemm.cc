// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <utility>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef LIBDL_UNROLL
#if defined(__clang__)
#define LIBDL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LIBDL_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

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
constexpr int64_t kWide = 2 * kN<T>;  // columns of the micro-kernel
// Rows of the micro-kernel: 2 R sums, 2 values of b and one of a must fit the registers.
template <class T>
constexpr int64_t kRows = kN<T> * sizeof(T) == 64   ? 12
                          : kN<T> * sizeof(T) == 32 ? 6
                                                    : 4;
template <class T>
constexpr int32_t kDtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;

// c[r][0, kWide) (+)= alpha * sum over k of a[r][k] * b[k][0, kWide); rows of a are kKBlock apart.
template <class T, int R>
HWY_NOINLINE void kernel(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                         int64_t b_stride, T* HWY_RESTRICT c, int64_t c_stride, bool add, T alpha) {
  const Vectors<T> d;
  using V = hn::Vec<Vectors<T>>;
  V sum0[R], sum1[R];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    sum0[r] = sum1[r] = hn::Zero(d);
    hwy::Prefetch(c + r * c_stride);
    hwy::Prefetch(c + r * c_stride + kWide<T> - 1);
  }
  for (int64_t i = 0; i < k; ++i, b += b_stride) {
    const V b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kN<T>);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r * kKBlock + i]);
      sum0[r] = hn::MulAdd(x, b0, sum0[r]);
      sum1[r] = hn::MulAdd(x, b1, sum1[r]);
    }
  }
  const V scale = hn::Set(d, alpha);
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    T* to = c + r * c_stride;
    V y0 = hn::Mul(sum0[r], scale), y1 = hn::Mul(sum1[r], scale);
    if (add) {
      y0 = hn::Add(hn::LoadU(d, to), y0);
      y1 = hn::Add(hn::LoadU(d, to + kN<T>), y1);
    }
    hn::StoreU(y0, d, to);
    hn::StoreU(y1, d, to + kN<T>);
  }
}

template <class T>
using Kernel = void (*)(int64_t, const T*, const T*, int64_t, T*, int64_t, bool, T);
template <class T, int... R>
HWY_INLINE Kernel<T> kernel_for(int64_t rows, std::integer_sequence<int, R...>) {
  static constexpr Kernel<T> kList[] = {kernel<T, R + 1>...};
  return kList[rows - 1];
}

#if HWY_TARGET != HWY_SCALAR
// A square of 16 bytes a side.
HWY_INLINE void transpose_square(float* y, int64_t to_stride, const float* x, int64_t from_stride) {
  const hn::CappedTag<float, 4> f;
  const hn::CappedTag<double, 2> g;
  const auto r0 = hn::LoadU(f, x), r1 = hn::LoadU(f, x + from_stride);
  const auto r2 = hn::LoadU(f, x + 2 * from_stride), r3 = hn::LoadU(f, x + 3 * from_stride);
  const auto a = hn::BitCast(g, hn::InterleaveLower(f, r0, r1));
  const auto b = hn::BitCast(g, hn::InterleaveLower(f, r2, r3));
  const auto c = hn::BitCast(g, hn::InterleaveUpper(f, r0, r1));
  const auto e = hn::BitCast(g, hn::InterleaveUpper(f, r2, r3));
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(g, a, b)), f, y);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(g, a, b)), f, y + to_stride);
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(g, c, e)), f, y + 2 * to_stride);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(g, c, e)), f, y + 3 * to_stride);
}
HWY_INLINE void transpose_square(double* y, int64_t to_stride, const double* x,
                                 int64_t from_stride) {
  const hn::CappedTag<double, 2> d;
  const auto r0 = hn::LoadU(d, x), r1 = hn::LoadU(d, x + from_stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, y);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, y + to_stride);
}
#endif

// to[j][i] = from[i][j] for `rows` rows of `cols` values.
template <class T>
HWY_INLINE void transpose(T* to, int64_t to_stride, const T* from, int64_t from_stride,
                          int64_t rows, int64_t cols) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int64_t kSide = 16 / sizeof(T);
  for (; i + kSide <= rows; i += kSide) {
    int64_t j = 0;
    for (; j + kSide <= cols; j += kSide) {
      transpose_square(to + j * to_stride + i, to_stride, from + i * from_stride + j, from_stride);
    }
    for (; j < cols; ++j) {
      for (int64_t r = i; r < i + kSide; ++r) to[j * to_stride + r] = from[r * from_stride + j];
    }
  }
#endif
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

// to[i][j] = from[i][j] as T, rows of `to` kWidth apart; from may lie either way.
template <int64_t kWidth, class T>
HWY_INLINE void fetch(T* to, const GemmOperand& m, int64_t i0, int64_t rows, int64_t j0,
                      int64_t cols) {
  const bool direct = m.dtype == kDtype<T>;
  const int64_t bytes = dtype_bytes(m.dtype);
  const char* from =
      static_cast<const char*>(m.data) + (i0 * m.row_stride + j0 * m.col_stride) * bytes;
  if (direct && m.col_stride == 1) {
    const T* x = reinterpret_cast<const T*>(from);
    const Vectors<T> d;
    for (int64_t i = 0; i < rows; ++i, x += m.row_stride) {
      int64_t j = 0;
      for (; j + kN<T> <= cols; j += kN<T>) hn::StoreU(hn::LoadU(d, x + j), d, to + i * kWidth + j);
      for (; j < cols; ++j) to[i * kWidth + j] = x[j];
    }
    return;
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
  T run[4 * kKBlock];
  for (int64_t j = 0; j < cols; j += 4) {
    const int64_t count = std::min<int64_t>(4, cols - j);
    for (int64_t i = 0; i < rows; i += kKBlock) {
      const int64_t height = std::min(kKBlock, rows - i);
      for (int64_t c = 0; c < count; ++c) {
        load_tile(run + c * kKBlock, from + ((j + c) * m.col_stride + i) * bytes, m.dtype, 1,
                  height);
      }
      transpose(to + i * kWidth + j, kWidth, run, kKBlock, count, height);
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

// out (+)= alpha * a * b for `rows` rows and `width` columns of one panel.
template <class T>
HWY_INLINE void panel_product(int64_t rows, int64_t k, const T* a, const T* b, int64_t b_stride,
                              T* out, int64_t out_stride, int64_t width, bool add, T alpha) {
  const Kernel<T> f =
      kernel_for<T>(rows, std::make_integer_sequence<int, static_cast<int>(kRows<T>)>());
  int64_t j = 0;
  for (; j + kWide<T> <= width; j += kWide<T>)
    f(k, a, b + j, b_stride, out + j, out_stride, add, alpha);
  if (j == width) return;
  alignas(64) T edge[kRows<T> * kWide<T>];
  for (int64_t r = 0; add && r < rows; ++r) {
    std::copy(out + r * out_stride + j, out + r * out_stride + width, edge + r * kWide<T>);
    std::fill(edge + r * kWide<T> + (width - j), edge + (r + 1) * kWide<T>, T(0));
  }
  f(k, a, b + j, b_stride, edge, kWide<T>, add, alpha);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(edge + r * kWide<T>, width - j, out + r * out_stride + j);
  }
}

// Rows [i, i + rows), at most kStripe, and values [k0, k0 + k) of k.
template <class T>
HWY_INLINE void stripe_product(const GemmTile<T>& t, bool in_place, int64_t i, int64_t rows,
                               int64_t k0, int64_t k, T* a, T* room) {
  const bool add = k0 > 0 || t.beta != 0;
  const int64_t groups = (rows + kRows<T> - 1) / kRows<T>;
  fetch<kKBlock>(a, t.a, i, rows, k0, k);
  for (int64_t j = t.j0; j < t.j1; j += kPanel<T>) {
    const int64_t width = std::min(kPanel<T>, t.j1 - j);
    const T* b = room;
    int64_t b_stride = kPanel<T>;
    if (t.packed != nullptr) {
      b = t.packed + j * t.k + k0 * kPanel<T>;
    } else if (in_place && width == kPanel<T>) {
      b = static_cast<const T*>(t.b.data) + k0 * t.b.row_stride + j;
      b_stride = t.b.row_stride;
    } else {
      pack_block(room, t.b, k0, k, j, t.j1);
    }
    for (int64_t g = 0; g < groups; ++g) {  // groups of nearly equal height
      const int64_t r0 = rows * g / groups, r1 = rows * (g + 1) / groups;
      panel_product(r1 - r0, k, a + r0 * kKBlock, b, b_stride, t.out + (i + r0) * t.out_stride + j,
                    t.out_stride, width, add, t.alpha);
    }
  }
}

template <class T>
void gemm_tile_on(const GemmTile<T>& t) {
  alignas(64) T a[kStripe * kKBlock];
  alignas(64) T room[kPanel<T> * kKBlock];
  const bool in_place = t.packed == nullptr && gemm_reads_in_place(t.b);
  if (t.k == 0 || (t.beta != 0 && t.beta != 1)) {
    for (int64_t i = t.i0; i < t.i1; ++i) {
      T* y = t.out + i * t.out_stride;
      for (int64_t j = t.j0; j < t.j1; ++j) y[j] = t.beta == 0 ? 0 : y[j] * t.beta;
    }
  }
  for (int64_t k0 = 0; k0 < t.k; k0 += kKBlock) {
    const int64_t k = std::min(kKBlock, t.k - k0);
    const int64_t rows = t.i1 - t.i0, stripes = (rows + kStripe - 1) / kStripe;
    for (int64_t s = 0; s < stripes; ++s) {  // of nearly equal height
      const int64_t i = t.i0 + rows * s / stripes, end = t.i0 + rows * (s + 1) / stripes;
      stripe_product(t, in_place, i, end - i, k0, k, a, room);
    }
  }
  if (t.bias == nullptr) return;
  for (int64_t i = t.i0; i < t.i1; ++i) {
    T* y = t.out + i * t.out_stride;
    for (int64_t j = t.j0; j < t.j1; ++j) y[j] += t.bias[j * t.bias_stride];
  }
}

template <class T>
void gemm_pack_on(T* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first,
                  int64_t last) {
  // Rows are read along, across the panels; columns are transposed a block of k at a time.
  const int64_t step = b.col_stride == 1 ? 16 : kKBlock;
  for (int64_t k0 = 0; k0 < k; k0 += step) {
    for (int64_t panel = first; panel < last; ++panel) {
      pack_block(packed + (panel * k + k0) * kPanel<T>, b, k0, std::min(step, k - k0),
                 panel * kPanel<T>, n);
    }
  }
}

void tile_f32(const GemmTile<float>& tile) { gemm_tile_on(tile); }
void tile_f64(const GemmTile<double>& tile) { gemm_tile_on(tile); }
void pack_f32(float* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first,
              int64_t last) {
  gemm_pack_on(packed, b, k, n, first, last);
}
void pack_f64(double* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first,
              int64_t last) {
  gemm_pack_on(packed, b, k, n, first, last);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

bool gemm_reads_in_place(const GemmOperand& b) {
  return b.col_stride == 1 && (b.dtype == LIBDL_DTYPE_FLOAT32 || b.dtype == LIBDL_DTYPE_FLOAT64);
}

#define LIBDL_GEMM(T, suffix)                                                          \
  template <>                                                                          \
  void gemm_pack(T* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first, \
                 int64_t last) {                                                       \
    LIBDL_ON_ISA(pack_##suffix, packed, b, k, n, first, last);                         \
  }                                                                                    \
  template <>                                                                          \
  void gemm_tile(const GemmTile<T>& tile) {                                            \
    LIBDL_ON_ISA(tile_##suffix, tile);                                                 \
  }
LIBDL_GEMM(float, f32)
LIBDL_GEMM(double, f64)
#undef LIBDL_GEMM

}  // namespace libdl::kernels::cpu
#endif
