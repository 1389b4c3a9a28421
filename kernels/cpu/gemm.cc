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
#include "kernels/cpu/first-inl.h"
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

// One run of the micro-kernel: c[r][j] (+)= alpha * sum over k of a[r][k] * b[k][j], j below kWide
// or `columns`.
template <class T>
struct Step {
  const T* a;
  int64_t a_stride;  // of rows, where a is read in place
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride, k;
  T alpha;
  bool add;
  int64_t columns;  // where fewer than kWide are there
  const T* next;  // of the panel to come, whose rows lie like those of b: a line each comes into L2
};

// How the micro-kernel reads a: rows of T where they lie, or a copied stripe that lies as a does,
// row by row or column by column, so that the copy runs along both.
enum class Lies { kInPlace, kRows, kColumns };

template <class T>
constexpr int64_t in_stripe(Lies lies, int64_t r, int64_t i) {
  return lies == Lies::kColumns ? i * kStripe<T> + r : r * kKBlock<T> + i;
}

// The values of R rows of a at one value of k after the other.
template <class T, int R, Lies kLies>
struct Column {
  const T* at;
  explicit Column(const Step<T>& step) : at(step.a) {}
  HWY_INLINE const T& operator[](int r) const { return at[in_stripe<T>(kLies, r, 0)]; }
  HWY_INLINE void advance() { at += in_stripe<T>(kLies, 0, 1); }
};
template <class T, int R>
struct Column<T, R, Lies::kInPlace> {
  const T* at;
  int64_t stride;
  explicit Column(const Step<T>& step) : at(step.a), stride(step.a_stride) {}
  HWY_INLINE const T& operator[](int r) const { return at[r * stride]; }
  HWY_INLINE void advance() { ++at; }
};

// kVectors is two, or one of which the first `columns` values exist.
template <class T, int R, Lies kLies, int kVectors>
HWY_NOINLINE void kernel(const Step<T>& step) {
  const Vectors<T> d;
  using V = hn::Vec<Vectors<T>>;
  Column<T, R, kLies> a(step);
  const T* HWY_RESTRICT b = step.b;
  T* HWY_RESTRICT c = step.c;
  const int64_t k = step.k, b_stride = step.b_stride, c_stride = step.c_stride;
  const int64_t columns = step.columns;
  const T* next = step.next;
  V sum[kVectors][R];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v][r] = hn::Zero(d);
    hwy::Prefetch(c + r * c_stride);
    if (kVectors > 1) hwy::Prefetch(c + r * c_stride + kWide<T> - 1);
  }
  LIBDL_UNROLL_TWICE
  for (int64_t i = 0; i < k; ++i, a.advance(), b += b_stride, next += b_stride) {
    V y[kVectors];
    if constexpr (kVectors == 1 && first::kMasksMemory) {
      y[0] = first::load(d, columns, b);
    } else {
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, b + v * kN<T>);
    }
    prefetch_l2(next);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r]);
      LIBDL_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[v][r] = hn::MulAdd(x, y[v], sum[v][r]);
    }
  }
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
    case Lies::kInPlace: return kernels_for<T, Lies::kInPlace>(rows, kHeights);
    case Lies::kRows: return kernels_for<T, Lies::kRows>(rows, kHeights);
    case Lies::kColumns: return kernels_for<T, Lies::kColumns>(rows, kHeights);
  }
  return {};
}

template <class T>
HWY_INLINE Lies how_read(const GemmOperand& a, int64_t panels) {
  if (a.col_stride == 1 && a.dtype == kDtype<T> && panels <= 2) return Lies::kInPlace;
  return a.row_stride == 1 && a.col_stride != 1 ? Lies::kColumns : Lies::kRows;
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

// Part `part` of `parts` of the lines that the next stripe of a will be copied from: no hardware
// follows so many short runs.
template <class T>
HWY_INLINE void expect_stripe(const GemmOperand& a, const Block& at, int64_t part, int64_t parts) {
  const int64_t bytes = dtype_bytes(a.dtype);
  const bool by_columns = a.col_stride != 1;
  if (at.rows == 0 || (by_columns && a.row_stride != 1)) return;
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
  const int64_t panels = (t.j1 - t.j0 + kPanel<T> - 1) / kPanel<T>;
  const Lies lies = how_read<T>(t.a, panels);
  if (lies == Lies::kColumns) {
    fetch<kStripe<T>>(a, transposed(t.a), at.k0, at.k, at.i, at.rows);
  } else if (lies == Lies::kRows) {
    fetch<kKBlock<T>>(a, t.a, at.i, at.rows, at.k0, at.k);
  }
  const bool in_place = t.packed == nullptr && gemm_reads_in_place(t.b);
  const int64_t groups = (at.rows + kRows<T> - 1) / kRows<T>;
  const T* const rows =
      lies == Lies::kInPlace ? static_cast<const T*>(t.a.data) + at.i * t.a.row_stride + at.k0 : a;
  Step<T> step{};
  step.c_stride = t.out_stride;
  step.a_stride = t.a.row_stride;
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
    } else if (in_place && (width == kPanel<T> || first::kMasksMemory)) {
      step.b = static_cast<const T*>(t.b.data) + at.k0 * t.b.row_stride + j;
      step.b_stride = t.b.row_stride;
      to_next = kPanel<T>;
    } else {
      pack_block(room, t.b, at.k0, at.k, j, t.j1);
    }
    if (p + 1 == panels) to_next = 0;
    for (int64_t g = 0, r0 = 0, r1; g < groups; ++g, r0 = r1) {  // of nearly equal height
      r1 = at.rows * (g + 1) / groups;
      expect_stripe<T>(t.a, next, p * groups + g, panels * groups);
      step.a = rows + (lies == Lies::kInPlace ? r0 * t.a.row_stride : in_stripe<T>(lies, r0, 0));
      step.c = t.out + (at.i + r0) * t.out_stride + j;
      // A panel has two lines a row: two runs of the kernel bring it.
      const int64_t line = g * (kPanel<T> / kWide<T>);
      step.next = step.b + (line < 2 ? to_next + line * kLine<T> : 0);
      panel_product(kernels_for<T>(r1 - r0, lies), step, width);
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
