// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/sgemm.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sgemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

#if defined(__clang__)
#define LIBDL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LIBDL_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kN = hn::MaxLanes(D());
constexpr int64_t kWide = 2 * kN;  // columns of the micro-kernel
// Rows of the micro-kernel: 2 R sums, 2 values of b and one of a must fit the registers.
constexpr int kRows = kN == 16 ? 12 : kN == 8 ? 6 : 4;

// c[r][0, kWide) (+)= alpha * sum over k of a[k][r] * b[k][0, kWide); a has R values for every k,
// b has kPanel.
template <int R>
HWY_NOINLINE void kernel(int64_t k, const float* a, const float* b, float* c, int64_t c_stride,
                         bool add, float alpha) {
  const D d;
  V sum0[R], sum1[R];
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) sum0[r] = sum1[r] = hn::Zero(d);
  for (int64_t i = 0; i < k; ++i, a += R, b += kPanel) {
    const V b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kN);
    LIBDL_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r]);
      sum0[r] = hn::MulAdd(x, b0, sum0[r]);
      sum1[r] = hn::MulAdd(x, b1, sum1[r]);
    }
  }
  const V scale = hn::Set(d, alpha);
  LIBDL_UNROLL
  for (int r = 0; r < R; ++r) {
    float* to = c + r * c_stride;
    V y0 = hn::Mul(sum0[r], scale), y1 = hn::Mul(sum1[r], scale);
    if (add) {
      y0 = hn::Add(hn::LoadU(d, to), y0);
      y1 = hn::Add(hn::LoadU(d, to + kN), y1);
    }
    hn::StoreU(y0, d, to);
    hn::StoreU(y1, d, to + kN);
  }
}

using Kernel = void (*)(int64_t, const float*, const float*, float*, int64_t, bool, float);
template <int... R>
constexpr Kernel kernel_for(int rows, std::integer_sequence<int, R...>) {
  constexpr Kernel list[] = {kernel<R + 1>...};
  return list[rows - 1];
}

// to[k][r] = a[i + r][k0 + k] for `rows` rows.
HWY_INLINE void pack_a(float* to, const SgemmOperand& a, int64_t i, int64_t rows, int64_t k0,
                       int64_t k) {
  const int64_t bytes = a.dtype == LIBDL_DTYPE_FLOAT32 ? 4 : 2;
  const char* from =
      static_cast<const char*>(a.data) + (i * a.row_stride + k0 * a.col_stride) * bytes;
  if (a.dtype == LIBDL_DTYPE_FLOAT32) {
    const float* x = reinterpret_cast<const float*>(from);
    if (a.row_stride == 1) {
      for (int64_t s = 0; s < k; ++s) {
        for (int64_t r = 0; r < rows; ++r) to[s * rows + r] = x[s * a.col_stride + r];
      }
      return;
    }
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t s = 0; s < k; ++s) to[s * rows + r] = x[r * a.row_stride + s * a.col_stride];
    }
    return;
  }
  float row[kKBlock];
  for (int64_t r = 0; r < rows; ++r) {
    load_tile(row, from + r * a.row_stride * bytes, a.dtype, a.col_stride, k);
    for (int64_t s = 0; s < k; ++s) to[s * rows + r] = row[s];
  }
}

// out (+)= alpha * a * panel for `rows` rows and the columns of one panel, `width` of them wanted.
HWY_INLINE void panel_product(int64_t rows, int64_t k, const float* a, const float* b, float* out,
                              int64_t out_stride, int64_t width, bool add, float alpha) {
  const Kernel f = kernel_for(static_cast<int>(rows), std::make_integer_sequence<int, kRows>());
  int64_t j = 0;
  for (; j + kWide <= width; j += kWide) f(k, a, b + j, out + j, out_stride, add, alpha);
  if (j == width) return;
  float edge[kRows * kWide];
  for (int64_t r = 0; add && r < rows; ++r) {
    std::copy(out + r * out_stride + j, out + r * out_stride + width, edge + r * kWide);
    std::fill(edge + r * kWide + (width - j), edge + (r + 1) * kWide, 0.0f);
  }
  f(k, a, b + j, edge, kWide, add, alpha);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(edge + r * kWide, width - j, out + r * out_stride + j);
  }
}

