// SPDX-License-Identifier: Apache-2.0

// Where the matrix unit finds rows of a matrix of patches: sixteen of them make a tile, two tiles a
// block of 32 rows. k is cut into parts, of each of which a block is fetched into cache.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/cpu/conv/matrix_unit/tile_steps.h"
#include "kernels/cpu/gemm/tiles_amx.h"

namespace libdl::kernels::cpu {

constexpr int64_t kTileRows = 16;

// The rows of a block's tiles in the result, and how many there are.
struct PlacedRows {
  Bfloat* at[2][kTileRows];
  int64_t count[2];

  void place(int tile, const PatchesTimesMatrix<Bfloat>& p, int64_t i, int64_t rows) {
    count[tile] = rows;
    Pixel pixel(p.a.lattice, i);
    for (int64_t r = 0; r < rows; ++r, pixel.advance(p.a.lattice)) {
      at[tile][r] = p.out + pixel.image * p.out_strides[0];
      for (int d = 0; d < 3; ++d) at[tile][r] += pixel.at[d] * p.out_strides[d + 1];
    }
  }
};

// Every row is gathered for itself.
class GatheredRows {
 public:
  explicit GatheredRows(const PatchesTimesMatrix<Bfloat>& p)
      : p_(p), bits_(bits_of(p.a)), k_(p.a.columns()) {}

  int64_t blocks() const { return ceil_div(p_.i1, amx::kSide); }
  int64_t parts() const { return ceil_div(k_, kPatchRowBlock); }
  int64_t begin_of(int64_t part) const {  // of nearly equal length
    return std::min(k_, amx::steps(k_) * part / parts() * amx::kStep);
  }

  void fetch(amx::Block& block, int64_t n, int64_t part) {
    const int64_t k0 = begin_of(part), k1 = begin_of(part + 1), end = amx::steps(k1 - k0);
    const int64_t rows = std::min(amx::kSide, p_.i1 - n * amx::kSide);
    gather_rows(rows_, bits_, n * amx::kSide, rows, k0, k1);
    // Zeros behind an incomplete step, and in rows that a tile has and the result has not.
    for (int64_t r = 0; r < rows; ++r)
      std::fill(row(r) + (k1 - k0), row(r) + end * amx::kStep, uint16_t{0});
    for (int64_t r = rows; r % kTileRows != 0; ++r)
      std::fill_n(row(r), end * amx::kStep, uint16_t{0});
    block.rows = rows;
    block.a = reinterpret_cast<const char*>(rows_);
    block.stride = kPatchRowStride * 2, block.second = kTileRows * block.stride;
    block.step = amx::kStep * 2, block.count = end;
  }
  void place(PlacedRows& to, int64_t n) const {
    const int64_t i = n * amx::kSide;
    to.place(0, p_, i, std::min(kTileRows, p_.i1 - i));
    to.count[1] = 0;
    if (i + kTileRows < p_.i1)
      to.place(1, p_, i + kTileRows, std::min(kTileRows, p_.i1 - i - kTileRows));
  }

 private:
  uint16_t* row(int64_t r) { return rows_ + r * kPatchRowStride; }

  const PatchesTimesMatrix<Bfloat>& p_;
  const Patches<uint16_t> bits_;
  const int64_t k_;
  alignas(64) uint16_t rows_[amx::kSide * kPatchRowStride];
};

// A tile is of pixels along the last dimension, whose windows overlap in memory: what they cover
// together is copied, with zeros around the image, and each row of the tile is a part of that.
// A segment is the window's taps along the last dimension.
class SpannedRows {
 public:
  static bool serves(const PatchesTimesMatrix<Bfloat>& p) {
    const Patches<Bfloat>& a = p.a;
    const bool joined = a.taps[2] > 1 && a.dilation[2] == 1 && a.strides[3] == a.channels;
    // Short lines would leave much of their tiles empty.
    return joined && a.lattice.sizes[2] >= 12 && a.taps[2] * a.channels % amx::kStep == 0 &&
           a.step[2] > 0 && 2 * span(a, kTileRows) <= kRoom;
  }

