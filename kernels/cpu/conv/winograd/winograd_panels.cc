// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/cpu/conv/winograd/winograd.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/winograd/winograd_panels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/winograd/winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace winograd {

constexpr int64_t kMatrix = kBlock * kPanel<float> + kMatrixLine;  // of a point's weights or sums
constexpr int64_t sums_matrix(int64_t tiles) { return tiles * kPanel<float> + kMatrixLine; }

// -- forward --------------------------------------------------------------------------------------

template <class S, int kTaps>
HWY_INLINE void window_to_blocks(const Plane<S>& image, const Place& at, const int64_t* before,
                                 int64_t tiles, float* to) {
  window_to_points<InputToPoints>(
      Window<6, S>(image, at.image, at.row - before[0], at.column - before[1]), image.channels, to,
      winograd_block_matrix(tiles), winograd_blocks(1, tiles));
}

template <class S, int kTaps>
void panel_tiles_on(const WinogradPanels<S>& p, int64_t first, int64_t last) {
  for (int64_t n = first; n < last; ++n)
    window_to_blocks<S, kTaps>(p.in, Place(p.grid, p.first + n, kTileOut<kTaps>), p.before,
                               p.last - p.first, p.x_points + n * kBlock);
}

// One point of a block of channels: y[tile, :] += x[tile, :] times a panel of the weights.
HWY_INLINE void multiply_block(Step<float> step, const float* x, const float* weights, float* y,
                               int64_t tiles, int64_t width) {
  const int64_t groups = (tiles + kRows<float> - 1) / kRows<float>;
  step.b = weights;
  for (int64_t g = 0, r0 = 0, r1; g < groups; ++g, r0 = r1) {
    r1 = tiles * (g + 1) / groups;
    step.a = x + r0 * kBlock;
    step.c = y + r0 * kPanel<float>;
    step.next = step.a + kRows<float> * kBlock;  // of x, for the weights are at hand
    panel_product(kernels_for<float>(r1 - r0, Lies::kRows), step, width);
  }
}

template <class S, int kTaps>
void panel_on(const WinogradPanels<S>& p, int64_t panel, float* room) {
  const int64_t c = p.in.channels, tiles = p.last - p.first, j = panel * kPanel<float>;
  const int64_t width = std::min(kPanel<float>, p.out.channels - j);
  float *const weights = room, *const y = room + kPoints * kMatrix;
  Step<float> step{};
  step.a_stride = kBlock, step.b_stride = step.c_stride = kPanel<float>;
  step.alpha = 1;
  for (int64_t c0 = 0; c0 < c; c0 += kBlock) {
    step.k = std::min(kBlock, c - c0);
    step.add = c0 > 0;
    for (int64_t r = 0; r < step.k; r += kRowsAtOnce)
      weights_to_points<kTaps>(p.taps, c0 + r, std::min(kRowsAtOnce, step.k - r), panel,
                               weights + r * kPanel<float>, kMatrix);
    const float* const x = p.x_points + c0 / kBlock * winograd_blocks(1, tiles);
    for (int64_t point = 0; point < kPoints; ++point)
      multiply_block(step, x + point * winograd_block_matrix(tiles), weights + point * kMatrix,
                     y + point * sums_matrix(tiles), tiles, width);
  }
  for (int64_t n = 0; n < tiles; ++n)
    write_tile<kTaps>(p.out, p.bias, Place(p.grid, p.first + n, kTileOut<kTaps>), j, j + width,
                      y + n * kPanel<float>, sums_matrix(tiles));
}

// -- the weights' gradient ------------------------------------------------------------------------

template <class S, int kTaps>
void block_tiles_on(const WinogradGradient<S>& g, int64_t first, int64_t last) {
  const int64_t tiles = g.grid.count();
  for (int64_t n = first; n < last; ++n) {
    const Place at(g.grid, n, kTileOut<kTaps>);
    window_to_blocks<S, kTaps>(g.x, at, g.before, tiles, g.x_points + n * kBlock);
    window_to_points<OutputToPoints<kTaps>>(
        Window<kTileOut<kTaps>, S>(g.y, at.image, at.row, at.column), g.y.channels,
        g.y_points + n * kBlock, winograd_block_matrix(tiles), winograd_blocks(1, tiles));
  }
}

