// SPDX-License-Identifier: Apache-2.0

// A convolution, or one of its gradients, by Winograd's algorithm on all threads.
#include "kernels/cpu/conv/winograd/winograd_convolution.h"

#include <algorithm>

#include "kernels/cpu/conv/bias.h"
#include "kernels/cpu/conv/winograd/winograd.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rooms.h"

namespace libdl::kernels::cpu {

namespace {

template <class S>
Plane<S> plane_of(const View& v) {
  return {static_cast<S*>(v.data),
          v.sizes[1],
          v.sizes[3],
          v.sizes[4],
          {v.strides[0], v.strides[3], v.strides[4]}};
}
TileGrid grid_of(const View& out, int64_t taps) {
  const int64_t side = kTileIn + 1 - taps;
  return {out.sizes[0], ceil_div(out.sizes[3], side), ceil_div(out.sizes[4], side)};
}

// -- forward, and the input's gradient -----------------------------------------------------------

// Tiles a chunk: what they need stays in the L2 cache, yet the weights are read seldom.
int64_t tiles_at_once(int64_t channels, int64_t tiles) {
  constexpr int64_t kBytes = 1 << 20, kLeast = 24, kMost = 96, kGroup = 12, kEnough = 4;
  int64_t most = std::clamp(kBytes / (kPoints * 4 * channels), kLeast, kMost);
  most = std::min(most, std::max(kGroup, tiles / kEnough));
  return ceil_div(most, kGroup) * kGroup;
}

// Whether the weights' values at the points are many beside the tiles', or beside a cache, so that
// a panel of them is made where it is used. A weights' gradient has all tiles at once.
bool weights_are_large(int64_t in_channels, int64_t out_channels, int64_t tiles, bool gradient) {
  constexpr int64_t kMany = 1 << 17, kFew = 96 * 96;
  const int64_t pairs = in_channels * out_channels;
  return tiles <= kMostTiles ? pairs >= kFew : pairs >= kMany && !gradient;
}

template <int kTaps, class S>
void convolve_panels(Context& context, WinogradPanels<S> p) {
  const int64_t panels = ceil_div(p.taps.columns, kPanel<float>), tiles = p.grid.count();
  const int64_t parts = ceil_div(tiles, kMostTiles), most = ceil_div(tiles, parts);
  const Scratch values(context, product(winograd_blocks(p.in.channels, most), sizeof(float)));
  const int64_t rooms = std::min<int64_t>(panels, Rooms<float>::kMost);
  const int64_t each = winograd_panel_room(most);
  const Scratch room(context, product(rooms, each, sizeof(float)));
  if (values.failed() || room.failed()) return;
  p.x_points = static_cast<float*>(values.data());
  for (int64_t part = 0; part < parts && !context.stopped; ++part) {
    p.first = tiles * part / parts, p.last = tiles * (part + 1) / parts;
    in_chunks(context, p.last - p.first, 2,
              [&](int64_t first, int64_t last) { winograd_panel_tiles<S, kTaps>(p, first, last); });
    if (context.stopped) return;
    Rooms<float> free(static_cast<float*>(room.data()), each, rooms);
    for_chunks(context, panels, [&](int64_t panel) {
      free.with_one([&](float* mine) { winograd_panel<S, kTaps>(p, panel, mine); });
    });
  }
}

template <int kTaps, class S>
void convolve(Context& context, const View& from, const View& to, const int64_t* before,
              const Taps<S>& taps, const S* bias) {
  const Plane<S> in = plane_of<S>(from), out = plane_of<S>(to);
  const int64_t panels = ceil_div(taps.columns, kPanel<float>);
  const TileGrid grid = grid_of(to, kTaps);
  const int64_t tiles = grid.count();
  if (weights_are_large(in.channels, out.channels, tiles, false))
    return convolve_panels<kTaps, S>(
        context, {in, out, grid, {before[0], before[1]}, taps, bias, nullptr, 0, 0});
  const Scratch weights(context,
                        product(kPoints * kPanel<float>, panels * taps.rows, sizeof(float)));
  if (weights.failed()) return;
  auto* const points = static_cast<float*>(weights.data());
  in_chunks(context, panels, 1, [&](int64_t first, int64_t last) {
    winograd_points<S, kTaps>(points, taps, first, last);
  });
  const int64_t most = tiles_at_once(in.channels + out.channels, tiles);
  const int64_t chunks = ceil_div(tiles, most),
                rooms = std::min<int64_t>(chunks, Rooms<float>::kMost);
  const int64_t each = winograd_room(in.channels, out.channels, most);
  const Scratch room(context, product(rooms, each, sizeof(float)));
  if (room.failed() || context.stopped) return;
  Rooms<float> free(static_cast<float*>(room.data()), each, rooms);
  for_chunks(context, chunks, [&](int64_t chunk) {
    free.with_one([&](float* mine) {
      winograd_tiles<S, kTaps>({in,
                                out,
                                grid,
                                {before[0], before[1]},
                                points,
                                bias,
                                mine,
                                chunk * most,
                                std::min(tiles, chunk * most + most),
                                most});
    });
  });
}

// The weights as a matrix for each tap, from columns of `from` to columns of `to`.
template <int kTaps, class S>
Taps<S> taps_of(const View& w, int from, int to) {
  return {static_cast<const S*>(w.data),
          w.sizes[from],
          w.sizes[to],
          w.strides[from],
          w.strides[to],
          {1, kTaps, kTaps},
          {0, w.strides[3], w.strides[4]}};
}

template <int kTaps, class S>
void compute_output(Context& context, const ConvolutionArgs& a) {
  convolve<kTaps>(context, a.x, a.y, a.before + 1, taps_of<kTaps, S>(a.w, 1, 0),
                  static_cast<const S*>(a.bias.data));
}

// x[i] gets y[i + before - t] under tap t: a convolution with the taps in reverse.
template <int kTaps, class S>
void compute_input(Context& context, const ConvolutionArgs& a) {
  constexpr int64_t kLast = kTaps - 1;
  Taps<S> taps = taps_of<kTaps, S>(a.w, 0, 1);
  taps.weights += kLast * (taps.strides[1] + taps.strides[2]);
  taps.strides[1] = -taps.strides[1], taps.strides[2] = -taps.strides[2];
  const int64_t before[] = {kLast - a.before[1], kLast - a.before[2]};
  convolve<kTaps, S>(context, a.y, a.x, before, taps, nullptr);
}

// -- the weights' gradient ------------------------------------------------------------------------

template <int kTaps, class S>
void weight_in_blocks(Context& context, WinogradGradient<S> g) {
  const int64_t c = g.x.channels, k = g.y.channels, tiles = g.grid.count();
  const int64_t down = ceil_div(k, kBlock), across = ceil_div(c, kPanel<float>);
  const Scratch values(
      context, product(winograd_blocks(c, tiles) + winograd_blocks(k, tiles), sizeof(float)));
  const int64_t rooms = std::min<int64_t>(down * across, Rooms<float>::kMost);
  const int64_t each = winograd_block_room();
  const Scratch room(context, product(rooms, each, sizeof(float)));
  if (values.failed() || room.failed()) return;
  g.x_points = static_cast<float*>(values.data());
  g.y_points = g.x_points + winograd_blocks(c, tiles);
  in_chunks(context, tiles, 2,
            [&](int64_t first, int64_t last) { winograd_block_tiles<S, kTaps>(g, first, last); });
  if (context.stopped) return;
  Rooms<float> free(static_cast<float*>(room.data()), each, rooms);
  for_chunks(context, down * across, [&](int64_t chunk) {
    free.with_one([&](float* mine) {
      WinogradGradient<S> part = g;
      part.sums = mine;
      winograd_block<S, kTaps>(part, chunk / across, chunk % across);
    });
  });
}

template <int kTaps, class S>
void weight_in_tiles(Context& context, WinogradGradient<S> g) {
  constexpr int64_t kBytes = 4 << 20, kRows = 96;
  const int64_t c = g.x.channels, k = g.y.channels, tiles = g.grid.count();
  // How the tiles are cut decides the order of the sums, so it depends on sizes alone.
  const int64_t most = std::min(tiles, std::max(kMostTiles, kBytes / (kPoints * 4 * (c + k))));
  const Scratch values(context, product(winograd_room(c, k, most), sizeof(float)));
  const Scratch sums(context, product(kPoints * k, c, sizeof(float)));
  if (values.failed() || sums.failed()) return;
  g.x_points = static_cast<float*>(values.data());
  g.y_points = g.x_points + kPoints * winograd_matrix(c, most);
  g.sums = static_cast<float*>(sums.data());
  const int64_t down = ceil_div(k, kRows);
  for (g.begin = 0; g.begin < tiles && !context.stopped; g.begin = g.end) {
    g.end = std::min(tiles, g.begin + most);
    in_chunks(context, g.end - g.begin, 8,
              [&](int64_t first, int64_t last) { winograd_transform<S, kTaps>(g, first, last); });
    for_chunks(context, kPoints * down, [&](int64_t chunk) {
      const int64_t part = chunk % down;
      winograd_add(g, chunk / down, k * part / down, k * (part + 1) / down);
    });
  }
  if (context.stopped) return;
  in_chunks(context, k, 8,
            [&](int64_t first, int64_t last) { winograd_finish<S, kTaps>(g, first, last); });
}

template <int kTaps, class S>
void compute_weight(Context& context, const ConvolutionArgs& a) {
  const int64_t c = a.x.sizes[1], k = a.y.sizes[1];
  const Scratch wide(context, kNarrow<S> ? product(kTaps * kTaps * k, c, sizeof(float)) : 0);
  if (wide.failed()) return;
  WinogradGradient<S> g{};
  g.x = plane_of<S>(a.x), g.y = plane_of<S>(a.y);
  g.grid = grid_of(a.y, kTaps);
  g.before[0] = a.before[1], g.before[1] = a.before[2];
  g.w = static_cast<float*>(kNarrow<S> ? wide.data() : a.w.data);
  g.w_stride = a.w.strides[0];  // it is dense
  weights_are_large(c, k, g.grid.count(), true) ? weight_in_blocks<kTaps>(context, g)
                                                : weight_in_tiles<kTaps>(context, g);
  if (!kNarrow<S> || context.stopped) return;
  in_chunks(context, k, 8, [&](int64_t first, int64_t last) {
    store_tile(static_cast<S*>(a.w.data) + first * g.w_stride, a.w.dtype, 1,
               g.w + first * g.w_stride, (last - first) * g.w_stride);
  });
}

// Calls f as as_stored does, but for double.
template <class F>
void as_short(int32_t dtype, F f) {
  as_stored(dtype, [&](auto s) {
    if constexpr (!std::is_same_v<decltype(s), double>) f(s);
  });
}

}  // namespace

bool winograd_serves(const ConvolutionArgs& a) {
  const auto is = [](const int64_t* three, int64_t x) {
    return three[0] == x && three[1] == x && three[2] == x;
  };
  const View& w = a.w;
  if (!small_float(a.x.dtype) || a.groups != 1 || !is(a.stride, 1) || !is(a.dilation, 1) ||
      w.sizes[2] != 1 || w.sizes[3] != w.sizes[4] || a.x.sizes[2] != 1 || a.before[0] != 0)
    return false;
  if (a.x.dtype == LIBDL_DTYPE_BFLOAT16 && matrix_unit()) return false;  // its tiles are faster
  const int64_t taps = w.sizes[3];
  if (taps != 3 && taps != 5) return false;
  const int64_t c = a.x.sizes[1], k = a.y.sizes[1];
  if (c % 16 != 0 || k % 16 != 0) return false;
  // Multiplications that are saved for each pair of channels, less what the transforms cost.
  const View& out = a.wanted == ConvolutionArgs::kInput ? a.x : a.y;
  const int64_t tiles = grid_of(out, taps).count();
  const int64_t direct = taps * taps * out.sizes[0] * out.sizes[3] * out.sizes[4];
  const int64_t saved = direct - tiles * (kPoints + 216 / c + 216 / k);
  // And what the weights' cost: those that are made in parts never meet the memory.
  const bool gradient = a.wanted == ConvolutionArgs::kWeight;
  const int64_t part = gradient ? 1000 : 200;
  return saved >= (weights_are_large(c, k, tiles, gradient) ? part : 3000);
}

namespace {

template <int kTaps, class S>
void compute(Context& context, const ConvolutionArgs& a) {
  switch (a.wanted) {
    case ConvolutionArgs::kOutput: return compute_output<kTaps, S>(context, a);
    case ConvolutionArgs::kInput: return compute_input<kTaps, S>(context, a);
    case ConvolutionArgs::kWeight: return compute_weight<kTaps, S>(context, a);
  }
}

}  // namespace

void winograd_convolution(Context& context, const ConvolutionArgs& a) {
  as_short(a.x.dtype, [&](auto s) {
    a.w.sizes[3] == 5 ? compute<5, decltype(s)>(context, a) : compute<3, decltype(s)>(context, a);
  });
  if (a.wanted == ConvolutionArgs::kWeight && a.bias.data && !context.stopped)
    bias_gradient(context, a);
}

}  // namespace libdl::kernels::cpu
