// SPDX-License-Identifier: Apache-2.0

// Images, and the tiles that Winograd's filtering (winograd.h) cuts them into.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

constexpr int64_t kPoints = 36;  // of a tile
constexpr int64_t kTileIn = 6;   // pixels of a side that a tile reads
// And those that it computes, with kTaps x kTaps weights.
template <int kTaps>
constexpr int64_t kTileOut = kTileIn + 1 - kTaps;

// Channels whose products are summed before they are added to the rest, and tiles in a weights'
// gradient: the error grows with them.
constexpr int64_t kBlock = 64, kMostTiles = 128;

// A batch of images of float or a 16-bit float, with adjacent channels; strides are in elements.
template <class S>
struct Plane {
  S* data;
  int64_t channels, height, width;
  int64_t strides[3];  // of images, rows and pixels
};

// Tiles of kTileOut<kTaps> squared pixels that cover each image of `out`, numbered row by row.
struct TileGrid {
  int64_t images, down, across;
  int64_t count() const { return images * down * across; }
};

}  // namespace libdl::kernels::cpu
