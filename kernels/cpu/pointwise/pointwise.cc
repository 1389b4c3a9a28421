// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pointwise/pointwise_exact.h"
#include "kernels/cpu/pointwise/pointwise_rows.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/stage.h"

namespace libdl::kernels::cpu {
namespace {

struct DenseLaunch {
  TileFn fn;
  int32_t inputs, varying;  // the inputs from `varying` on are numbers
  int32_t in_bytes[kMaxInputs], out_bytes;
  int64_t numel;
  char* out;
  const char* in[kMaxInputs];
};

void dense_chunks(void* arg, int64_t first, int64_t last) {
  const DenseLaunch& launch = *static_cast<const DenseLaunch*>(arg);
  int64_t begin = first * kChunk, end = std::min(last * kChunk, launch.numel);
  const void* in[kMaxInputs];
  for (int k = 0; k < launch.varying; ++k) in[k] = launch.in[k] + begin * launch.in_bytes[k];
  for (int k = launch.varying; k < launch.inputs; ++k) in[k] = launch.in[k];
  launch.fn(in, launch.out + begin * launch.out_bytes, end - begin);
}

bool is_flat(const View& view) {
  return view.ndim == 0 || (view.ndim == 1 && (view.strides[0] == 1 || view.sizes[0] == 1)) ||
         is_dense(view);
}

// All operands that vary are of the compute class and lie in order: no tiles are needed.
bool is_direct(const PointwiseArgs& args, int32_t varying, int32_t in_dtype, int32_t out_dtype) {
  if (args.out.dtype != out_dtype || !is_flat(args.out)) return false;
  for (int k = 0; k < varying; ++k) {
    if (args.in[k].dtype != in_dtype || !is_flat(args.in[k])) return false;
  }
  return true;
}

struct TiledLaunch {
  TileFn fn;
  Class compute, result;
  int32_t inputs, varying;  // the inputs from `varying` on are numbers, read once
  bool exact;               // operands are in the dtypes of the function
  Geometry geometry;
};

int64_t tile_of(const TiledLaunch& launch) {
  if (!launch.exact) return tile_elements(launch.compute);
  int32_t widest = 1;
  for (int k = 0; k <= launch.varying; ++k) {
    widest = std::max(widest, launch.geometry.operand[k].bytes);
  }
  return std::min(kChunk, kTileBytes / widest);
}

// The first element of a tile.
Tile one_of(Tile tile) {
  tile.n = tile.rows = 1;
  return tile;
}

// A tile of several rows. Operands that need no change are read and written where they are.
void run_rows(const TiledLaunch& launch, const Tile& tile, Source* source, Sink& sink,
              const void* const* numbers) {
  const void* in[kMaxInputs];
  int64_t step[kMaxInputs];
  const auto out = sink.rows(tile);
  bool joined = out.joined;
  for (int k = 0; k < launch.varying; ++k) {
    const auto rows = source[k].rows(tile);
    in[k] = rows.first;
    step[k] = rows.step;
    joined &= rows.joined;
  }
  for (int k = launch.varying; k < launch.inputs; ++k) in[k] = numbers[k];
  char* to = out.first;
  if (joined) {
    launch.fn(in, to, tile.n);
    return sink.finish(to, tile);
  }
  for (int64_t r = 0; r < tile.rows; ++r, to += out.step) {
    launch.fn(in, to, tile.n / tile.rows);
    for (int k = 0; k < launch.varying; ++k) in[k] = static_cast<const char*>(in[k]) + step[k];
  }
  sink.finish(out.first, tile);
}

// Of a block: what is transposed should be worth the calls for its rows.
int64_t block_elements(const TiledLaunch& launch) {
  const bool two = !launch.exact && launch.compute == Class::kF32;
  return two ? 2 * kTile : tile_of(launch);
}
static_assert(2 * kTile * 4 <= kTileBytes);

void tiled_chunks(void* arg, int64_t first, int64_t last) {
  const TiledLaunch& launch = *static_cast<const TiledLaunch*>(arg);
  const Geometry& g = launch.geometry;
  alignas(64) char buffer[kMaxInputs + 1][kTileBytes];
  alignas(64) char raw[2 * kRawBytes];
  Source source[kMaxInputs];
  Sink sink;
  for (int k = 0; k < launch.inputs; ++k) {
    if (launch.exact) {
      source[k].open(g, g.operand[k + 1], buffer[k]);
    } else {
      source[k].open(g, g.operand[k + 1], launch.compute, buffer[k], raw);
    }
  }
  if (launch.exact) {
    sink.open(g, g.operand[0], buffer[kMaxInputs]);
  } else {
    sink.open(g, g.operand[0], launch.result, buffer[kMaxInputs], raw);
  }
  TileWalk walk(g, first, last, tile_of(launch));
  const void* in[kMaxInputs];
  for (int k = launch.varying; k < launch.inputs; ++k) in[k] = source[k].load(one_of(walk.tile()));
  for (; walk.more(); walk.next()) {
    const Tile& tile = walk.tile();
    if (tile.rows > 1) {
      run_rows(launch, tile, source, sink, in);
      continue;
    }
    for (int k = 0; k < launch.varying; ++k) in[k] = source[k].load(tile);
    void* out = sink.place(tile);
    launch.fn(in, out, tile.n);
    sink.finish(out, tile);
  }
}

bool commutes(const PointwiseArgs& args) {
  const auto e = static_cast<Expression>(args.expression);
  return args.inputs == 2 && (e == Expression::add || e == Expression::mul);
}

bool is_number(const View& view) {
  for (int d = 0; d < view.ndim; ++d) {
    if (view.strides[d] != 0 && view.sizes[d] != 1) return false;
  }
  return true;
}
// The tile function for numbers after the first input, if that is what they are and there is one.
TileFn form_for_numbers(const PointwiseArgs& args) {
  if (args.inputs < 2) return nullptr;
  for (int k = 1; k < args.inputs; ++k) {
    if (!is_number(args.in[k])) return nullptr;
  }
  return number_tile(static_cast<Class>(args.compute), args.expression);
}

// The first `varying` inputs lie in order; those after them are numbers as fn reads them.
void run_dense(Context& context, const PointwiseArgs& args, TileFn fn, int32_t varying) {
  const int64_t n = numel(args.out);
  DenseLaunch launch = {fn,
                        args.inputs,
                        varying,
                        {},
                        dtype_bytes(args.out.dtype),
                        n,
                        static_cast<char*>(args.out.data),
                        {}};
  for (int k = 0; k < args.inputs; ++k) {
    launch.in[k] = static_cast<const char*>(args.in[k].data);
    launch.in_bytes[k] = dtype_bytes(args.in[k].dtype);
  }
  run_chunks(context, n, dense_chunks, &launch);
}

// By rows with the function, or with the one whose inputs after the first are a number each row:
// of a column and a row the column's elements are the numbers.
bool in_rows(Context& context, const PointwiseArgs& args, Geometry& g, RowFunction whole,
             RowFunction with_numbers) {
  for (const RowFunction& f : {whole, with_numbers}) {
    if (lies_in_rows(g, f)) return run_by_rows(context, g, f), true;
  }
  if (!commutes(args)) return false;
  std::swap(g.operand[1], g.operand[2]);
  if (lies_in_rows(g, with_numbers)) return run_by_rows(context, g, with_numbers), true;
  std::swap(g.operand[1], g.operand[2]);
  return false;
}

// These are apart, so that the short way below does not pay for their frames.
__attribute__((noinline)) void run_exact(Context& context, const ExactForm& form) {
  const PointwiseArgs& args = form.args;
  bool flat = is_flat(args.out);
  for (int k = 0; k < form.varying; ++k) flat &= is_flat(args.in[k]);
  if (flat) return run_dense(context, args, form.fn, form.varying);
  TiledLaunch launch;
  launch.fn = form.fn;
  launch.inputs = args.inputs;
  launch.varying = form.varying;
  launch.exact = true;
  const View* views[kMaxInputs + 1] = {&args.out};
  for (int k = 0; k < args.inputs; ++k) views[k + 1] = &args.in[k];
  plan(launch.geometry, views, args.inputs + 1);
  const bool both = static_cast<Class>(args.compute) == Class::kC128 && form.varying == 2;
  const TileFn with_numbers = both ? c64_row_tile(args.expression) : nullptr;
  if (in_rows(context, args, launch.geometry, {form.fn, form.varying}, {with_numbers, 1})) return;
  run_planned(context, launch, block_elements(launch), tiled_chunks);
}

// Whether a tile function of the class reads and writes the operands as they are.
bool are_of_class(const Geometry& g, int32_t in_dtype, int32_t out_dtype) {
  for (int k = 1; k < g.operands; ++k) {
    if (g.operand[k].dtype != in_dtype) return false;
  }
  return g.operand[0].dtype == out_dtype;
}

__attribute__((noinline)) void tiled(Context& context, const PointwiseArgs& args, TileFn fn,
                                     int32_t varying, Class result) {
  TiledLaunch launch;
  launch.fn = fn;
  launch.compute = static_cast<Class>(args.compute);
  launch.result = result;
  launch.inputs = args.inputs;
  launch.varying = varying;
  launch.exact = false;
  const View* views[kMaxInputs + 1] = {&args.out};
  for (int k = 0; k < args.inputs; ++k) views[k + 1] = &args.in[k];
  plan(launch.geometry, views, args.inputs + 1);
  if (are_of_class(launch.geometry, class_dtype(launch.compute), class_dtype(result))) {
    const RowFunction with_numbers = {number_tile(launch.compute, args.expression), 1};
    if (in_rows(context, args, launch.geometry, {fn, varying}, with_numbers)) return;
  }
  run_planned(context, launch, block_elements(launch), tiled_chunks);
}

__attribute__((noinline)) void dense_with_numbers(Context& context, const PointwiseArgs& args,
                                                  TileFn fn, int32_t bytes) {
  const int64_t n = numel(args.out);
  alignas(16) char number[kMaxInputs][16];
  DenseLaunch launch = {fn, args.inputs, 1, {bytes}, bytes, n, static_cast<char*>(args.out.data),
                        {}};
  launch.in[0] = static_cast<const char*>(args.in[0].data);
  for (int k = 1; k < args.inputs; ++k) {
    const View& x = args.in[k];
    const ConvertFn convert = convert_to_class(x.dtype, static_cast<Class>(args.compute));
    if (convert != nullptr) convert(x.data, number[k], 1);
    launch.in[k] = convert != nullptr ? number[k] : static_cast<const char*>(x.data);
  }
  run_chunks(context, n, dense_chunks, &launch);
}

__attribute__((noinline)) void scattered(Context& context, const PointwiseArgs& args, TileFn fn,
                                         Class result, int32_t in_dtype, int32_t out_dtype) {
  ExactForm exact;
  if (exact_form(args, exact)) return run_exact(context, exact);
  const TileFn form = form_for_numbers(args);
  if (form == nullptr) return tiled(context, args, fn, args.inputs, result);
  if (!is_direct(args, 1, in_dtype, out_dtype)) return tiled(context, args, form, 1, result);
  dense_with_numbers(context, args, form, dtype_bytes(in_dtype));
}

}  // namespace

void pointwise(Context& context, const PointwiseArgs& args) {
  const Class compute = static_cast<Class>(args.compute);
  const TileFn fn = tile_table(compute)[args.expression];
  const Class result = kExpressionInfo[args.expression].truth ? Class::kBool : compute;
  const int64_t n = numel(args.out);
  if (n == 0) return;
  const int32_t in_dtype = class_dtype(compute), out_dtype = class_dtype(result);
  if (!is_direct(args, args.inputs, in_dtype, out_dtype)) {
    return scattered(context, args, fn, result, in_dtype, out_dtype);
  }
  if (n <= kAlone) {
    const void* in[kMaxInputs];
    for (int k = 0; k < args.inputs; ++k) in[k] = args.in[k].data;
    return fn(in, args.out.data, n);
  }
  run_dense(context, args, fn, args.inputs);
}

}  // namespace libdl::kernels::cpu
