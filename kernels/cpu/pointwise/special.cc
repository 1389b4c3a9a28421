// SPDX-License-Identifier: Apache-2.0

#include "kernels/special.h"

#include <complex>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pointwise/special_floats.h"
#include "kernels/cpu/traverse/stage.h"

namespace libdl::kernels::cpu {
namespace {

using SpecialTile = void (*)(const void* const* in, void* out, int64_t n, int64_t order);

template <class T, T (*kFunction)(T)>
void of_one(const void* const* in, void* out, int64_t n, int64_t) {
  const T* const x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = kFunction(x[i]);
}
template <double (*kFunction)(int64_t, double)>
void of_order(const void* const* in, void* out, int64_t n, int64_t order) {
  const double* const x = static_cast<const double*>(in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<double*>(out)[i] = kFunction(order, x[i]);
}
template <double (*kFunction)(double, double)>
void of_pair(const void* const* in, void* out, int64_t n, int64_t) {
  const double *const x = static_cast<const double*>(in[0]), *const y =
                                                                 static_cast<const double*>(in[1]);
  for (int64_t i = 0; i < n; ++i) static_cast<double*>(out)[i] = kFunction(x[i], y[i]);
}

using Complex = std::complex<double>;
struct Tiles {
  SpecialTile of_doubles, of_complex;
};
constexpr Tiles kTiles[] = {
#define SPECIAL_REAL(name) {of_one<double, special::name>, nullptr},
#define SPECIAL_PLANE(name) \
  {of_one<double, special::name>, of_one<Complex, [](Complex z) { return std::name(z); }>},
#define SPECIAL_OF_ORDER(name) {of_order<special::name>, nullptr},
#define SPECIAL_PAIR(name) {of_pair<special::name>, nullptr},
#include "kernels/special.def"
};

struct SpecialLaunch {
  SpecialTile fn;
  SpecialFloats floats;  // instead of fn where the class is that of floats
  Class compute;
  int32_t inputs;
  int64_t order;
  Geometry geometry;
};

void special_chunks(void* arg, int64_t first, int64_t last) {
  const SpecialLaunch& launch = *static_cast<const SpecialLaunch*>(arg);
  const Geometry& g = launch.geometry;
  alignas(64) char buffer[3][kTileBytes];
  alignas(64) char raw[kRawBytes];
  Source source[2];
  Sink sink;
  sink.open(g, g.operand[0], launch.compute, buffer[2], raw);
  for (int k = 0; k < launch.inputs; ++k)
    source[k].open(g, g.operand[k + 1], launch.compute, buffer[k], raw);
  for (TileWalk walk(g, first, last, tile_elements(launch.compute)); walk.more(); walk.next()) {
    const Tile& tile = walk.tile();
    const void* in[2] = {};
    for (int k = 0; k < launch.inputs; ++k) in[k] = source[k].load(tile);
    void* const out = sink.place(tile);
    if (launch.floats != nullptr) {
      const float* const x[] = {static_cast<const float*>(in[0]), static_cast<const float*>(in[1])};
      launch.floats(x, static_cast<float*>(out), tile.n);
    } else {
      launch.fn(in, out, tile.n, launch.order);
    }
    sink.finish(out, tile);
  }
}

}  // namespace

void special(Context& context, const SpecialArgs& args) {
  const Tiles& tiles = kTiles[static_cast<int32_t>(args.function)];
  const Class own = dtype_class(args.out.dtype);
  const bool complex = own == Class::kC128;
  SpecialLaunch launch;
  launch.fn = complex ? tiles.of_complex : tiles.of_doubles;
  launch.floats = own == Class::kF32
                      ? special_floats(args.function, dtype_bytes(args.out.dtype) == 2)
                      : nullptr;
  launch.compute = complex ? Class::kC128 : launch.floats != nullptr ? Class::kF32 : Class::kF64;
  launch.inputs = args.inputs;
  launch.order = args.order;
  const View* const views[] = {&args.out, &args.in[0], &args.in[1]};
  plan(launch.geometry, views, args.inputs + 1);
  // Not through run_chunks: a chunk of these is worth waking a helper for.
  context.parallel(chunks(launch.geometry), special_chunks, &launch);
}

}  // namespace libdl::kernels::cpu
