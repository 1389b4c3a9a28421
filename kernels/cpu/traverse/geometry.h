// SPDX-License-Identifier: Apache-2.0

// The memory layout of the operands of one launch: one list of dimensions for all of them, sorted
// so that the output is written as sequentially as possible, and merged where all operands allow
// it.
#pragma once

#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

struct Operand {
  char* data;
  int32_t dtype;
  int32_t bytes;             // of an element
  bool dense;                // element i of the walk is element i in memory
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

// A position in the walk; in a walk of blocks `linear` counts blocks.
struct Position {
  int64_t linear;
  int64_t index[kMaxDims];
};

// All views have the shape of views[0].
void plan(Geometry& g, const View* const* views, int count);

// Elements per chunk, the unit of the thread pool: small enough to divide 10^5 elements evenly.
constexpr int64_t kChunk = 4096;
// Elements per tile, of any class and dtype: 4 to 16 kB.
constexpr int64_t kTile = 1024;

// If an input is contiguous along another dimension than the output, the walk goes through blocks
// of rows and columns, one per tile, so that cache lines are fully used before they are evicted,
// and the input is transposed a block at a time. Two lines of the input, four or more of the
// output:
constexpr int64_t kBlockRowBytes = 128, kBlockColumns = 64;

// Makes the walk one of blocks of at most `most` elements if that helps.
void cut_in_blocks(Geometry& g, int64_t most);

// The number of chunks of the whole walk.
int64_t chunks(const Geometry& g);

Position position_at(const Geometry& g, int64_t linear);
void advance(const Geometry& g, Position& at, int64_t n);

// What is computed at once: n elements of the walk; in a walk of blocks, `rows` rows of n / rows
// elements each. In a linear walk rows is 1.
struct Tile : Position {
  int64_t n, rows;
};

// The tiles of the chunks [first, last), of at most `most` elements: for (TileWalk walk(…);
// walk.more(); walk.next()). If rows are long, a tile of a linear walk stays within its row.
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
