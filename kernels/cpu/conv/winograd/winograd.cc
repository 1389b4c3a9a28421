// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/winograd/winograd.h"

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/winograd/winograd.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/winograd/winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace winograd {

constexpr int64_t kChannels = kBlock, kTiles = kMostTiles;

// -- forward --------------------------------------------------------------------------------------

// One point: y[tile, :] = x[tile, :] times the weights' panels.
template <class S>
HWY_INLINE void multiply_point(const WinogradTiles<S>& t, const float* x, const float* panels,
                               float* y, int64_t tiles) {
  const int64_t c = t.in.channels, k = t.out.channels;
  const int64_t groups = (tiles + kRows<float> - 1) / kRows<float>;
  Step<float> step{};
  step.a_stride = winograd_stride(c), step.c_stride = winograd_stride(k);
  step.alpha = 1;
  step.b_stride = kPanel<float>;
  for (int64_t j = 0; j < k; j += kPanel<float>, panels += c * kPanel<float>) {
    const int64_t width = std::min(kPanel<float>, k - j);
    for (int64_t c0 = 0; c0 < c; c0 += kChannels) {
      step.k = std::min(kChannels, c - c0);
      step.add = c0 > 0;
      step.b = panels + c0 * kPanel<float>;
      for (int64_t g = 0, r0 = 0, r1; g < groups; ++g, r0 = r1) {
        r1 = tiles * (g + 1) / groups;
        const int64_t line = g * (kPanel<float> / kWide<float>);
        step.next = step.b + (line < 2 ? kChannels * kPanel<float> + line * kLine<float> : 0);
        step.a = x + r0 * step.a_stride + c0;
        step.c = y + r0 * step.c_stride + j;
        panel_product(kernels_for<float>(r1 - r0, Lies::kRows), step, width);
      }
    }
  }
}

template <int kTaps, class S>
void tiles_on(const WinogradTiles<S>& t) {
  const int64_t c = t.in.channels, k = t.out.channels, tiles = t.last - t.first;
  const int64_t x_matrix = winograd_matrix(c, t.most), y_matrix = winograd_matrix(k, t.most);
  float *const x = t.room, *const y = x + kPoints * x_matrix;
  const int64_t points = (k + kPanel<float> - 1) / kPanel<float> * kPanel<float> * c;
  for (int64_t n = 0; n < tiles; ++n) {
    const Place at(t.grid, t.first + n, kTileOut<kTaps>);
    window_to_points<InputToPoints>(
        Window<6, S>(t.in, at.image, at.row - t.before[0], at.column - t.before[1]), c,
        x + n * winograd_stride(c), x_matrix);
  }
  for (int64_t p = 0; p < kPoints; ++p)
    multiply_point(t, x + p * x_matrix, t.points + p * points, y + p * y_matrix, tiles);
  for (int64_t n = 0; n < tiles; ++n)
    write_tile<kTaps>(t.out, t.bias, Place(t.grid, t.first + n, kTileOut<kTaps>), 0, k,
                      y + n * winograd_stride(k), y_matrix);
}

// -- weights --------------------------------------------------------------------------------------

template <int kTaps, class S>
void points_on(float* points, const Taps<S>& taps, int64_t first, int64_t last) {
  const int64_t panels = (taps.columns + kPanel<float> - 1) / kPanel<float>;
  const int64_t matrix = panels * kPanel<float> * taps.rows;
  for (int64_t panel = first; panel < last; ++panel)
    for (int64_t r = 0; r < taps.rows; r += kRowsAtOnce)
      weights_to_points<kTaps>(taps, r, std::min(kRowsAtOnce, taps.rows - r), panel,
                               points + (panel * taps.rows + r) * kPanel<float>, matrix);
}

// -- the weights' gradient ------------------------------------------------------------------------

template <int kTaps, class S>
void transform_on(const WinogradGradient<S>& g, int64_t first, int64_t last) {
  const int64_t c = g.x.channels, k = g.y.channels, tiles = g.end - g.begin;
  for (int64_t n = first; n < last; ++n) {
    const Place at(g.grid, g.begin + n, kTileOut<kTaps>);
    window_to_points<InputToPoints>(
        Window<6, S>(g.x, at.image, at.row - g.before[0], at.column - g.before[1]), c,
        g.x_points + n * winograd_stride(c), winograd_matrix(c, tiles));
    window_to_points<OutputToPoints<kTaps>>(
        Window<kTileOut<kTaps>, S>(g.y, at.image, at.row, at.column), k,
        g.y_points + n * winograd_stride(k), winograd_matrix(k, tiles));
  }
}

template <class S>
void add_on(const WinogradGradient<S>& g, int64_t point, int64_t first, int64_t last) {
  const int64_t c = g.x.channels, k = g.y.channels, tiles = g.end - g.begin;
  const float* const x = g.x_points + point * winograd_matrix(c, tiles);
  const float* const y = g.y_points + point * winograd_matrix(k, tiles);
  float* const sums = g.sums + point * k * c;
  const int64_t groups = (last - first + kRows<float> - 1) / kRows<float>;
  Step<float> step{};
  step.a_stride = winograd_stride(k), step.b_stride = winograd_stride(c), step.c_stride = c;
  step.alpha = 1;
  for (int64_t t = 0; t < tiles; t += kTiles) {
    step.k = std::min(kTiles, tiles - t);
    step.add = g.begin + t > 0;
    for (int64_t j = 0; j < c; j += kPanel<float>) {
      const int64_t width = std::min(kPanel<float>, c - j);
      step.b = step.next = x + t * step.b_stride + j;
      for (int64_t n = 0, r0 = first, r1; n < groups; ++n, r0 = r1) {
        r1 = first + (last - first) * (n + 1) / groups;
        step.a = y + t * step.a_stride + r0;
        step.c = sums + r0 * c + j;
        panel_product(kernels_for<float>(r1 - r0, Lies::kColumns), step, width);
      }
    }
  }
}

template <int kTaps, class S>
void finish_on(const WinogradGradient<S>& g, int64_t first, int64_t last) {
  const int64_t c = g.x.channels;
  for (int64_t r = first; r < last; ++r)
    sums_to_weights<kTaps>(g.sums + r * c, g.y.channels * c, c, g.w + r * g.w_stride, c);
}

#define LIBDL_WINOGRAD_ON(S, kTaps, suffix)                                                      \
  void tiles_##suffix##kTaps(const WinogradTiles<S>& t) { tiles_on<kTaps>(t); }                  \
  void points_##suffix##kTaps(float* points, const Taps<S>& taps, int64_t first, int64_t last) { \
    points_on<kTaps>(points, taps, first, last);                                                 \
  }                                                                                              \
  void transform_##suffix##kTaps(const WinogradGradient<S>& g, int64_t first, int64_t last) {    \
    transform_on<kTaps>(g, first, last);                                                         \
  }                                                                                              \
  void finish_##suffix##kTaps(const WinogradGradient<S>& g, int64_t first, int64_t last) {       \
    finish_on<kTaps>(g, first, last);                                                            \
  }
