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
#define LIBDL_UNROLL_TWICE _Pragma("clang loop unroll_count(2)")
#else
#define LIBDL_UNROLL _Pragma("GCC unroll 16")
#define LIBDL_UNROLL_TWICE _Pragma("GCC unroll 2")
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
constexpr int64_t kLine = 64 / sizeof(T);  // of a cache
template <class T>
constexpr int64_t kWide = 2 * kN<T>;  // columns of the micro-kernel
// Rows of the micro-kernel: 2 R sums, 2 values of b and one of a must fit the registers.
template <class T>
constexpr int64_t kRows = kN<T> * sizeof(T) == 64   ? 12
                          : kN<T> * sizeof(T) == 32 ? 6
                                                    : 4;
template <class T>
constexpr int32_t kDtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;

HWY_INLINE void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

// Rows [i, i + rows) of a, values [k0, k0 + k) of k.
struct Block {
  int64_t i, rows, k0, k;
};
GemmOperand transposed(const GemmOperand& m) {
  return {m.data, m.col_stride, m.row_stride, m.dtype};
}

// One run of the micro-kernel: c[r][0, kWide) (+)= alpha * sum over k of a[r][k] * b[k][0, kWide).
template <class T>
struct Step {
  const T* a;  // laid out as Stripe is
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride, k;
  T alpha;
  bool add;
  const T* next;  // of the panel to come, whose rows lie like those of b: a line each comes into L2
};

// Where the copy of a stripe of a has row r and value i of k: rows behind each other, or, where the
// columns of a lie in one piece, these.
template <class T, bool kByColumns>
constexpr int64_t in_stripe(int64_t r, int64_t i) {
  return kByColumns ? i * kStripe<T> + r : r * kKBlock + i;
}

template <class T, int R, bool kByColumns>
HWY_NOINLINE void kernel(const Step<T>& step) {
  const Vectors<T> d;
  using V = hn::Vec<Vectors<T>>;
  const T* HWY_RESTRICT a = step.a;
  const T* HWY_RESTRICT b = step.b;
  T* HWY_RESTRICT c = step.c;
  const int64_t k = step.k, b_stride = step.b_stride, c_stride = step.c_stride;
  const T* next = step.next;
  V sum0[R], sum1[R];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    sum0[r] = sum1[r] = hn::Zero(d);
    hwy::Prefetch(c + r * c_stride);
    hwy::Prefetch(c + r * c_stride + kWide<T> - 1);
  }
  LIBDL_UNROLL_TWICE
  for (int64_t i = 0; i < k; ++i, b += b_stride, next += b_stride) {
    const V b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kN<T>);
    prefetch_l2(next);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[in_stripe<T, kByColumns>(r, i)]);
      sum0[r] = hn::MulAdd(x, b0, sum0[r]);
      sum1[r] = hn::MulAdd(x, b1, sum1[r]);
    }
  }
  const V scale = hn::Set(d, step.alpha);
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    T* to = c + r * c_stride;
    V y0 = hn::Mul(sum0[r], scale), y1 = hn::Mul(sum1[r], scale);
    if (step.add) {
      y0 = hn::Add(hn::LoadU(d, to), y0);
      y1 = hn::Add(hn::LoadU(d, to + kN<T>), y1);
    }
    hn::StoreU(y0, d, to);
    hn::StoreU(y1, d, to + kN<T>);
  }
}

