// SPDX-License-Identifier: Apache-2.0

// Products with patches by gemm/micro_kernel.cc. The order of each sum depends only on its
// row, its column and the numbers of taps and channels.
#include <algorithm>

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/patches/products.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/patches/patches-inl.h"
#include "kernels/cpu/gemm/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// -- patches times a matrix ---------------------------------------------------------------------

// Where the rows of a stripe lie in memory.
template <class E>
struct StripeRows {
  E* at[kStripe<Wide<E>>];
  int64_t stride = 0;  // between all of them; 0: it varies

  StripeRows(E* first, int64_t distance) : stride(distance) {
    for (E*& row : at) row = first, first += distance;
  }
  // In p's out.
  StripeRows(const PatchesTimesMatrix<E>& p, int64_t i, int64_t rows) {
    const Lattice& lattice = p.a.lattice;
    Pixel pixel(lattice, i);
    for (int64_t r = 0; r < rows; ++r, pixel.advance(lattice)) {
      at[r] = p.out + pixel.image * p.out_strides[0];
      for (int d = 0; d < 3; ++d) at[r] += pixel.at[d] * p.out_strides[d + 1];
    }
    stride = rows > 1 ? at[1] - at[0] : p.out_strides[3];
    for (int64_t r = 2; r < rows; ++r)
      if (at[r] - at[r - 1] != stride) stride = 0;
  }
};

// One run of the micro-kernel for rows that lie anywhere.
template <class T>
HWY_INLINE void scattered_product(const Kernels<T>& kernels, Step<T> step, int64_t width,
                                  T* const* to, int64_t rows, int64_t j) {
  alignas(64) T room[kRows<T> * kPanel<T>];
  if (step.add) {
    for (int64_t r = 0; r < rows; ++r) copy_run(room + r * kPanel<T>, to[r] + j, width);
  }
  step.c = room, step.c_stride = kPanel<T>;
  panel_product(kernels, step, width);
  for (int64_t r = 0; r < rows; ++r) copy_run(to[r] + j, room + r * kPanel<T>, width);
}

// What is written last: the sums with the bias, which lie in `to` already, or aside from p.j0 on.
template <class S>
HWY_INLINE void finish_rows(const PatchesTimesMatrix<S>& p, const StripeRows<Wide<S>>& sums,
                            const StripeRows<S>& to, int64_t rows) {
  using T = Wide<S>;
  const Vectors<T> d;
  const int64_t from = kNarrow<S> ? p.j0 : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* const x = sums.at[r];
    S* const y = to.at[r];
    for (int64_t j = p.j0; j < p.j1; j += kN<T>) {
      const int64_t n = p.j1 - j;
      if (n >= kN<T>) {
        auto v = hn::LoadU(d, x + (j - from));
        if (p.bias != nullptr) v = hn::Add(v, stored::load(d, p.bias + j));
        stored::store(v, d, y + j);
      } else {
        auto v = first::load(d, n, x + (j - from));
        if (p.bias != nullptr) v = hn::Add(v, stored::load(d, n, p.bias + j));
        stored::store(v, d, n, y + j);
      }
    }
  }
}

