// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/stage.h"

namespace libdl::kernels::cpu {
namespace {

struct Launch {
  Geometry geometry;
  const char* pattern;  // a piece of the value
};

constexpr int64_t kPiece = 256;    // bytes, a whole number of elements
constexpr int64_t kShare = 65536;  // bytes in a thread's chunk

// Elements in order.
void write(char* to, const char* pattern, int64_t bytes) {
  if (bytes >= kPiece && std::memcmp(pattern, pattern + 1, kPiece - 1) == 0) {
    std::memset(to, pattern[0], static_cast<size_t>(bytes));
    return;
  }
  for (; bytes >= kPiece; bytes -= kPiece, to += kPiece) std::memcpy(to, pattern, kPiece);
  std::memcpy(to, pattern, static_cast<size_t>(bytes));
}

void fill_shares(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Operand& out = launch.geometry.operand[0];
  const int64_t begin = first * kShare;
  const int64_t end = std::min(last * kShare, launch.geometry.numel * out.bytes);
  write(out.data + begin, launch.pattern, end - begin);
}

void fill_chunks(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Geometry& g = launch.geometry;
  const Operand& out = g.operand[0];
  for (TileWalk walk(g, first, last, kTile); walk.more(); walk.next()) {
    const Tile& tile = walk.tile();
    char* there = piece(g, out, tile);
    if (there != nullptr) {
      write(there, launch.pattern, tile.n * out.bytes);
    } else {
      scatter(g, out, tile, launch.pattern);
    }
  }
}

}  // namespace

void fill(Context& context, const FillArgs& args) {
  const int bytes = dtype_bytes(args.out.dtype);
  if (numel(args.out) == 0) return;
  Launch launch;
  const View* view = &args.out;
  plan(launch.geometry, &view, 1);
  alignas(64) char pattern[kTile * 16];
  const int64_t repeats = std::min(launch.geometry.numel, kTile);
  std::memcpy(pattern, args.value, static_cast<size_t>(bytes));
  for (int64_t made = 1; made < repeats; made *= 2) {  // by doubling
    std::memcpy(pattern + made * bytes, pattern,
                static_cast<size_t>(std::min(made, repeats - made) * bytes));
  }
  launch.pattern = pattern;
  const int64_t n = launch.geometry.numel;
  if (launch.geometry.operand[0].dense) {
    run_chunks(context, n, (n * bytes - 1) / kShare + 1, fill_shares, &launch);
  } else {
    run_chunks(context, n, fill_chunks, &launch);
  }
}

}  // namespace libdl::kernels::cpu