#define LIBDL_WINOGRAD_ADD_ON(S, suffix)                                                        \
  void add_##suffix(const WinogradGradient<S>& g, int64_t point, int64_t first, int64_t last) { \
    add_on(g, point, first, last);                                                              \
  }
LIBDL_WINOGRAD_ON(float, 3, f32_)
LIBDL_WINOGRAD_ON(float, 5, f32_)
LIBDL_WINOGRAD_ON(Bfloat, 3, bf16_)
LIBDL_WINOGRAD_ON(Bfloat, 5, bf16_)
LIBDL_WINOGRAD_ON(Half, 3, f16_)
LIBDL_WINOGRAD_ON(Half, 5, f16_)
LIBDL_WINOGRAD_ADD_ON(float, f32)
LIBDL_WINOGRAD_ADD_ON(Bfloat, bf16)
LIBDL_WINOGRAD_ADD_ON(Half, f16)
#undef LIBDL_WINOGRAD_ON
#undef LIBDL_WINOGRAD_ADD_ON

}  // namespace winograd
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

int64_t winograd_room(int64_t in_channels, int64_t out_channels, int64_t tiles) {
  return kPoints * (winograd_matrix(in_channels, tiles) + winograd_matrix(out_channels, tiles));
}

#define LIBDL_WINOGRAD(S, kTaps, suffix)                                                         \
  template <>                                                                                    \
  void winograd_tiles<S, kTaps>(const WinogradTiles<S>& t) {                                     \
    LIBDL_ON_ISA(winograd::tiles_##suffix##kTaps, t);                                            \
  }                                                                                              \
  template <>                                                                                    \
  void winograd_points<S, kTaps>(float* points, const Taps<S>& taps, int64_t first,              \
                                 int64_t last) {                                                 \
    LIBDL_ON_ISA(winograd::points_##suffix##kTaps, points, taps, first, last);                   \
  }                                                                                              \
  template <>                                                                                    \
  void winograd_transform<S, kTaps>(const WinogradGradient<S>& g, int64_t first, int64_t last) { \
    LIBDL_ON_ISA(winograd::transform_##suffix##kTaps, g, first, last);                           \
  }                                                                                              \
  template <>                                                                                    \
  void winograd_finish<S, kTaps>(const WinogradGradient<S>& g, int64_t first, int64_t last) {    \
    LIBDL_ON_ISA(winograd::finish_##suffix##kTaps, g, first, last);                              \
  }
#define LIBDL_WINOGRAD_ADD(S, suffix)                                                           \
  template <>                                                                                   \
  void winograd_add(const WinogradGradient<S>& g, int64_t point, int64_t first, int64_t last) { \
    LIBDL_ON_ISA(winograd::add_##suffix, g, point, first, last);                                \
  }
LIBDL_WINOGRAD(float, 3, f32_)
LIBDL_WINOGRAD(float, 5, f32_)
LIBDL_WINOGRAD(Bfloat, 3, bf16_)
LIBDL_WINOGRAD(Bfloat, 5, bf16_)
LIBDL_WINOGRAD(Half, 3, f16_)
LIBDL_WINOGRAD(Half, 5, f16_)
LIBDL_WINOGRAD_ADD(float, f32)
LIBDL_WINOGRAD_ADD(Bfloat, bf16)
LIBDL_WINOGRAD_ADD(Half, f16)
#undef LIBDL_WINOGRAD
#undef LIBDL_WINOGRAD_ADD

}  // namespace libdl::kernels::cpu
#endif
