// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/gemm.h"

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Rows [i, i + rows) of a, values [k0, k0 + k) of k.
struct Block {
  int64_t i, rows, k0, k;
};

struct Reading {
  Lies lies;
  bool copied;
};

// A copy repays itself where rows get into each other's way in the first cache (those 2^11 bytes
// apart share two of its sets) or columns lie far apart, and more than two panels meet them.
template <class T>
HWY_INLINE Reading how_read(const GemmOperand& a, int64_t panels) {
  const bool columns = a.row_stride == 1 && a.col_stride != 1;
  if (a.dtype == kDtype<T> && (columns || a.col_stride == 1)) {
    const int64_t bytes = (columns ? a.col_stride : a.row_stride) * static_cast<int64_t>(sizeof(T));
    const bool near = columns ? bytes <= 512 : bytes % 2048 != 0;
    if (near || panels <= 2) return {columns ? Lies::kColumns : Lies::kRows, false};
  }
  return {columns ? Lies::kColumns : Lies::kCopiedRows, true};
}

// Where a's columns are contiguous, its copy has the rows of one run of the micro-kernel side by
// side for every value of k: read in their own order, each value would bring a line of the cache of
// which the run wants a part.
template <class T>
struct Groups {
  static constexpr int64_t kVectors = (kRows<T> + kN<T> - 1) / kN<T>;
  static constexpr int64_t kBeyond = kVectors * kN<T> - kRows<T>;  // what the last vector writes
  static constexpr int64_t kSize = kRows<T> * kKBlock<T> + kBeyond;

  static constexpr int64_t count(int64_t rows) { return (rows + kRows<T> - 1) / kRows<T>; }
  static int64_t first_row(int64_t rows, int64_t g) { return rows * g / count(rows); }

  static HWY_INLINE void copy(T* to, const GemmOperand& a, const Block& at) {
    constexpr int64_t kAtOnce = 16;
    alignas(64) T run[kAtOnce * kStripe<T> + kVectors * kN<T>];
    const Vectors<T> d;
    for (int64_t s = 0; s < at.k; s += kAtOnce) {
      const int64_t n = std::min(kAtOnce, at.k - s);
      fetch<kStripe<T>>(run, transposed(a), at.k0 + s, n, at.i, at.rows);
      for (int64_t g = 0; g < count(at.rows); ++g) {
        const T* from = run + first_row(at.rows, g);
        T* group = to + g * kSize + s * kRows<T>;
        for (int64_t k = 0; k < n; ++k, from += kStripe<T>, group += kRows<T>) {
          for (int64_t v = 0; v < kVectors; ++v)
            hn::StoreU(hn::LoadU(d, from + v * kN<T>), d, group + v * kN<T>);
        }
      }
    }
  }
};

// Prefetches part `part` of `parts` of the lines that the next stripe of a will be read from:
// hardware prefetchers do not follow so many short runs.
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

// Whether out is written past the caches: it is much larger than they are, is written once, and in
// whole lines. Otherwise each line would be read from memory before it is written.
template <class T>
HWY_INLINE bool streams(const GemmTile<T>& t) {
  constexpr int64_t kBytes = static_cast<int64_t>(sizeof(T));
  return t.large && kWide<T> * kBytes >= 64 && t.k <= kKBlock<T> && t.beta == 0 &&
         t.bias == nullptr && reinterpret_cast<uintptr_t>(t.out) % 64 == 0 &&
         t.out_stride * kBytes % 64 == 0;
}

