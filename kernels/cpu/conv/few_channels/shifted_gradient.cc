// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/few_channels/shifted_gradient.h"

#include <algorithm>

#include "kernels/cpu/conv/patches/group.h"
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

// One of the images that are multiplied with each other, as a group sees it.
template <class S>
struct Side {
  const View& image;
  const S* data;  // the group's first channel
  int64_t channels;

  Side(const View& v, int64_t group, int64_t groups)
      : image(v), data(group_of<const S>(v, group, groups)), channels(v.sizes[1] / groups) {}
  int64_t pixels() const { return pixels_of(image); }
  int64_t all_pixels() const { return image.sizes[0] * pixels(); }
};

// to [channel, image, pixel] = the group's channels.
template <class S>
void turn(Context& context, Wide<S>* to, const Side<S>& from) {
  constexpr int64_t kChunk = 1 << 12;
  const int64_t distance = from.image.strides[4];
  in_chunks(context, from.all_pixels(), kChunk, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < from.channels; ++j)
        to[j * from.all_pixels() + i] =
            widened(from.data[i / from.pixels() * from.image.strides[0] +
                              i % from.pixels() * distance + j]);
  });
}

// Pieces of the images of many channels, in each of which products are summed over pixels.
template <class S>
struct ShiftedGradient {
  using T = Wide<S>;
  const Side<S> few, many;
  const T* planes;  // those of few, as turn wrote them
  const View& w;
  int64_t start[3], step[3];  // under tap t of pixel q of many lies q + start + t step of few
  int64_t taps, each;         // pixels of a piece

  ShiftedGradient(const ConvolutionArgs& a, int64_t group, bool few_outputs)
      : few(few_outputs ? a.y : a.x, group, a.groups),
        many(few_outputs ? a.x : a.y, group, a.groups),
        planes(nullptr),
        w(a.w),
        taps(a.w.sizes[2] * a.w.sizes[3] * a.w.sizes[4]) {
    constexpr int64_t kShifted = (1 << 18) / sizeof(T), kLeast = 64;  // a part of the L2 cache
    each = std::min(many.pixels(), std::max(kLeast, kShifted / rows() / kLeast * kLeast));
    for (int d = 0; d < 3; ++d) {
      start[d] = few_outputs ? a.before[d] : -a.before[d];
      step[d] = few_outputs ? -a.dilation[d] : a.dilation[d];
    }
  }
  int64_t rows() const { return taps * few.channels; }
  int64_t pieces() const { return many.image.sizes[0] * ceil_div(many.pixels(), each); }

  // to[i] = the plane where tap t lies over pixel first + i, 0 outside.
  void shift(T* to, const T* plane, const int64_t* t, int64_t first, int64_t count) const {
    const int64_t* const in = many.image.sizes + 2;
    const int64_t* const out = few.image.sizes + 2;
    int64_t by[3];
    for (int d = 0; d < 3; ++d) by[d] = start[d] + t[d] * step[d];
    for (int64_t i = first, end = first + count; i < end;) {
      const int64_t column = i % in[2], length = std::min(in[2] - column, end - i);
      const int64_t line = i / in[2] % in[1] + by[1], slice = i / in[2] / in[1] + by[0];
      const bool inside = line >= 0 && line < out[1] && slice >= 0 && slice < out[0];
      const int64_t from = inside ? std::clamp<int64_t>(-by[2] - column, 0, length) : length;
      const int64_t last = std::clamp<int64_t>(out[2] - by[2] - column, from, length);
      std::fill_n(to, from, T(0));
      if (from < last)
        std::copy_n(plane + (slice * out[1] + line) * out[2] + column + by[2] + from, last - from,
                    to + from);
      std::fill_n(to + last, length - last, T(0));
      to += length, i += length;
    }
  }