  explicit SpannedRows(const PatchesTimesMatrix<Bfloat>& p)
      : p_(p),
        a_(p.a),
        across_(ceil_div(a_.lattice.sizes[2], kTileRows)),
        tiles_(p.i1 / a_.lattice.sizes[2] * across_),
        segments_(a_.taps[0] * a_.taps[1]),
        most_(kRoom / (2 * span(a_, kTileRows))) {}

  int64_t blocks() const { return ceil_div(tiles_, 2); }
  int64_t parts() const { return ceil_div(segments_, most_); }
  int64_t begin_of(int64_t part) const { return first_of(part) * a_.taps[2] * a_.channels; }

  void fetch(amx::Block& block, int64_t n, int64_t part) {
    const int64_t t = 2 * n, first = first_of(part), last = first_of(part + 1);
    const bool two = t + 1 < tiles_, adjacent = two && (t + 1) % across_ != 0;
    const int64_t one = span(a_, kTileRows), all = adjacent ? span(a_, 2 * kTileRows) : 2 * one;
    for (int64_t g = first; g < last; ++g) {
      uint16_t* const to = room_ + (g - first) * all;
      copy(to, t, g, adjacent ? all : one);
      if (two && !adjacent) copy(to + one, t + 1, g, one);
    }
    block.rows = two ? 2 * kTileRows : kTileRows;
    block.a = reinterpret_cast<const char*>(room_);
    block.stride = a_.step[2] * a_.channels * 2;
    block.second = adjacent ? kTileRows * block.stride : one * 2;
    block.step = amx::kStep * 2, block.count = a_.taps[2] * a_.channels / amx::kStep;
    block.segments = last - first, block.segment = all * 2;
  }
  void place(PlacedRows& to, int64_t n) const {
    for (int tile = 0; tile < 2; ++tile) {
      const int64_t t = 2 * n + tile, q = t % across_ * kTileRows, width = a_.lattice.sizes[2];
      to.count[tile] = 0;
      if (t < tiles_) to.place(tile, p_, t / across_ * width + q, std::min(kTileRows, width - q));
    }
  }

 private:
  static constexpr int64_t kRoom = 40 * 1024;  // numbers

  // Numbers under the windows of adjacent pixels.
  static int64_t span(const Patches<Bfloat>& a, int64_t pixels) {
    return ((pixels - 1) * a.step[2] + a.taps[2]) * a.channels;
  }
  int64_t first_of(int64_t part) const { return segments_ * part / parts(); }

  // What segment g of a tile's windows covers: `count` numbers.
  void copy(uint16_t* to, int64_t tile, int64_t g, int64_t count) const {
    const Pixel pixel(a_.lattice,
                      tile / across_ * a_.lattice.sizes[2] + tile % across_ * kTileRows);
    const int64_t tap[] = {g / a_.taps[1], g % a_.taps[1], 0};
    int64_t i[3];
    for (int d = 0; d < 3; ++d)
      i[d] = pixel.at[d] * a_.step[d] + a_.start[d] + tap[d] * a_.dilation[d];
    const bool inside = static_cast<uint64_t>(i[0]) < static_cast<uint64_t>(a_.sizes[0]) &&
                        static_cast<uint64_t>(i[1]) < static_cast<uint64_t>(a_.sizes[1]);
    const int64_t c = a_.channels;
    const int64_t low = inside ? std::clamp<int64_t>(-i[2] * c, 0, count) : count;
    const int64_t high = std::clamp<int64_t>((a_.sizes[2] - i[2]) * c, low, count);
    std::memset(to, 0, static_cast<size_t>(low) * 2);
    if (low < high) {
      const Bfloat* const from = a_.data + pixel.image * a_.strides[0] + i[0] * a_.strides[1] +
                                 i[1] * a_.strides[2] + i[2] * c + low;
      std::memcpy(to + low, from, static_cast<size_t>(high - low) * 2);
    }
    std::memset(to + high, 0, static_cast<size_t>(count - high) * 2);
  }

  const PatchesTimesMatrix<Bfloat>& p_;
  const Patches<Bfloat>& a_;
  const int64_t across_, tiles_, segments_, most_;  // tiles in a line, and in all
  alignas(64) uint16_t room_[kRoom];
};

}  // namespace libdl::kernels::cpu
