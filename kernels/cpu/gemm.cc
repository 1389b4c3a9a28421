// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "kernels/cpu/panels-inl.h"

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

template <class T>
constexpr int64_t kLine = 64 / sizeof(T);  // of a cache
template <class T>
constexpr int64_t kWide = 2 * kN<T>;  // columns of the micro-kernel
// Rows of the micro-kernel: 2 R sums, 2 values of b and one of a must fit the registers.
template <class T>
constexpr int64_t kRows = kN<T> * sizeof(T) == 64   ? 12
                          : kN<T> * sizeof(T) == 32 ? 6
                                                    : 4;

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
  const T* a;  // of the copied stripe
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride, k;
  T alpha;
  bool add;
  const T* next;  // of the panel to come, whose rows lie like those of b: a line each comes into L2
};

// Where the copied stripe of a has row r and value i of k: as a lies itself, row by row or column
// by column, so that the copy runs along both.
template <class T, bool kByColumns>
constexpr int64_t in_stripe(int64_t r, int64_t i) {
  return kByColumns ? i * kStripe<T> + r : r * kKBlock<T> + i;
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

// Part `part` of `parts` of the lines that the next stripe of a will be copied from: no hardware
// follows so many short runs.
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
    fetch<kKBlock<T>>(a, t.a, at.i, at.rows, at.k0, at.k);
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
  alignas(64) T a[kStripe<T> * kKBlock<T>];
  alignas(64) T room[kPanel<T> * kKBlock<T>];
  if (t.k == 0 || (t.beta != 0 && t.beta != 1)) {
    for (int64_t i = t.i0; i < t.i1; ++i) {
      T* y = t.out + i * t.out_stride;
      for (int64_t j = t.j0; j < t.j1; ++j) y[j] = t.beta == 0 ? 0 : y[j] * t.beta;
    }
  }
  const int64_t rows = t.i1 - t.i0, stripes = (rows + kStripe<T> - 1) / kStripe<T>;
  const int64_t blocks = (t.k + kKBlock<T> - 1) / kKBlock<T> * stripes;
  const auto block = [&](int64_t n) {  // stripes of nearly equal height
    const int64_t k0 = n / stripes * kKBlock<T>, s = n % stripes, i = rows * s / stripes;
    return Block{t.i0 + i, rows * (s + 1) / stripes - i, k0, std::min(kKBlock<T>, t.k - k0)};
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
  const int64_t step = b.col_stride == 1 ? 16 : kKBlock<T>;
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
