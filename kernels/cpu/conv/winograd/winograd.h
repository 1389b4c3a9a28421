// SPDX-License-Identifier: Apache-2.0

// Convolutions of 3 x 3 and 5 x 5 by Winograd's minimal filtering, F(4 x 4, 3 x 3) and
// F(2 x 2, 5 x 5): 36 products for 16 pixels instead of 144, or for 4 instead of 100. An image is
// cut into tiles of 6 x 6 pixels that overlap by two or four; for each of 36 points, a matrix of
// all tiles' values is multiplied by a matrix of the weights' values.
//
// Values at the points 0, +-5/8, +-3/2 and infinity, and sums of at most 64 channels at a time,
// keep the error at about three times that of a direct sum; the usual points, 0, +-1, +-2 and
// infinity, make it twenty times as large (Barabasz, Anderson, Soodhalter and Gregg, "Error
// analysis and improving the accuracy of Winograd convolution", ACM TOMS 46, 2020, tell why).
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/conv/winograd/winograd_grid.h"

namespace libdl::kernels::cpu {

// out = in convolved with the weights: out pixel (i, j) reads in from (i, j) - before on.
template <class S>
struct WinogradTiles {
  Plane<S> in, out;
  TileGrid grid;
  int64_t before[2];
  const float* points;  // the weights', as winograd_points wrote them
  const S* bias;        // or NULL
  float* workspace;     // of winograd_workspace_size elements for `most` tiles
  int64_t first, last, most;
};
int64_t winograd_workspace_size(int64_t in_channels, int64_t out_channels, int64_t tiles);
template <class S, int kTaps>
void winograd_tiles(const WinogradTiles<S>& t);

// The weights' values at the points: for each, a matrix [rows, columns] in panels (gemm.h).
template <class S, int kTaps>
void winograd_points(float* points, const Taps<S>& taps, int64_t first_panel, int64_t last_panel);

// The weights' gradient. For tiles [first, last): x's values at the points to x_points, and those
// of dy, as sums of which the gradient is made, to y_points; each [point, tile, channel] with rows
// and matrices as winograd_stride and winograd_matrix tell.
template <class S>
struct WinogradGradient {
  Plane<S> x, y;
  TileGrid grid;
  int64_t before[2];
  float *x_points, *y_points;
  int64_t begin, end;  // the tiles of x_points and y_points
  float* sums;         // [point, y channel, x channel]
  float* w;            // [y channel, tap, x channel], with this distance between y channels
  int64_t w_stride;
};
constexpr int64_t winograd_stride(int64_t channels) { return channels + 16; }
constexpr int64_t winograd_matrix(int64_t channels, int64_t tiles) {
  return tiles * winograd_stride(channels) + 16;
}
template <class S, int kTaps>
void winograd_transform(const WinogradGradient<S>& g, int64_t first, int64_t last);
// Adds to the sums of one point, rows [first, last).
template <class S>
void winograd_add(const WinogradGradient<S>& g, int64_t point, int64_t first, int64_t last);
// The gradient of rows [first, last) from the sums.
template <class S, int kTaps>
void winograd_finish(const WinogradGradient<S>& g, int64_t first, int64_t last);

// -- weights that are large beside the images -----------------------------------------------------
//
// Their values at the points, four times as many as weights, would be written to memory and read
// from there. Here one panel of columns is computed after another, and the values of a block of
// weights are made where they are used, in the L2 cache. The sums are those of the functions above.

// At most kMostTiles tiles; values of x at the points lie as [block of channels, point, tile,
// channel of the block]. Points lie a cache line further apart, for they are written together, and
// would all be in the same set of the first cache.
constexpr int64_t kMatrixLine = 16;
constexpr int64_t winograd_block_matrix(int64_t tiles) { return tiles * kBlock + kMatrixLine; }
constexpr int64_t winograd_blocks(int64_t channels, int64_t tiles) {
  return (channels + kBlock - 1) / kBlock * kPoints * winograd_block_matrix(tiles);
}
template <class S>
struct WinogradPanels {
  Plane<S> in, out;
  TileGrid grid;
  int64_t before[2];
  Taps<S> taps;
  const S* bias;        // or NULL
  float* x_points;      // winograd_blocks
  int64_t first, last;  // the tiles that x_points has
};
template <class S, int kTaps>
void winograd_panel_tiles(const WinogradPanels<S>& p, int64_t first, int64_t last);
// Computes a panel of out's channels, once x_points has all tiles.
int64_t winograd_panel_workspace_size(int64_t tiles);
template <class S, int kTaps>
void winograd_panel(const WinogradPanels<S>& p, int64_t panel, float* workspace);

// The weights' gradient for kBlock y channels and a panel of x channels. Of g, x_points and
// y_points lie in blocks, and sums has winograd_block_workspace_size elements.
int64_t winograd_block_workspace_size();
template <class S, int kTaps>
void winograd_block_tiles(const WinogradGradient<S>& g, int64_t first, int64_t last);
template <class S, int kTaps>
void winograd_block(const WinogradGradient<S>& g, int64_t block, int64_t panel);

}  // namespace libdl::kernels::cpu
