// SPDX-License-Identifier: Apache-2.0

// How the operands of one launch lie in memory: one list of dimensions for all of them, sorted so
// that the output is written as nearly in order as it can be, and merged where all allow it.
#pragma once

#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

struct Operand {
  char* data;
  int32_t dtype;
  int32_t bytes;             // of an element
  bool dense;                // element i of the walk is element i of memory
  bool constant;             // every stride is 0
  int64_t stride[kMaxDims];  // in bytes
};

constexpr int kMaxOperands = 9;

// operand[0] is the output.
struct Geometry {
  int ndim;
  int operands;
  int64_t numel;
  int64_t block_rows, block_columns;  // of the two innermost dimensions; 0: the walk is linear
  int64_t size[kMaxDims];
  Operand operand[kMaxOperands];
};

// A place in the walk; in a walk of blocks `linear` counts these.
struct Position {
  int64_t linear;
  int64_t index[kMaxDims];
};

// All views have the shape of views[0].
void plan(Geometry& g, const View* const* views, int count);

// Elements a chunk: the unit of the pool, small enough to share 10^5 elements evenly.
constexpr int64_t kChunk = 4096;
// Elements a tile, of any class and dtype: 4 to 16 kB.
constexpr int64_t kTile = 1024;

// Where an input runs along another dimension than the output, the walk goes through blocks of rows
// and columns, one a tile, so that the lines it touches are used before they leave the cache, and
// the input is transposed a block at a time. Two lines of the input, four or more of the output:
constexpr int64_t kBlockRowBytes = 128, kBlockColumns = 64;

// Makes the walk one of blocks of at most `most` elements if that helps.
void cut_in_blocks(Geometry& g, int64_t most);

// Of the whole walk.
int64_t chunks(const Geometry& g);

Position position_at(const Geometry& g, int64_t linear);
void advance(const Geometry& g, Position& at, int64_t n);

// What is computed at once: n elements of the walk, or of a walk of blocks `rows` rows of n / rows
// elements each. In a linear walk rows is 1.
struct Tile : Position {
  int64_t n, rows;
};

// The tiles of the chunks [first, last), of at most `most` elements: for (TileWalk walk(…);
// walk.more(); walk.next()). Where rows are long a tile of a linear walk stays in its row.
class TileWalk {
 public:
  TileWalk(const Geometry& g, int64_t first, int64_t last, int64_t most);
  const Tile& tile() const { return tile_; }
  bool more() const { return tile_.linear < end_; }
  void next();

 private:
  void measure();

  const Geometry& geometry_;
  int64_t end_, most_;
  Tile tile_;
};

}  // namespace libdl::kernels::cpu