// Rows [i, i + rows), at most kStripe, columns [k0, k0 + k) of the patches; rows of the sums begin
// with column j0.
template <class S, class T = Wide<S>>
HWY_INLINE void stripe_product(const PatchesTimesMatrix<S>& p, const StripeRows<T>& to, int64_t j0,
                               int64_t i, int64_t rows, int64_t k0, int64_t k, T* a) {
  gather<kKBlock<T>>(a, p.a, i, rows, k0, k0 + k);
  const int64_t all = p.a.columns(), panels = (p.j1 - p.j0 + kPanel<T> - 1) / kPanel<T>;
  const int64_t groups = (rows + kRows<T> - 1) / kRows<T>;
  Step<T> step{};
  step.c_stride = to.stride;
  step.k = k;
  step.alpha = 1;
  step.add = k0 > 0;
  step.b_stride = kPanel<T>;
  for (int64_t panel = 0; panel < panels; ++panel) {
    const int64_t j = p.j0 + panel * kPanel<T>, width = std::min(kPanel<T>, p.j1 - j);
    step.b = p.packed + j * all + k0 * kPanel<T>;
    const int64_t to_next = panel + 1 < panels ? all * kPanel<T> : 0;
    for (int64_t g = 0, r0 = 0, r1; g < groups; ++g, r0 = r1) {
      r1 = rows * (g + 1) / groups;
      step.a = a + r0 * kKBlock<T>;
      const int64_t line = g * (kPanel<T> / kWide<T>);
      step.next = step.b + (line < 2 ? to_next + line * kLine<T> : 0);
      const Kernels<T>& kernels = kernels_for<T>(r1 - r0, Lies::kCopiedRows);
      if (to.stride != 0) {
        step.c = to.at[r0] + (j - j0);
        panel_product(kernels, step, width);
      } else {
        scattered_product(kernels, step, width, to.at + r0, r1 - r0, j - j0);
      }
    }
  }
}

// Calls f(i, rows) for stripes of nearly equal height.
template <class T, class F>
HWY_INLINE void in_stripes(int64_t i0, int64_t i1, F f) {
  const int64_t rows = i1 - i0, stripes = (rows + kStripe<T> - 1) / kStripe<T>;
  for (int64_t s = 0; s < stripes; ++s) {
    const int64_t i = rows * s / stripes;
    f(i0 + i, rows * (s + 1) / stripes - i);
  }
}

template <class S>
void multiply_patches_on(const PatchesTimesMatrix<S>& p) {
  using T = Wide<S>;
  alignas(64) T a[kStripe<T> * kKBlock<T>];
  const int64_t all = p.a.columns();
  if constexpr (kNarrow<S>) {  // a stripe is summed aside, and rounded once
    constexpr int64_t kColumns = kMostColumns<S>;
    alignas(64) T sums[kStripe<T> * kColumns];
    const StripeRows<T> aside(sums, kColumns);
    in_stripes<T>(p.i0, p.i1, [&](int64_t i, int64_t rows) {
      for (int64_t k0 = 0; k0 < all; k0 += kKBlock<T>)
        stripe_product(p, aside, p.j0, i, rows, k0, std::min(kKBlock<T>, all - k0), a);
      finish_rows(p, aside, StripeRows<S>(p, i, rows), rows);
    });
  } else {
    for (int64_t k0 = 0; k0 < all; k0 += kKBlock<T>) {
      const int64_t k = std::min(kKBlock<T>, all - k0);
      in_stripes<T>(p.i0, p.i1, [&](int64_t i, int64_t rows) {
        const StripeRows<T> to(p, i, rows);
        stripe_product(p, to, 0, i, rows, k0, k, a);
        if (p.bias != nullptr && k0 + k >= all) finish_rows(p, to, to, rows);
      });
    }
  }
}

// -- a matrix times patches ----------------------------------------------------------------------

// Rows of both that are multiplied at once: with them, what is gathered fits the L2 cache and the
// stack.
constexpr int64_t kPatchRows = 128;
// One line more than the columns: a power of two would put all rows into a few of the cache's sets.
template <class T>
constexpr int64_t kPatchStride = kPatchColumns<T> + kLine<T>;

// Rows [i, i + height) of out, at most kStripe, and all columns that were gathered.
template <class S, class T = Wide<S>>
HWY_INLINE void add_product(const MatrixTimesPatches<S>& p, int64_t r, int64_t rows, int64_t i,
                            int64_t height, T* a, const T* gathered) {
  for (int64_t k = 0; k < rows; ++k)
    copy_run(a + k * kStripe<T>, p.a + (r + k) * p.a_stride + i, height);
  const int64_t groups = (height + kRows<T> - 1) / kRows<T>;
  Step<T> step{};
  step.a_stride = kStripe<T>;
  step.c_stride = p.out_stride;
  step.k = rows;
  step.alpha = 1;
  step.add = r > p.r0;
  step.b_stride = kPatchStride<T>;
  for (int64_t j = p.j0; j < p.j1; j += kPanel<T>) {
    const int64_t width = std::min(kPanel<T>, p.j1 - j);
    step.b = step.next = gathered + (j - p.j0);
    for (int64_t g = 0, i0 = 0, i1; g < groups; ++g, i0 = i1) {
      i1 = height * (g + 1) / groups;
      step.a = a + i0;
      step.c = p.out + (i + i0) * p.out_stride + j;
      panel_product(kernels_for<T>(i1 - i0, Lies::kColumns), step, width);
    }
  }
}

