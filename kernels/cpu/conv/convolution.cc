// SPDX-License-Identifier: Apache-2.0

// Convolutions as products with patches (patches/patches.h), cut into tiles by sizes alone.
#include <algorithm>
#include <numeric>

#include "kernels/cpu/conv/bias.h"
#include "kernels/cpu/conv/depthwise/depthwise.h"
#include "kernels/cpu/conv/few_channels/few_channels.h"
#include "kernels/cpu/conv/few_channels/shifted.h"
#include "kernels/cpu/conv/matrix_unit/tile_patches.h"
#include "kernels/cpu/conv/patches/group.h"
#include "kernels/cpu/conv/patches/pixels.h"
#include "kernels/cpu/conv/patches/spanned.h"
#include "kernels/cpu/conv/patches/weight_gradient.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

// -- patches times weights ------------------------------------------------------------------------

// Tiles of a result of `rows` by `columns`: enough for all threads.
struct Tiles {
  int64_t rows, columns, down, across;

  template <class S>
  static Tiles of(int64_t rows, int64_t columns, S) {
    using T = Wide<S>;
    constexpr int64_t kMostRows = 192, kEnough = 8;
    Tiles t{std::min(rows, kMostRows), std::min(columns, kMostColumns<S>), 0, 0};
    const auto count = [&] {
      t.down = ceil_div(rows, t.rows), t.across = ceil_div(columns, t.columns);
      return t.down * t.across;
    };
    while (count() < kEnough && t.columns > 2 * kPanel<T>)
      t.columns = ceil_div(ceil_div(t.columns, 2), kPanel<T>) * kPanel<T>;
    while (count() < kEnough && t.rows > kStripe<T>) t.rows = ceil_div(t.rows, 2);
    return t;
  }
};

// A part of the product whose patches have the same taps, for one group.
template <class S>
struct Part {
  PatchesTimesMatrix<S> whole;  // all of its rows and columns, still without packed weights
  Taps<S> taps;
};

template <class S, class T = Wide<S>>
int64_t packed_count(const Taps<S>& taps) {
  return product(ceil_div(taps.columns, kPanel<T>) * kPanel<T>, taps.all_rows());
}

template <class S>
void multiply(Context& context, const Part<S>& part) {
  using T = Wide<S>;
  const int64_t rows = part.whole.i1, columns = part.whole.j1;
  if (rows == 0 || columns == 0) return;
  const bool spanned = spans_serve(part.whole.a);
  if constexpr (std::is_same_v<S, Bfloat>) {
    // In vectors bfloat16 is twice as fast as float32, which few columns do not repay gathering
    // with.
    const bool gathers = matrix_unit() || columns >= 32 || !spanned;
    if (multiplies_bfloat() && gathers && patches_fill_tiles(rows, columns, part.taps.all_rows()))
      return multiply_patches_in_tiles(context, part.whole, part.taps);
  }
  if (shifted_is_faster(part.whole.a, columns))
    return multiply_shifted(context, part.whole, part.taps);
  if constexpr (!kNarrow<S>) {
    // A single row or column is summed in another order there.
    if (rows > 1 && columns > 1 && is_matrix(part.whole))
      return multiply_pixels(context, part.whole, part.taps);
  }
  const Scratch room(context, product(packed_count(part.taps), sizeof(T)));
  if (room.failed()) return;
  T* const packed = static_cast<T*>(room.data());
  in_chunks(context, ceil_div(columns, kPanel<T>), 1,
            [&](int64_t first, int64_t last) { pack_taps(packed, part.taps, first, last); });
  if (spanned) {
    PatchesTimesMatrix<S> p = part.whole;
    p.packed = packed;
    return multiply_spans(context, p, columns);
  }
  const Tiles tiles = Tiles::of(rows, columns, S());
  for_chunks(context, tiles.down * tiles.across, [&](int64_t chunk) {
    PatchesTimesMatrix<S> p = part.whole;
    p.packed = packed;
    p.i0 = chunk / tiles.across * tiles.rows;
    p.i1 = std::min(p.i0 + tiles.rows, rows);
    p.j0 = chunk % tiles.across * tiles.columns;
    p.j1 = std::min(p.j0 + tiles.columns, columns);
    multiply_patches(p);
  });
}

template <class S>
void compute_output(Context& context, const ConvolutionArgs& a) {
  const int64_t k = a.y.sizes[1] / a.groups;
  for (int64_t g = 0; g < a.groups && !context.stopped; ++g) {
    Part<S> part{};
    part.whole.a = input_patches<S>(a, g);
    part.taps = {static_cast<const S*>(a.w.data) + g * k * a.w.strides[0],
                 a.w.sizes[1],
                 k,
                 a.w.strides[1],
                 a.w.strides[0],
                 {},
                 {}};
    std::copy_n(a.w.sizes + 2, 3, part.taps.counts);
    std::copy_n(a.w.strides + 2, 3, part.taps.strides);
    part.whole.out = group_of<S>(a.y, g, a.groups);
    part.whole.out_strides[0] = a.y.strides[0];
    std::copy_n(a.y.strides + 2, 3, part.whole.out_strides + 1);
    if (a.bias.data) part.whole.bias = static_cast<const S*>(a.bias.data) + g * k;
    part.whole.i1 = a.y.sizes[0] * part.whole.a.lattice.count();
    part.whole.j1 = part.taps.columns;
    multiply(context, part);
  }
}

