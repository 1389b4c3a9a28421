// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/patches/weight_gradient.h"

#include <algorithm>

#include "kernels/cpu/conv/few_channels/shifted_gradient.h"
#include "kernels/cpu/conv/matrix_unit/tile_patches.h"
#include "kernels/cpu/conv/patches/group.h"
#include "kernels/cpu/conv/patches/pixels.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

// How the weights' gradient is cut: by rows and columns, and where these are few also by pixels,
// each part summed apart.
struct Cuts {
  int64_t rows, columns, pixels, down, across, parts;

  Cuts(int64_t all_rows, int64_t all_columns, int64_t all_pixels, int64_t width) {
    constexpr int64_t kMostRows = 512, kEnough = 16, kLeastPixels = 1024;
    rows = std::min(all_rows, kMostRows), columns = width;
    down = ceil_div(all_rows, rows), across = ceil_div(all_columns, columns);
    rows = ceil_div(all_rows, down);
    parts = std::clamp<int64_t>(kEnough / (down * across), 1, ceil_div(all_pixels, kLeastPixels));
    pixels = ceil_div(all_pixels, parts);
    parts = ceil_div(all_pixels, pixels);
  }
};

template <class T>
void add_parts(Context& context, T* sum, const T* parts, int64_t count, int64_t size) {
  in_chunks(context, size, 1 << 14, [&](int64_t first, int64_t last) {
    for (int64_t p = 0; p < count; ++p) {
      const T* const part = parts + p * size;
      for (int64_t i = first; i < last; ++i) sum[i] = p == 0 ? part[i] : sum[i] + part[i];
    }
  });
}

}  // namespace

template <class S>
void weight_gradient(Context& context, const ConvolutionArgs& a, int64_t group) {
  using T = Wide<S>;
  const int64_t k = a.y.sizes[1] / a.groups;
  S* const out = static_cast<S*>(a.w.data) + group * k * a.w.strides[0];
  const Patches<S> patches = input_patches<S>(a, group);
  const int64_t columns = patches.columns(), pixels = a.y.sizes[0] * patches.lattice.count();
  MatrixTimesPatches<S> p{};
  p.a = group_of<const S>(a.y, group, a.groups), p.a_stride = a.y.strides[4];
  p.b = patches;
  p.r1 = pixels, p.i1 = k, p.j1 = columns;
  // Of one channel and one tap it is the product of a vector.
  const bool vector = !std::is_same_v<S, Bfloat> && k == 1 && is_matrix(p);
  if (!vector && shifted_gradient_is_faster(a)) return shifted_gradient(context, a, group, out);
  if constexpr (std::is_same_v<S, Bfloat>) {
    if (multiplies_bfloat() && patches_fill_tiles(k, columns, pixels))
      return multiply_by_patches_in_tiles(context, p, out);
  }
  // float16 too, so that in vectors it has float32's sums, rounded.
  if constexpr (!std::is_same_v<S, Bfloat>) {
    if (is_matrix(p)) return multiply_by_pixels(context, p, out);
  }
  const Cuts cuts(k, columns, pixels, kPatchColumns<T>);
  const bool apart = cuts.parts > 1 || kNarrow<S>;
  const Scratch room(context, apart ? product(cuts.parts, product(k, columns), sizeof(T)) : 0);
  if (room.failed()) return;
  T* const sums = apart ? static_cast<T*>(room.data()) : reinterpret_cast<T*>(out);
  p.out_stride = columns;
  for_chunks(context, cuts.parts * cuts.down * cuts.across, [&](int64_t chunk) {
    const int64_t part = chunk / (cuts.down * cuts.across);
    MatrixTimesPatches<S> piece = p;
    piece.out = sums + part * k * columns;
    piece.r0 = part * cuts.pixels;
    piece.r1 = std::min(piece.r0 + cuts.pixels, pixels);
    piece.i0 = chunk / cuts.across % cuts.down * cuts.rows;
    piece.i1 = std::min(piece.i0 + cuts.rows, k);
    piece.j0 = chunk % cuts.across * cuts.columns;
    piece.j1 = std::min(piece.j0 + cuts.columns, columns);
    multiply_by_patches(piece);
  });
  if (!apart || context.stopped) return;
  T* const sum = kNarrow<S> ? sums : reinterpret_cast<T*>(out);
  if (cuts.parts > 1) add_parts(context, sum, sums, cuts.parts, k * columns);
  if (kNarrow<S>) store_tile(out, kStoredDtype<S>, 1, reinterpret_cast<float*>(sum), k * columns);
}

template void weight_gradient<float>(Context&, const ConvolutionArgs&, int64_t);
template void weight_gradient<double>(Context&, const ConvolutionArgs&, int64_t);
template void weight_gradient<Bfloat>(Context&, const ConvolutionArgs&, int64_t);
template void weight_gradient<Half>(Context&, const ConvolutionArgs&, int64_t);

}  // namespace libdl::kernels::cpu