template <class S, int kTaps>
void block_on(const WinogradGradient<S>& g, int64_t block, int64_t panel) {
  const int64_t c = g.x.channels, tiles = g.grid.count(), j = panel * kPanel<float>;
  const int64_t rows = std::min(kBlock, g.y.channels - block * kBlock);
  const int64_t width = std::min(kPanel<float>, c - j);
  const int64_t groups = (rows + kRows<float> - 1) / kRows<float>;
  const int64_t matrix = winograd_block_matrix(tiles);
  const float* x = g.x_points + j / kBlock * winograd_blocks(1, tiles) + j % kBlock;
  const float* y = g.y_points + block * winograd_blocks(1, tiles);
  float* sums = g.sums;
  Step<float> step{};
  step.a_stride = step.b_stride = kBlock, step.c_stride = kPanel<float>;
  step.alpha = 1;
  step.k = tiles;
  for (int64_t p = 0; p < kPoints; ++p, sums += kMatrix, x += matrix, y += matrix) {
    step.b = x;
    for (int64_t n = 0, r0 = 0, r1; n < groups; ++n, r0 = r1) {
      r1 = rows * (n + 1) / groups;
      step.a = y + r0;
      step.c = sums + r0 * kPanel<float>;
      // Of the next point: the four lines of each row of y, then the two of x.
      step.next = n < 4 ? y + matrix + n * kLine<float> : x + matrix + n % 2 * kLine<float>;
      panel_product(kernels_for<float>(r1 - r0, Lies::kColumns), step, width);
    }
  }
  for (int64_t r = 0; r < rows; ++r)
    sums_to_weights<kTaps>(g.sums + r * kPanel<float>, kMatrix, width,
                           g.w + (block * kBlock + r) * g.w_stride + j, c);
}

#define LIBDL_WINOGRAD_PANELS_ON(S, kTaps, suffix)                                              \
  void panel_tiles_##suffix##kTaps(const WinogradPanels<S>& p, int64_t first, int64_t last) {   \
    panel_tiles_on<S, kTaps>(p, first, last);                                                   \
  }                                                                                             \
  void panel_##suffix##kTaps(const WinogradPanels<S>& p, int64_t panel, float* room) {          \
    panel_on<S, kTaps>(p, panel, room);                                                         \
  }                                                                                             \
  void block_tiles_##suffix##kTaps(const WinogradGradient<S>& g, int64_t first, int64_t last) { \
    block_tiles_on<S, kTaps>(g, first, last);                                                   \
  }                                                                                             \
  void block_##suffix##kTaps(const WinogradGradient<S>& g, int64_t block, int64_t panel) {      \
    block_on<S, kTaps>(g, block, panel);                                                        \
  }
LIBDL_WINOGRAD_PANELS_ON(float, 3, f32_)
LIBDL_WINOGRAD_PANELS_ON(float, 5, f32_)
LIBDL_WINOGRAD_PANELS_ON(Bfloat, 3, bf16_)
LIBDL_WINOGRAD_PANELS_ON(Bfloat, 5, bf16_)
LIBDL_WINOGRAD_PANELS_ON(Half, 3, f16_)
LIBDL_WINOGRAD_PANELS_ON(Half, 5, f16_)
#undef LIBDL_WINOGRAD_PANELS_ON

}  // namespace winograd
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

int64_t winograd_panel_room(int64_t tiles) {
  return kPoints * ((kBlock + tiles) * kPanel<float> + 2 * kMatrixLine);
}
int64_t winograd_block_room() { return kPoints * (kBlock * kPanel<float> + kMatrixLine); }

#define LIBDL_WINOGRAD_PANELS(S, kTaps, suffix)                                                    \
  template <>                                                                                      \
  void winograd_panel_tiles<S, kTaps>(const WinogradPanels<S>& p, int64_t first, int64_t last) {   \
    LIBDL_ON_ISA(winograd::panel_tiles_##suffix##kTaps, p, first, last);                           \
  }                                                                                                \
  template <>                                                                                      \
  void winograd_panel<S, kTaps>(const WinogradPanels<S>& p, int64_t panel, float* room) {          \
    LIBDL_ON_ISA(winograd::panel_##suffix##kTaps, p, panel, room);                                 \
  }                                                                                                \
  template <>                                                                                      \
  void winograd_block_tiles<S, kTaps>(const WinogradGradient<S>& g, int64_t first, int64_t last) { \
    LIBDL_ON_ISA(winograd::block_tiles_##suffix##kTaps, g, first, last);                           \
  }                                                                                                \
  template <>                                                                                      \
  void winograd_block<S, kTaps>(const WinogradGradient<S>& g, int64_t block, int64_t panel) {      \
    LIBDL_ON_ISA(winograd::block_##suffix##kTaps, g, block, panel);                                \
  }
LIBDL_WINOGRAD_PANELS(float, 3, f32_)
LIBDL_WINOGRAD_PANELS(float, 5, f32_)
LIBDL_WINOGRAD_PANELS(Bfloat, 3, bf16_)
LIBDL_WINOGRAD_PANELS(Bfloat, 5, bf16_)
LIBDL_WINOGRAD_PANELS(Half, 3, f16_)
LIBDL_WINOGRAD_PANELS(Half, 5, f16_)
#undef LIBDL_WINOGRAD_PANELS

}  // namespace libdl::kernels::cpu
#endif
