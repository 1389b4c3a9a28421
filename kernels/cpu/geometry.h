// SPDX-License-Identifier: Apache-2.0

// How the operands of one launch lie in memory: one list of dimensions for all of them, sorted so
// that the output is written as nearly in order as it can be, and merged where all allow it.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels::cpu {

struct Operand {
  char* data;
  int32_t dtype;
  int32_t bytes;   // of an element
  bool dense;      // element i of the walk is element i of memory
  bool constant;   // every stride is 0
  int64_t stride[kMaxDims];  // in bytes
};

constexpr int kMaxOperands = 9;

// operand[0] is the output.
struct Geometry {
  int ndim;
  int operands;
  int64_t numel;
  int64_t size[kMaxDims];
  Operand operand[kMaxOperands];
};

// A place in the walk.
struct Position {
  int64_t linear;
  int64_t index[kMaxDims];
};

// All views have the shape of views[0].
void plan(Geometry& g, const View* const* views, int count);

// Where an operand runs along another dimension than the output, the walk goes through squares of
// kSquareSide, one a tile, so that the lines it touches are used before they leave the cache. The
// launch falls into up to three parts: the squares, and the two edges that do not fill one.
constexpr int kMaxParts = 3;
constexpr int64_t kSquareSide = 32;

// The dimension other than the innermost along which some input lies densest, or -1 if squares
// would not help.
int crossing(const Geometry& g);
int split_in_squares(const Geometry& g, int outer, Geometry* parts);

Position position_at(const Geometry& g, int64_t linear);
void advance(const Geometry& g, Position& at, int64_t n);

// The length of the next tile: `most` at most; it stays in its row where rows are long.
int64_t tile_length(const Geometry& g, const Position& at, int64_t end, int64_t most);

// Where the n elements from `at` lie in one piece, or NULL.
char* piece(const Geometry& g, const Operand& x, const Position& at, int64_t n);

// Copies n elements between the operand's places and contiguous memory.
void gather(const Geometry& g, const Operand& x, const Position& at, int64_t n, void* to);
void scatter(const Geometry& g, const Operand& x, const Position& at, int64_t n, const void* from);

}  // namespace libdl::kernels::cpu
