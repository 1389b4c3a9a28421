// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stage.h"

namespace libdl::kernels::cpu {
namespace {

struct Launch {
  Geometry geometry;
  const char* pattern;  // a tile of the value
};

void fill_chunks(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Geometry& g = launch.geometry;
  const Operand& out = g.operand[0];
  for (TileWalk walk(g, first, last, kTile); walk.more(); walk.next()) {
    const Tile& tile = walk.tile();
    char* there = piece(g, out, tile);
    if (there != nullptr) {
      std::memcpy(there, launch.pattern, tile.n * out.bytes);
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
  for (int64_t i = 0; i < repeats; ++i) std::memcpy(pattern + i * bytes, args.value, bytes);
  launch.pattern = pattern;
  run_chunks(context, launch.geometry.numel, fill_chunks, &launch);
}

}  // namespace libdl::kernels::cpu
