// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stage.h"
#include "kernels/cpu/transpose.h"

namespace libdl::kernels::cpu {
namespace {

struct Launch {
  Geometry geometry;
  Class through;  // a class that holds every value of the input
};

void converting_chunks(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Geometry& g = launch.geometry;
  Source source;
  Sink sink;
  alignas(64) char buffer[kTileBytes];
  alignas(64) char raw[2][kRawBytes];
  source.open(g, g.operand[1], launch.through, buffer, raw[0]);
  sink.open(g, g.operand[0], launch.through, nullptr, raw[1]);
  const int64_t end = std::min(last * kChunk, g.numel), most = tile_elements(launch.through);
  Position at = position_at(g, first * kChunk);
  while (at.linear < end) {
    const int64_t n = tile_length(g, at, end, most);
    sink.put(source.load(at, n), at, n);
    advance(g, at, n);
  }
}

// Equal dtypes: bytes move as they are.
void moving_chunks(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Geometry& g = launch.geometry;
  const Operand &out = g.operand[0], &in = g.operand[1];
  const int64_t end = std::min(last * kChunk, g.numel);
  alignas(64) char tile[kTile * 16];
  Position at = position_at(g, first * kChunk);
  while (at.linear < end) {
    const int64_t whole = out.dense && in.dense ? end - at.linear : kTile;
    const int64_t n = tile_length(g, at, end, whole);
    char *to = piece(g, out, at, n), *from = piece(g, in, at, n);
    if (to != nullptr && from != nullptr) {
      std::memcpy(to, from, n * out.bytes);
    } else if (to != nullptr) {
      gather(g, in, at, n, to);
    } else if (from != nullptr) {
      scatter(g, out, at, n, from);
    } else {
      gather(g, in, at, n, tile);
      scatter(g, out, at, n, tile);
    }
    advance(g, at, n);
  }
}

}  // namespace

void copy(Context& context, const CopyArgs& args) {
  if (numel(args.out) == 0) return;
  Launch launch;
  const View* views[2] = {&args.out, &args.in};
  plan(launch.geometry, views, 2);
  launch.through = dtype_class(args.in.dtype);
  const bool same = args.in.dtype == args.out.dtype;
  int along;
  if (same && is_transpose(launch.geometry, &along)) {
    return transpose(context, launch.geometry, along);
  }
  if (same) {
    run_chunks(context, launch.geometry.numel, moving_chunks, &launch);
  } else {
    run_parts(context, launch, views, 2, converting_chunks);
  }
}

}  // namespace libdl::kernels::cpu
