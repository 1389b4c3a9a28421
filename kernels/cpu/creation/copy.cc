// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pointwise/pointwise_rows.h"
#include "kernels/cpu/traverse/stage.h"
#include "kernels/cpu/traverse/strided.h"
#include "kernels/cpu/traverse/transposed_copy.h"

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
  for (TileWalk walk(g, first, last, tile_elements(launch.through)); walk.more(); walk.next()) {
    sink.put(source.load(walk.tile()), walk.tile());
  }
}

// Contiguous elements that a single conversion takes directly from input to output.
struct Straight {
  ConvertFn convert;
  int64_t numel;
  Operand out, in;
};
void straight_chunks(void* arg, int64_t first, int64_t last) {
  const Straight& s = *static_cast<const Straight*>(arg);
  const int64_t begin = first * kChunk, end = std::min(last * kChunk, s.numel);
  s.convert(s.in.data + begin * s.in.bytes, s.out.data + begin * s.out.bytes, end - begin);
}
bool is_straight(const Launch& launch, Straight& straight) {
  const Geometry& g = launch.geometry;
  straight.numel = g.numel;
  straight.out = g.operand[0];
  straight.in = g.operand[1];
  const ConvertFn load = convert_to_class(straight.in.dtype, launch.through);
  const ConvertFn store = convert_from_class(launch.through, straight.out.dtype);
  straight.convert = load == nullptr ? store : load;
  return straight.in.dense && straight.out.dense && (load == nullptr) != (store == nullptr);
}

// The intermediate class: one that holds every value of the input or, if that is less work, the
// output's, provided the results are the same.
Class class_between(int32_t from, int32_t to) {
  const Class wide = dtype_class(from);
  const bool narrow = wide == Class::kI64 && from != LIBDL_DTYPE_INT64;
  if (to == LIBDL_DTYPE_BOOL) return Class::kBool;
  const Class wanted = dtype_class(to);
  const bool floats = wanted == Class::kF32 || wanted == Class::kF64;
  return narrow && floats ? wanted : wide;
}

// Equal dtypes: bytes are moved unchanged.
void moving_chunks(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  const Geometry& g = launch.geometry;
  const Operand &out = g.operand[0], &in = g.operand[1];
  alignas(64) char buffer[kTile * 16];
  // What goes through the buffer goes a tile at a time.
  for (TileWalk walk(g, first, last, out.dense || in.dense ? g.numel : kTile); walk.more();
       walk.next()) {
    const Tile& tile = walk.tile();
    char *to = piece(g, out, tile), *from = piece(g, in, tile);
    if (to != nullptr && from != nullptr) {
      std::memcpy(to, from, tile.n * out.bytes);
    } else if (to != nullptr) {
      gather(g, in, tile, to);
    } else if (from != nullptr) {
      scatter(g, out, tile, from);
    } else {
      gather(g, in, tile, buffer);
      scatter(g, out, tile, buffer);
    }
  }
}

// Rows are moved without a walk from tile to tile, unchanged or reversed.
template <int64_t kBytes>
void move_row(const void* const* in, void* out, int64_t n) {
  std::memcpy(out, in[0], static_cast<size_t>(n * kBytes));
}
template <int64_t kBytes>
void turn_row(const void* const* in, void* out, int64_t n) {
  gather_strided(static_cast<const char*>(in[0]), -kBytes, kBytes, n, static_cast<char*>(out));
}
template <int64_t kBytes>
TileFn row_function(const Geometry& g) {
  const int inner = g.ndim - 1;
  if (lies_in_rows(g, {move_row<kBytes>, 1})) return move_row<kBytes>;
  Geometry turned = g;
  turned.operand[1].stride[inner] = -g.operand[1].stride[inner];
  return lies_in_rows(turned, {turn_row<kBytes>, 1}) ? turn_row<kBytes> : nullptr;
}
TileFn row_function(const Geometry& g) {
  if (g.ndim < 2) return nullptr;
  switch (g.operand[0].bytes) {
    case 1: return row_function<1>(g);
    case 2: return row_function<2>(g);
    case 4: return row_function<4>(g);
    case 8: return row_function<8>(g);
    default: return row_function<16>(g);
  }
}

}  // namespace

void copy(Context& context, const CopyArgs& args) {
  if (numel(args.out) == 0) return;
  Launch launch;
  const View* views[2] = {&args.out, &args.in};
  plan(launch.geometry, views, 2);
  launch.through = class_between(args.in.dtype, args.out.dtype);
  const bool same = args.in.dtype == args.out.dtype;
  int along;
  if (same && is_transposed_copy(launch.geometry, &along)) {
    return transpose(context, launch.geometry, along);
  }
  if (const TileFn fn = same ? row_function(launch.geometry) : nullptr) {
    return run_by_rows(context, launch.geometry, {fn, 1});
  }
  if (same) return run_chunks(context, launch.geometry.numel, moving_chunks, &launch);
  Straight straight;
  if (is_straight(launch, straight)) {
    return run_chunks(context, straight.numel, straight_chunks, &straight);
  }
  run_planned(context, launch, tile_elements(launch.through), converting_chunks);
}

}  // namespace libdl::kernels::cpu