// The inputs at i = phase + stride q, for all q, which the same taps reach: output o contributes
// through tap t if o stride = i + before - t dilation. Of the taps for which this is divisible
// every (stride / g)th is one, g = gcd(stride, dilation), and from one to the next o falls by
// dilation / g. So the first of them tells the phase.
struct Phase {
  int64_t phase, pixels, first_tap, tap_step, taps, start, dilation;

  Phase(const ConvolutionArgs& a, int d, int64_t first) : first_tap(first) {
    const int64_t stride = a.stride[d], reach = first * a.dilation[d] - a.before[d];
    const int64_t common = std::gcd(stride, a.dilation[d]), size = a.x.sizes[d + 2];
    phase = (reach % stride + stride) % stride;
    pixels = phase < size ? ceil_div(size - phase, stride) : 0;
    tap_step = stride / common, dilation = -(a.dilation[d] / common);
    taps = ceil_div(a.w.sizes[d + 2] - first, tap_step);
    start = (phase - reach) / stride;
  }
};

// How many taps are the first of a phase.
int64_t phases_of(const ConvolutionArgs& a, int d) {
  return std::min(a.stride[d] / std::gcd(a.stride[d], a.dilation[d]), a.w.sizes[d + 2]);
}
bool reaches_all(const ConvolutionArgs& a, int d) {
  int64_t reached = 0;
  for (int64_t t = 0; t < phases_of(a, d); ++t) reached += Phase(a, d, t).pixels > 0;
  return reached == std::min(a.stride[d], a.x.sizes[d + 2]);
}

template <class S>
void compute_input_phase(Context& context, const ConvolutionArgs& a, int64_t group,
                         const Phase* phase) {
  const int64_t c = a.w.sizes[1], k = a.y.sizes[1] / a.groups;
  Part<S> part{};
  part.whole.a = patches_of<S>(a.y, group, a.groups);
  part.whole.out = group_of<S>(a.x, group, a.groups);
  part.whole.out_strides[0] = a.x.strides[0];
  part.taps = {static_cast<const S*>(a.w.data) + group * k * a.w.strides[0],
               k,
               c,
               a.w.strides[0],
               a.w.strides[1],
               {},
               {}};
  for (int d = 0; d < 3; ++d) {
    const Phase& p = phase[d];
    part.whole.a.lattice.sizes[d] = p.pixels;
    part.whole.a.step[d] = 1, part.whole.a.start[d] = p.start;
    part.whole.a.taps[d] = p.taps, part.whole.a.dilation[d] = p.dilation;
    part.taps.weights += p.first_tap * a.w.strides[d + 2];
    part.taps.counts[d] = p.taps, part.taps.strides[d] = p.tap_step * a.w.strides[d + 2];
    part.whole.out += p.phase * a.x.strides[d + 2];
    part.whole.out_strides[d + 1] = a.stride[d] * a.x.strides[d + 2];
  }
  part.whole.i1 = a.x.sizes[0] * part.whole.a.lattice.count();
  part.whole.j1 = part.taps.columns;
  multiply(context, part);
}

template <class S>
void compute_input(Context& context, const ConvolutionArgs& a) {
  if (!reaches_all(a, 0) || !reaches_all(a, 1) || !reaches_all(a, 2)) {
    const S zero{};
    const int64_t count[] = {numel(a.x)}, step[] = {1};
    fill(context, {{a.x.data, count, step, 1, a.x.dtype}, &zero});
  }
  for (int64_t g = 0; g < a.groups; ++g)
    for (int64_t i = 0; i < phases_of(a, 0); ++i)
      for (int64_t j = 0; j < phases_of(a, 1); ++j)
        for (int64_t k = 0; k < phases_of(a, 2) && !context.stopped; ++k) {
          const Phase phase[] = {Phase(a, 0, i), Phase(a, 1, j), Phase(a, 2, k)};
          compute_input_phase<S>(context, a, g, phase);
        }
}

template <class S>
void convolve(Context& context, const ConvolutionArgs& a) {
  switch (a.wanted) {
    case ConvolutionArgs::kOutput: return compute_output<S>(context, a);
    case ConvolutionArgs::kInput: return compute_input<S>(context, a);
    case ConvolutionArgs::kWeight:
      for (int64_t g = 0; g < a.groups && !context.stopped; ++g) weight_gradient<S>(context, a, g);
      if (a.bias.data && !context.stopped) bias_gradient(context, a);
  }
}

}  // namespace

void convolution(Context& context, const ConvolutionArgs& args) {
  if (is_depthwise(args)) return depthwise_convolution(context, args);
  if (few_channels_serve(args)) return few_channels(context, args);
  as_stored(args.x.dtype, [&](auto s) { convolve<decltype(s)>(context, args); });
}

}  // namespace libdl::kernels::cpu