void sgemm_tile_on(const SgemmTile& t) {
  alignas(64) float a[kRows * kKBlock];
  for (int64_t i = t.i0; i < t.i1; i += kRows) {
    const int64_t rows = std::min<int64_t>(kRows, t.i1 - i);
    float* out = t.out + i * t.out_stride;
    if (t.k == 0 || (t.beta != 0 && t.beta != 1)) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = t.j0; j < t.j1; ++j) {
          float& y = out[r * t.out_stride + j];
          y = t.beta == 0 ? 0 : y * t.beta;
        }
      }
    }
  }
  for (int64_t k0 = 0; k0 < t.k; k0 += kKBlock) {
    const int64_t k = std::min(kKBlock, t.k - k0);
    const bool add = k0 > 0 || t.beta != 0;
    for (int64_t i = t.i0; i < t.i1; i += kRows) {
      const int64_t rows = std::min<int64_t>(kRows, t.i1 - i);
      pack_a(a, t.a, i, rows, k0, k);
      for (int64_t j = t.j0; j < t.j1; j += kPanel) {
        panel_product(rows, k, a, t.packed + j * t.k + k0 * kPanel, t.out + i * t.out_stride + j,
                      t.out_stride, std::min(kPanel, t.j1 - j), add, t.alpha);
      }
    }
  }
  if (t.bias == nullptr) return;
  for (int64_t i = t.i0; i < t.i1; ++i) {
    for (int64_t j = t.j0; j < t.j1; ++j) t.out[i * t.out_stride + j] += t.bias[j * t.bias_stride];
  }
}

void sgemm_pack_on(float* packed, const SgemmOperand& b, int64_t k, int64_t n, int64_t panel) {
  const int64_t bytes = b.dtype == LIBDL_DTYPE_FLOAT32 ? 4 : 2;
  const int64_t j = panel * kPanel, width = std::min(kPanel, n - j);
  const char* from = static_cast<const char*>(b.data) + j * b.col_stride * bytes;
  float* to = packed + j * k;
  if (b.row_stride == 1) {  // k runs along memory: read it so, and spread it
    float run[kKBlock];
    for (int64_t c = 0; c < kPanel; ++c) {
      for (int64_t s = 0; s < k; s += kKBlock) {
        const int64_t count = std::min(kKBlock, k - s);
        if (c < width) {
          load_tile(run, from + (c * b.col_stride + s) * bytes, b.dtype, 1, count);
        } else {
          std::fill_n(run, count, 0.0f);
        }
        for (int64_t i = 0; i < count; ++i) to[(s + i) * kPanel + c] = run[i];
      }
    }
    return;
  }
  for (int64_t s = 0; s < k; ++s) {
    load_tile(to + s * kPanel, from + s * b.row_stride * bytes, b.dtype, b.col_stride, width);
    std::fill(to + s * kPanel + width, to + (s + 1) * kPanel, 0.0f);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void sgemm_pack(float* packed, const SgemmOperand& b, int64_t k, int64_t n, int64_t panel) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(sgemm_pack_on)) kOn[] =
      LIBDL_FOR_EACH_ISA(sgemm_pack_on);
  kOn[static_cast<int>(isa())](packed, b, k, n, panel);
}

void sgemm_tile(const SgemmTile& tile) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(sgemm_tile_on)) kOn[] =
      LIBDL_FOR_EACH_ISA(sgemm_tile_on);
  kOn[static_cast<int>(isa())](tile);
}

}  // namespace libdl::kernels::cpu
#endif