template <class S>
void multiply_by_patches_on(const MatrixTimesPatches<S>& p) {
  using T = Wide<S>;
  alignas(64) T a[kStripe<T> * kPatchRows];
  alignas(64) T gathered[kPatchRows * kPatchStride<T>];
  for (int64_t r = p.r0; r < p.r1; r += kPatchRows) {
    const int64_t rows = std::min(kPatchRows, p.r1 - r);
    gather<kPatchStride<T>>(gathered, p.b, r, rows, p.j0, p.j1);
    in_stripes<T>(p.i0, p.i1, [&](int64_t i, int64_t height) {
      add_product(p, r, rows, i, height, a, gathered);
    });
  }
}

// -- weights --------------------------------------------------------------------------------------

template <class S, class T = Wide<S>>
void pack_taps_on(T* packed, const Taps<S>& taps, int64_t first, int64_t last) {
  for (int64_t panel = first; panel < last; ++panel) {
    T* to = packed + panel * taps.all_rows() * kPanel<T>;
    for (int64_t i = 0; i < taps.counts[0]; ++i) {
      for (int64_t j = 0; j < taps.counts[1]; ++j) {
        for (int64_t k = 0; k < taps.counts[2]; ++k, to += taps.rows * kPanel<T>) {
          const S* const tap =
              taps.weights + i * taps.strides[0] + j * taps.strides[1] + k * taps.strides[2];
          pack_block(to, {tap, taps.row_stride, taps.col_stride, kStoredDtype<S>}, 0, taps.rows,
                     panel * kPanel<T>, taps.columns);
        }
      }
    }
  }
}

#define LIBDL_PATCHES_ON(S, suffix)                                                       \
  void patches_##suffix(const PatchesTimesMatrix<S>& p) { multiply_patches_on(p); }       \
  void by_patches_##suffix(const MatrixTimesPatches<S>& p) { multiply_by_patches_on(p); } \
  void pack_##suffix(Wide<S>* packed, const Taps<S>& taps, int64_t first, int64_t last) { \
    pack_taps_on(packed, taps, first, last);                                              \
  }
LIBDL_PATCHES_ON(float, f32)
LIBDL_PATCHES_ON(double, f64)
LIBDL_PATCHES_ON(Bfloat, bf16)
LIBDL_PATCHES_ON(Half, f16)
#undef LIBDL_PATCHES_ON

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

#define LIBDL_PATCHES(S, suffix)                                                      \
  template <>                                                                         \
  void multiply_patches(const PatchesTimesMatrix<S>& p) {                             \
    LIBDL_ON_ISA(patches_##suffix, p);                                                \
  }                                                                                   \
  template <>                                                                         \
  void multiply_by_patches(const MatrixTimesPatches<S>& p) {                          \
    LIBDL_ON_ISA(by_patches_##suffix, p);                                             \
  }                                                                                   \
  template <>                                                                         \
  void pack_taps(Wide<S>* packed, const Taps<S>& taps, int64_t first, int64_t last) { \
    LIBDL_ON_ISA(pack_##suffix, packed, taps, first, last);                           \
  }
LIBDL_PATCHES(float, f32)
LIBDL_PATCHES(double, f64)
LIBDL_PATCHES(Bfloat, bf16)
LIBDL_PATCHES(Half, f16)
#undef LIBDL_PATCHES

}  // namespace libdl::kernels::cpu
#endif