  // sums[(tap, channel of few), channel of many] of a piece, with those before it. `room`:
  // rows() * each.
  void add(T* sums, T* room, int64_t piece, bool first) const {
    const int64_t in_image = ceil_div(many.pixels(), each), image = piece / in_image;
    const int64_t at = piece % in_image * each, count = std::min(each, many.pixels() - at);
    T* row = room;
    int64_t t[3];
    for (t[0] = 0; t[0] < w.sizes[2]; ++t[0])
      for (t[1] = 0; t[1] < w.sizes[3]; ++t[1])
        for (t[2] = 0; t[2] < w.sizes[4]; ++t[2])
          for (int64_t j = 0; j < few.channels; ++j, row += each)
            shift(row, planes + j * few.all_pixels() + image * few.pixels(), t, at, count);
    const int64_t distance = many.image.strides[4];
    GemmTile<T> tile{};
    tile.a = {room, each, 1, kStoredDtype<T>};
    tile.b = {many.data + image * many.image.strides[0] + at * distance, distance, 1,
              kStoredDtype<S>};
    tile.out = sums, tile.out_stride = many.channels;
    tile.k = count, tile.i1 = rows(), tile.j1 = many.channels;
    tile.alpha = 1, tile.beta = first ? 0 : 1;
    gemm_tile(tile);
  }
};

constexpr int64_t kMany = 16;  // channels

bool few_outputs(const ConvolutionArgs& a) {
  return a.y.sizes[1] / a.groups <= 8 && a.w.sizes[1] >= kMany;
}
bool few_inputs(const ConvolutionArgs& a) {
  return a.w.sizes[1] <= 4 && a.y.sizes[1] / a.groups >= kMany;
}

}  // namespace

bool shifted_gradient_is_faster(const ConvolutionArgs& a) {
  return (few_outputs(a) || few_inputs(a)) && pixels_adjacent(a.x) && pixels_adjacent(a.y) &&
         a.stride[0] == 1 && a.stride[1] == 1 && a.stride[2] == 1;
}

template <class S>
void shifted_gradient(Context& context, const ConvolutionArgs& a, int64_t group, S* out) {
  using T = Wide<S>;
  constexpr int64_t kMostParts = 16;
  ShiftedGradient<S> g(a, group, few_outputs(a));
  const Scratch turned(context, product(g.few.all_pixels(), g.few.channels, sizeof(T)));
  if (turned.failed()) return;
  turn<S>(context, static_cast<T*>(turned.data()), g.few);
  g.planes = static_cast<const T*>(turned.data());
  const int64_t pieces = g.pieces(), parts = std::min(kMostParts, pieces);
  const int64_t size = g.rows() * g.many.channels, room = size + g.rows() * g.each;
  const Scratch scratch(context, product(parts, room, sizeof(T)));
  if (scratch.failed() || context.stopped) return;
  T* const sums = static_cast<T*>(scratch.data());
  for_chunks(context, parts, [&](int64_t part) {
    T* const mine = sums + part * room;
    const int64_t first = pieces * part / parts, last = pieces * (part + 1) / parts;
    for (int64_t i = first; i < last; ++i) g.add(mine, mine + size, i, i == first);
  });
  if (context.stopped) return;
  const auto total = [&](int64_t tap, int64_t one, int64_t other) {  // channels of few and many
    const T* const from = sums + (tap * g.few.channels + one) * g.many.channels + other;
    T sum = from[0];
    for (int64_t part = 1; part < parts; ++part) sum += from[part * room];
    return narrowed<S>(sum);
  };
  const int64_t k = a.y.sizes[1] / a.groups, c = a.w.sizes[1];
  for (int64_t j = 0; j < k; ++j)
    for (int64_t t = 0; t < g.taps; ++t)
      for (int64_t i = 0; i < c; ++i) *out++ = few_outputs(a) ? total(t, j, i) : total(t, i, j);
}

#define LIBDL_SHIFTED(S) \
  template void shifted_gradient(Context&, const ConvolutionArgs&, int64_t, S*);
LIBDL_SHIFTED(float)
LIBDL_SHIFTED(double)
LIBDL_SHIFTED(Bfloat)
LIBDL_SHIFTED(Half)
#undef LIBDL_SHIFTED

}  // namespace libdl::kernels::cpu