template <class T>
using Kernel = void (*)(const Step<T>&);
template <class T, bool kByColumns, int... R>
HWY_INLINE Kernel<T> kernel_for(int64_t rows, std::integer_sequence<int, R...>) {
  static constexpr Kernel<T> kList[] = {kernel<T, R + 1, kByColumns>...};
  return kList[rows - 1];
}
template <class T>
HWY_INLINE Kernel<T> kernel_for(int64_t rows, bool by_columns) {
  constexpr auto kHeights = std::make_integer_sequence<int, static_cast<int>(kRows<T>)>();
  return by_columns ? kernel_for<T, true>(rows, kHeights) : kernel_for<T, false>(rows, kHeights);
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

// The micro-kernel over `width` columns of one panel.
template <class T>
HWY_INLINE void panel_product(Kernel<T> f, Step<T> step, int64_t rows, int64_t width) {
  const int64_t whole = width / kWide<T> * kWide<T>;
  for (int64_t j = 0; j < whole; j += kWide<T>) {
    f(step);
    step.b += kWide<T>;
    step.c += kWide<T>;
    step.next += kLine<T>;
  }
  if (whole == width) return;
  alignas(64) T edge[kRows<T> * kWide<T>];
  const int64_t rest = width - whole, out_stride = step.c_stride;
  T* out = step.c;
  for (int64_t r = 0; step.add && r < rows; ++r) {
    std::copy_n(out + r * out_stride, rest, edge + r * kWide<T>);
    std::fill(edge + r * kWide<T> + rest, edge + (r + 1) * kWide<T>, T(0));
  }
  step.c = edge;
  step.c_stride = kWide<T>;
  f(step);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(edge + r * kWide<T>, rest, out + r * out_stride);
}

// Part `part` of `parts` of the lines that a stripe of a is copied from.
template <class T>
HWY_INLINE void expect_stripe(const GemmOperand& a, const Block& at, int64_t part, int64_t parts) {
  const int64_t bytes = dtype_bytes(a.dtype);
  const bool by_columns = a.col_stride != 1;
  if (by_columns && a.row_stride != 1) return;
  const int64_t runs = by_columns ? at.k : at.rows, length = (by_columns ? at.rows : at.k) * bytes;
  const int64_t stride = (by_columns ? a.col_stride : a.row_stride) * bytes;
  const char* from =
      static_cast<const char*>(a.data) + (at.i * a.row_stride + at.k0 * a.col_stride) * bytes;
  for (int64_t r = runs * part / parts; r < runs * (part + 1) / parts; ++r) {
    for (int64_t byte = 0; byte < length; byte += 64) prefetch_l2(from + r * stride + byte);
  }
}

// Rows [i, i + rows), at most kStripe, and values [k0, k0 + k) of k. `next` is copied after it.
template <class T>
HWY_INLINE void stripe_product(const GemmTile<T>& t, const Block& at, const Block& next, T* a,
                               T* room) {
  const bool by_columns = t.a.row_stride == 1 && t.a.col_stride != 1;
  if (by_columns) {
    fetch<kStripe<T>>(a, transposed(t.a), at.k0, at.k, at.i, at.rows);
  } else {
    fetch<kKBlock>(a, t.a, at.i, at.rows, at.k0, at.k);
  }
  const bool in_place = t.packed == nullptr && gemm_reads_in_place(t.b);
  const int64_t groups = (at.rows + kRows<T> - 1) / kRows<T>;
  const int64_t panels = (t.j1 - t.j0 + kPanel<T> - 1) / kPanel<T>;
  Step<T> step{};
  step.c_stride = t.out_stride;
  step.k = at.k;
  step.alpha = t.alpha;
  step.add = at.k0 > 0 || t.beta != 0;
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t j = t.j0 + p * kPanel<T>, width = std::min(kPanel<T>, t.j1 - j);
    step.b = room;
    step.b_stride = kPanel<T>;
    int64_t to_next = 0;
    if (t.packed != nullptr) {
      step.b = t.packed + j * t.k + at.k0 * kPanel<T>;
      to_next = t.k * kPanel<T>;
    } else if (in_place && width == kPanel<T>) {
      step.b = static_cast<const T*>(t.b.data) + at.k0 * t.b.row_stride + j;
      step.b_stride = t.b.row_stride;
      to_next = kPanel<T>;
    } else {
      pack_block(room, t.b, at.k0, at.k, j, t.j1);
    }
    if (p + 1 == panels) to_next = 0;
    for (int64_t g = 0; g < groups; ++g) {  // groups of nearly equal height
      const int64_t r0 = at.rows * g / groups, r1 = at.rows * (g + 1) / groups;
      expect_stripe<T>(t.a, next, p * groups + g, panels * groups);
      step.a = a + (by_columns ? in_stripe<T, true>(r0, 0) : in_stripe<T, false>(r0, 0));
      step.c = t.out + (at.i + r0) * t.out_stride + j;
      // A panel has two lines a row: two runs of the kernel bring it.
      const int64_t line = g * (kPanel<T> / kWide<T>);
      step.next = step.b + (line < 2 ? to_next + line * kLine<T> : 0);
      panel_product(kernel_for<T>(r1 - r0, by_columns), step, r1 - r0, width);
    }
  }
}

template <class T>
void gemm_tile_on(const GemmTile<T>& t) {
  alignas(64) T a[kStripe<T> * kKBlock];
  alignas(64) T room[kPanel<T> * kKBlock];
  if (t.k == 0 || (t.beta != 0 && t.beta != 1)) {
    for (int64_t i = t.i0; i < t.i1; ++i) {
      T* y = t.out + i * t.out_stride;
      for (int64_t j = t.j0; j < t.j1; ++j) y[j] = t.beta == 0 ? 0 : y[j] * t.beta;
    }
  }
  const int64_t rows = t.i1 - t.i0, stripes = (rows + kStripe<T> - 1) / kStripe<T>;
  const int64_t blocks = (t.k + kKBlock - 1) / kKBlock * stripes;
  const auto block = [&](int64_t n) {  // stripes of nearly equal height
    const int64_t k0 = n / stripes * kKBlock, s = n % stripes, i = rows * s / stripes;
    return Block{t.i0 + i, rows * (s + 1) / stripes - i, k0, std::min(kKBlock, t.k - k0)};
  };
  for (int64_t n = 0; n < blocks; ++n) {
    stripe_product(t, block(n), n + 1 < blocks ? block(n + 1) : Block{}, a, room);
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
