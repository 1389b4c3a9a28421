// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/shifted_gradient.h"

#include <algorithm>

#include "kernels/cpu/conv/group.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"

namespace libdl::kernels::cpu {

namespace {

int64_t pixels_of(const View& v) { return v.sizes[2] * v.sizes[3] * v.sizes[4]; }
bool pixels_adjacent(const View& v) {
  const int64_t line = v.sizes[4] * v.strides[4];
  return (v.sizes[3] == 1 || v.strides[3] == line) &&
         (v.sizes[2] == 1 || v.strides[2] == v.sizes[3] * line);
}

// to [channel, image, pixel] = the group's channels of y.
template <class S>
void turn_outputs(Context& context, Wide<S>* to, const ConvolutionArgs& a, int64_t group) {
  constexpr int64_t kChunk = 1 << 12;
  const int64_t k = a.y.sizes[1] / a.groups, pixels = a.y.sizes[0] * pixels_of(a.y);
  const S* const y = group_of<const S>(a.y, group, a.groups);
  in_chunks(context, pixels, kChunk, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < k; ++j) to[j * pixels + i] = widened(y[i * a.y.strides[4] + j]);
  });
}

// Pieces of an image's inputs, in each of which products are summed over pixels.
template <class S>
struct ShiftedGradient {
  using T = Wide<S>;
  const ConvolutionArgs& a;
  const S* x;                                  // the group's first input
  const T* outputs;                            // as turn_outputs wrote them
  int64_t channels, outs, taps, pixels, each;  // pixels of an image; of a piece

  ShiftedGradient(const ConvolutionArgs& args, int64_t group, const T* turned)
      : a(args),
        x(group_of<const S>(args.x, group, args.groups)),
        outputs(turned),
        channels(args.w.sizes[1]),
        outs(args.y.sizes[1] / args.groups),
        taps(args.w.sizes[2] * args.w.sizes[3] * args.w.sizes[4]),
        pixels(pixels_of(args.x)) {
    constexpr int64_t kShifted = (1 << 18) / sizeof(T), kLeast = 64;  // a part of the L2 cache
    each = std::min(pixels, std::max(kLeast, kShifted / (taps * outs) / kLeast * kLeast));
  }
  int64_t rows() const { return taps * outs; }
  int64_t pieces() const { return a.x.sizes[0] * ceil_div(pixels, each); }

  // to[i] = the outputs' `plane` where tap `t` of the window lies over input first + i.
  void shift(T* to, const T* plane, const int64_t* t, int64_t first, int64_t count) const {
    const int64_t* const in = a.x.sizes + 2;
    const int64_t* const out = a.y.sizes + 2;
    const int64_t shift = a.before[2] - t[2] * a.dilation[2];
    for (int64_t i = first, end = first + count; i < end;) {
      const int64_t column = i % in[2], length = std::min(in[2] - column, end - i);
      const int64_t line = i / in[2] % in[1] + a.before[1] - t[1] * a.dilation[1];
      const int64_t slice = i / in[2] / in[1] + a.before[0] - t[0] * a.dilation[0];
      const bool inside = line >= 0 && line < out[1] && slice >= 0 && slice < out[0];
      const int64_t from = inside ? std::clamp<int64_t>(-shift - column, 0, length) : length;
      const int64_t last = std::clamp<int64_t>(out[2] - shift - column, from, length);
      std::fill_n(to, from, T(0));
      if (from < last)
        std::copy_n(plane + (slice * out[1] + line) * out[2] + column + shift + from, last - from,
                    to + from);
      std::fill_n(to + last, length - last, T(0));
      to += length, i += length;
    }
  }

  // sums[(tap, output), channel] of a piece, with those before it. `room`: rows() * each.
  void add(T* sums, T* room, int64_t piece, bool first) const {
    const int64_t in_image = ceil_div(pixels, each), image = piece / in_image;
    const int64_t at = piece % in_image * each, count = std::min(each, pixels - at);
    const int64_t all = a.y.sizes[0] * pixels_of(a.y);
    T* row = room;
    int64_t t[3];
    for (t[0] = 0; t[0] < a.w.sizes[2]; ++t[0])
      for (t[1] = 0; t[1] < a.w.sizes[3]; ++t[1])
        for (t[2] = 0; t[2] < a.w.sizes[4]; ++t[2])
          for (int64_t j = 0; j < outs; ++j, row += each)
            shift(row, outputs + j * all + image * pixels_of(a.y), t, at, count);
    GemmTile<T> tile{};
    tile.a = {room, each, 1, kStoredDtype<T>};
    tile.b = {x + image * a.x.strides[0] + at * a.x.strides[4], a.x.strides[4], 1, kStoredDtype<S>};
    tile.out = sums, tile.out_stride = channels;
    tile.k = count, tile.i1 = rows(), tile.j1 = channels;
    tile.alpha = 1, tile.beta = first ? 0 : 1;
    gemm_tile(tile);
  }
};

}  // namespace

bool shifted_gradient_is_faster(const ConvolutionArgs& a) {
  constexpr int64_t kFew = 8, kEnough = 16;
  return a.y.sizes[1] / a.groups <= kFew && a.w.sizes[1] >= kEnough && pixels_adjacent(a.x) &&
         a.stride[0] == 1 && a.stride[1] == 1 && a.stride[2] == 1;
}

template <class S>
void shifted_gradient(Context& context, const ConvolutionArgs& a, int64_t group, S* out) {
  using T = Wide<S>;
  constexpr int64_t kMostParts = 16;
  const Scratch turned(context, product(a.y.sizes[0] * pixels_of(a.y), a.y.sizes[1], sizeof(T)));
  if (turned.failed()) return;
  turn_outputs<S>(context, static_cast<T*>(turned.data()), a, group);
  const ShiftedGradient<S> g(a, group, static_cast<const T*>(turned.data()));
  const int64_t pieces = g.pieces(), parts = std::min(kMostParts, pieces);
  const int64_t size = g.rows() * g.channels, room = size + g.rows() * g.each;
  const Scratch scratch(context, product(parts, room, sizeof(T)));
  if (scratch.failed() || context.stopped) return;
  T* const sums = static_cast<T*>(scratch.data());
  for_chunks(context, parts, [&](int64_t part) {
    T* const mine = sums + part * room;
    const int64_t first = pieces * part / parts, last = pieces * (part + 1) / parts;
    for (int64_t i = first; i < last; ++i) g.add(mine, mine + size, i, i == first);
  });
  if (context.stopped) return;
  for (int64_t j = 0; j < g.outs; ++j)
    for (int64_t t = 0; t < g.taps; ++t)
      for (int64_t c = 0; c < g.channels; ++c) {
        const T* const from = sums + (t * g.outs + j) * g.channels + c;
        T sum = from[0];
        for (int64_t part = 1; part < parts; ++part) sum += from[part * room];
        *out++ = narrowed<S>(sum);
      }
}

#define LIBDL_SHIFTED(S) \
  template void shifted_gradient(Context&, const ConvolutionArgs&, int64_t, S*);
LIBDL_SHIFTED(float)
LIBDL_SHIFTED(double)
LIBDL_SHIFTED(Bfloat)
LIBDL_SHIFTED(Half)
#undef LIBDL_SHIFTED

}  // namespace libdl::kernels::cpu