// Multiplies rows [i, i + rows), at most kStripe, for values [k0, k0 + k) of k. `next` is the
// stripe after it.
template <class T>
HWY_INLINE void stripe_product(const GemmTile<T>& t, const Block& at, const Block& next, T* a,
                               T* room) {
  const int64_t panels = (t.j1 - t.j0 + kPanel<T> - 1) / kPanel<T>;
  const auto [lies, copied] = how_read<T>(t.a, panels);
  // Copy the stripe of a, unless it is read in place.
  const bool columns = lies == Lies::kColumns, grouped = copied && columns;
  if (grouped) {
    Groups<T>::copy(a, t.a, at);
  } else if (lies == Lies::kCopiedRows) {
    fetch<kKBlock<T>>(a, t.a, at.i, at.rows, at.k0, at.k);
  }
  const bool in_place = t.packed == nullptr && gemm_reads_in_place(t.b);
  const int64_t groups = Groups<T>::count(at.rows);
  const T* first = a;
  int64_t row_stride = kKBlock<T>;
  if (!copied) {
    first = static_cast<const T*>(t.a.data) + at.i * t.a.row_stride + at.k0 * t.a.col_stride;
    row_stride = t.a.row_stride;
  }
  Step<T> step{};
  step.c_stride = t.out_stride;
  step.a_stride = grouped ? kRows<T> : columns ? t.a.col_stride : t.a.row_stride;
  step.k = at.k;
  step.alpha = t.alpha;
  step.add = at.k0 > 0 || t.beta != 0;
  step.stream = streams(t);
  // Multiply it by one panel of b after another.
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t j = t.j0 + p * kPanel<T>, width = std::min(kPanel<T>, t.j1 - j);
    // Find the panel: packed already, in place, or packed now.
    step.b = room;
    step.b_stride = kPanel<T>;
    int64_t to_next = 0;
    if (t.packed != nullptr) {
      step.b = t.packed + j * t.k + at.k0 * kPanel<T>;
      to_next = t.k * kPanel<T>;
    } else if (in_place && (width == kPanel<T> || first::kMasksMemory)) {
      step.b = static_cast<const T*>(t.b.data) + at.k0 * t.b.row_stride + j;
      step.b_stride = t.b.row_stride;
      to_next = t.long_sums ? kKBlock<T> * t.b.row_stride : kPanel<T>;
    } else {
      pack_block(room, t.b, at.k0, at.k, j, t.j1);
    }
    if (t.long_sums ? at.k0 + at.k == t.k : p + 1 == panels) to_next = 0;
    // Multiply groups of rows by the panel.
    for (int64_t g = 0, r0 = 0, r1; g < groups; ++g, r0 = r1) {  // of nearly equal height
      r1 = Groups<T>::first_row(at.rows, g + 1);
      expect_stripe<T>(t.a, next, p * groups + g, panels * groups);
      step.a = grouped ? a + g * Groups<T>::kSize : first + r0 * row_stride;
      step.c = t.out + (at.i + r0) * t.out_stride + j;
      // A panel has two lines per row: two runs of the kernel prefetch it.
      const int64_t line = g * (kPanel<T> / kWide<T>);
      step.next = step.b + (line < 2 ? to_next + line * kLine<T> : 0);
      panel_product(kernels_for<T>(r1 - r0, lies), step, width);
    }
  }
}

template <class T>
void gemm_tile_on(const GemmTile<T>& t) {
  constexpr int64_t kGrouped = Groups<T>::count(kStripe<T>) * Groups<T>::kSize;
  alignas(64) T a[std::max(kStripe<T> * kKBlock<T>, kGrouped)];
  alignas(64) T room[kPanel<T> * kKBlock<T>];
  // Scale out by beta, unless the first block of k overwrites it or adds to it as it is.
  if (t.k == 0 || (t.beta != 0 && t.beta != 1)) {
    for (int64_t i = t.i0; i < t.i1; ++i) {
      T* y = t.out + i * t.out_stride;
      for (int64_t j = t.j0; j < t.j1; ++j) y[j] = t.beta == 0 ? 0 : y[j] * t.beta;
    }
  }
  // Multiply: blocks of k, and within them stripes of rows.
  const int64_t rows = t.i1 - t.i0, stripes = (rows + kStripe<T> - 1) / kStripe<T>;
  const int64_t blocks = (t.k + kKBlock<T> - 1) / kKBlock<T> * stripes;
  const auto block = [&](int64_t n) {  // stripes of nearly equal height
    const int64_t k0 = n / stripes * kKBlock<T>, s = n % stripes, i = rows * s / stripes;
    return Block{t.i0 + i, rows * (s + 1) / stripes - i, k0, std::min(kKBlock<T>, t.k - k0)};
  };
  for (int64_t n = 0; n < blocks; ++n) {
    stripe_product(t, block(n), n + 1 < blocks ? block(n + 1) : Block{}, a, room);
  }
  if (streams(t)) hwy::FlushStream();  // before other threads are told
  // Add the bias.
  if (t.bias == nullptr) return;
  for (int64_t i = t.i0; i < t.i1; ++i) {
    T* y = t.out + i * t.out_stride;
    for (int64_t j = t.j0; j < t.j1; ++j) y[j] += t.bias[j * t.bias_stride];
  }
}

template <class T>
void gemm_pack_on(T* packed, const GemmOperand& b, int64_t k, int64_t n, int64_t first,
                  int64_t last) {
  // Contiguous rows are read along, across the panels; contiguous columns are transposed a block of
  // k at a time.
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
