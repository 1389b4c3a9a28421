// SPDX-License-Identifier: Apache-2.0

// Threads share the rows of the result, or for weights' gradients slices of the pixels and blocks
// of channels. If groups have m > 1 outputs, y is computed or read as m planes of C channels each.
#include "kernels/cpu/conv/depthwise/depthwise.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/conv/depthwise/grouped_rows.h"
#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

struct Sizes {
  int64_t group, channels, planes, taps;  // the channels of all groups

  explicit Sizes(const ConvolutionArgs& a)
      : group(a.w.sizes[1]),
        channels(a.groups * group),
        planes(a.w.sizes[0] / channels),
        taps(a.w.sizes[2] * a.w.sizes[3] * a.w.sizes[4]) {}
  int64_t outputs() const { return planes * channels; }
  int64_t tap() const { return group * channels; }  // weights of a plane under a tap
};

// -- where taps lie -------------------------------------------------------------------------------

// Along one dimension: for j in [0, count), tap first + j * tap_step lies over position
// at + j * step of the source. step > 0.
struct Reach {
  int64_t first = 0, tap_step = 1, at = 0, step = 1, count = 0;

  // Without what lies outside.
  Reach inside(int64_t size) const {
    const int64_t j0 = at >= 0 ? 0 : ceil_div(-at, step);
    const int64_t j1 = at >= size ? 0 : std::min(count, (size - 1 - at) / step + 1);
    if (j0 >= j1) return {};
    return {first + j0 * tap_step, tap_step, at + j0 * step, step, j1 - j0};
  }
};

Reach reach_of_output(const ConvolutionArgs& a, int d, int64_t o) {
  return {0, 1, o * a.stride[d] - a.before[d], a.dilation[d], a.w.sizes[d + 2]};
}

// Output o reaches input i by tap t if o stride = i + before - t dilation. Of the taps for which
// this is divisible every (stride / g)th is one, g = gcd(stride, dilation), and from one to the
// next o falls by dilation / g.
Reach reach_of_input(const ConvolutionArgs& a, int d, int64_t i) {
  const int64_t stride = a.stride[d], dilation = a.dilation[d], taps = a.w.sizes[d + 2];
  const int64_t common = std::gcd(stride, dilation), every = stride / common;
  for (int64_t t = 0; t < std::min(every, taps); ++t) {
    if ((i + a.before[d] - t * dilation) % stride != 0) continue;
    const int64_t count = ceil_div(taps - t, every), last = t + (count - 1) * every;
    return {last, -every, (i + a.before[d] - last * dilation) / stride, dilation / common, count};
  }
  return {};
}

template <class S>
DepthwiseSource<S> source_row(const S* data, const View& image, const Reach& along, int64_t step) {
  return {data, image.sizes[4], image.strides[4], step, along.at, along.step, along.count};
}

// -- weights and planes ---------------------------------------------------------------------------

// to [planes, taps, group, channels] = w [channels planes, group, ...]: those that take a channel
// of the output from each of its group's inputs, or the other way round.
template <class S>
void pack_weights(Context& context, Wide<S>* to, const ConvolutionArgs& a) {
  const Sizes sizes(a);
  const auto* const w = static_cast<const S*>(a.w.data);
  const Lattice window{{a.w.sizes[2], a.w.sizes[3], a.w.sizes[4]}};
  const int64_t k = sizes.planes * a.w.strides[0], g = sizes.group;
  const bool forward = a.wanted == ConvolutionArgs::kOutput || g == 1;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / sizes.tap());
  in_chunks(context, sizes.planes * sizes.taps, grain, [&](int64_t first, int64_t last) {
    Pixel tap(window, first);
    for (int64_t t = first; t < last; ++t, tap.advance(window)) {
      const S* from = w + tap.image * a.w.strides[0];
      for (int d = 0; d < 3; ++d) from += tap.at[d] * a.w.strides[d + 2];
      for (int64_t i = 0; i < g; ++i)
        for (int64_t c = 0; c < sizes.channels; ++c) {
          const int64_t in = c % g, out = forward ? c : c - in + i;
          to[t * sizes.tap() + i * sizes.channels + c] =
              widened(from[out * k + (forward ? i : in) * a.w.strides[1]]);
        }
    }
  });
}

// Of one pixel or of a bias: to [columns, rows] = from [rows, columns].
template <class S>
void turn(S* to, const S* from, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
}

// y, or with several planes the same pixels with the channels of a plane adjacent.
template <class S>
const S* planes_of(Context& context, const ConvolutionArgs& a, S* room) {
  const Sizes sizes(a);
  const auto* const y = static_cast<const S*>(a.y.data);
  if (sizes.planes == 1) return y;
  const int64_t k = sizes.outputs();
  in_chunks(context, numel(a.y) / k, std::max<int64_t>(1, (1 << 14) / k),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first; i < last; ++i)
                turn(room + i * k, y + i * k, sizes.channels, sizes.planes);
            });
  return room;
}

// -- output and input -----------------------------------------------------------------------------

constexpr int64_t kLeastWork = 1 << 15, kMostWork = 1 << 19;  // products in a chunk

int64_t rows_at_once(int64_t rows, int64_t work) {
  return std::max({ceil_div(kLeastWork, work), std::min(kMostWork / work, rows / 64), int64_t{1}});
}

// What all rows have in common: the result `to`, its source `from`, and packed weights.
template <class S>
struct Rows {
  const ConvolutionArgs& a;
  const Sizes sizes;
  const View& to;
  const View& from;
  S* out;
  const S* in;
  const Wide<S>* w;
  const S* bias = nullptr;  // [planes, channels]
  Lattice lattice;          // of rows

  Rows(const ConvolutionArgs& args, S* result, const S* source, const Wide<S>* packed)
      : a(args),
        sizes(args),
        to(args.wanted == ConvolutionArgs::kOutput ? args.y : args.x),
        from(args.wanted == ConvolutionArgs::kOutput ? args.x : args.y),
        out(result),
        in(source),
        w(packed),
        lattice{{to.sizes[2], to.sizes[3], 1}} {}

  int64_t count() const { return to.sizes[0] * lattice.count(); }
  int64_t work() const { return to.sizes[4] * sizes.planes * sizes.tap() * sizes.taps; }

  static void compute(const DepthwiseRow<S>& row) {
    row.group == 1 ? compute_depthwise_row(row) : compute_grouped_row(row);
  }

  // Without what differs along the row and between the planes.
  DepthwiseRow<S> row(const Pixel& at, const Reach& r0, const Reach& r1) const {
    const int64_t c = sizes.channels, tap1 = a.w.sizes[4] * sizes.tap();
    const int64_t tap0 = a.w.sizes[3] * tap1;
    DepthwiseRow<S> row{};
    row.out = out + at.image * to.strides[0] + at.at[0] * to.strides[2] + at.at[1] * to.strides[3];
    row.channels = c, row.group = sizes.group, row.w_group_stride = c;
    row.in.data =
        in + at.image * from.strides[0] + r0.at * from.strides[2] + r1.at * from.strides[3];
    row.rows[0] = {1, c, sizes.taps * c};
    row.rows[1] = {r0.count, r0.step * from.strides[2], r0.tap_step * tap0};
    row.rows[2] = {r1.count, r1.step * from.strides[3], r1.tap_step * tap1};
    row.w = w + r0.first * tap0 + r1.first * tap1;
    return row;
  }

  void output(const Pixel& at) const {
    const Reach along = reach_of_output(a, 2, 0);
    DepthwiseRow<S> row = this->row(at, reach_of_output(a, 0, at.at[0]).inside(a.x.sizes[2]),
                                    reach_of_output(a, 1, at.at[1]).inside(a.x.sizes[3]));
    row.pixels = a.y.sizes[4], row.out_stride = a.y.strides[4];
    row.in = source_row(row.in.data, a.x, along, a.stride[2]);
    row.tap_stride = sizes.tap();
    row.bias = bias;
    for (int64_t plane = 0; plane < sizes.planes; ++plane) {
      compute(row);
      row.out += sizes.channels, row.w += sizes.taps * sizes.channels;
      if (bias != nullptr) row.bias += sizes.channels;
    }
  }

  // The inputs at i = phase + stride q are reached by the same taps, output by output.
  void input(const Pixel& at) const {
    const DepthwiseRow<S> all = this->row(at, reach_of_input(a, 0, at.at[0]).inside(a.y.sizes[2]),
                                          reach_of_input(a, 1, at.at[1]).inside(a.y.sizes[3]));
    for (int64_t phase = 0; phase < std::min(a.stride[2], a.x.sizes[4]); ++phase) {
      const Reach along = reach_of_input(a, 2, phase);
      DepthwiseRow<S> row = all;
      row.out += phase * a.x.strides[4];
      row.pixels = ceil_div(a.x.sizes[4] - phase, a.stride[2]);
      row.out_stride = a.stride[2] * a.x.strides[4];
      row.in = source_row(row.in.data, a.y, along, 1);
      row.rows[0].count = sizes.planes;
      row.w += along.first * sizes.tap();
      row.tap_stride = along.tap_step * sizes.tap();
      compute(row);
    }
  }
};

template <class S>
void compute_output(Context& context, const ConvolutionArgs& a) {
  using T = Wide<S>;
  const Sizes sizes(a);
  const int64_t k = sizes.outputs();
  const bool planes = sizes.planes > 1;
  const Scratch packed(context, product(sizes.planes * sizes.tap(), sizes.taps, sizeof(T)));
  const Scratch room(context, planes ? product(numel(a.y) + k, sizeof(S)) : 0);
  if (packed.failed() || room.failed()) return;
  pack_weights<S>(context, static_cast<T*>(packed.data()), a);
  auto* const y = static_cast<S*>(a.y.data);
  auto* const apart = static_cast<S*>(room.data());
  Rows<S> rows(a, planes ? apart + k : y, static_cast<const S*>(a.x.data),
               static_cast<const T*>(packed.data()));
  rows.bias = static_cast<const S*>(a.bias.data);
  if (planes && rows.bias != nullptr) {
    turn(apart, rows.bias, sizes.channels, sizes.planes);
    rows.bias = apart;
  }
  const int64_t row = a.y.sizes[4] * k;
  in_chunks(context, rows.count(), rows_at_once(rows.count(), rows.work()),
            [&](int64_t first, int64_t last) {
              Pixel at(rows.lattice, first);
              for (int64_t r = first; r < last; ++r, at.advance(rows.lattice)) {
                rows.output(at);
                if (!planes) continue;
                for (int64_t i = r * row; i < (r + 1) * row; i += k)
                  turn(y + i, apart + k + i, sizes.planes, sizes.channels);
              }
            });
}

template <class S>
void compute_input(Context& context, const ConvolutionArgs& a) {
  using T = Wide<S>;
  const Sizes sizes(a);
  const Scratch packed(context, product(sizes.planes * sizes.tap(), sizes.taps, sizeof(T)));
  const Scratch room(context, sizes.planes > 1 ? product(numel(a.y), sizeof(S)) : 0);
  if (packed.failed() || room.failed()) return;
  pack_weights<S>(context, static_cast<T*>(packed.data()), a);
  const Rows<S> rows(a, static_cast<S*>(a.x.data),
                     planes_of(context, a, static_cast<S*>(room.data())),
                     static_cast<const T*>(packed.data()));
  in_chunks(context, rows.count(), rows_at_once(rows.count(), rows.work()),
            [&](int64_t first, int64_t last) {
              Pixel at(rows.lattice, first);
              for (int64_t r = first; r < last; ++r, at.advance(rows.lattice)) rows.input(at);
            });
}

// -- weights --------------------------------------------------------------------------------------

// The sums of each slice of the rows of y, and of the slices in order. A slice's are
// [planes, taps, group, channels], and in double [planes, channels] those of y.
template <class S>
struct Slices {
  using T = Wide<S>;
  const ConvolutionArgs& a;
  const Sizes sizes;
  Lattice lattice;  // of rows
  int64_t all, rows, count, blocks, block;
  int64_t width;  // channels, in whole cache lines
  const S* y = nullptr;
  T* sums = nullptr;
  double* bias = nullptr;

  explicit Slices(const ConvolutionArgs& args)
      : a(args), sizes(args), lattice{{a.y.sizes[2], a.y.sizes[3], 1}} {
    constexpr int64_t kEnough = 16, kBlock = 256, kLine = 64 / sizeof(T);
    all = a.y.sizes[0] * lattice.count();
    blocks = ceil_div(sizes.channels, kBlock);
    block = ceil_div(ceil_div(sizes.channels, blocks), kLine) * kLine;
    blocks = ceil_div(sizes.channels, block);
    width = ceil_div(sizes.channels, kLine) * kLine;
    // Sums in smaller number than there are pixels.
    const int64_t pixels = all * a.y.sizes[4];
    const int64_t most = std::min(pixels / sizes.taps, pixels * sizes.channels / (1 << 12));
    count = std::min(ceil_div(kEnough, blocks * sizes.planes), std::max<int64_t>(1, most));
    rows = ceil_div(all, count);
    count = ceil_div(all, rows);
  }

  int64_t tap() const { return sizes.group * width; }
  int64_t slice() const { return product(sizes.planes, product(sizes.taps, tap())); }

  static void add(const DepthwiseSums<S>& row) {
    if (row.group == 1) return add_depthwise_sums(row);
    if (row.bias != nullptr) {
      DepthwiseSums<S> alone = row;
      alone.rows = alone.in.taps = 0;
      add_depthwise_sums(alone);
    }
    add_grouped_sums(row);
  }

  void add_row(const Pixel& at, int64_t slice, int64_t plane, int64_t c) const {
    const Reach r0 = reach_of_output(a, 0, at.at[0]).inside(a.x.sizes[2]);
    const Reach r1 = reach_of_output(a, 1, at.at[1]).inside(a.x.sizes[3]);
    DepthwiseSums<S> row{};
    row.y = y + at.image * a.y.strides[0] + at.at[0] * a.y.strides[2] + at.at[1] * a.y.strides[3] +
            plane * sizes.channels + c;
    row.pixels = a.y.sizes[4], row.y_stride = a.y.strides[4];
    row.channels = std::min(block, sizes.channels - c);
    row.group = sizes.group, row.w_group_stride = width;
    row.tap_stride = tap(), row.row_stride = a.w.sizes[4] * tap();
    row.rows = r1.count, row.in_stride = r1.step * a.x.strides[3];
    const Reach along = reach_of_output(a, 2, 0);
    const S* const x = static_cast<const S*>(a.x.data) + at.image * a.x.strides[0] + c;
    T* const to = sums + slice * this->slice() + plane * sizes.taps * tap() + c;
    if (bias != nullptr) row.bias = bias + (slice * sizes.planes + plane) * sizes.channels + c;
    // Sums of y also where no tap lies inside.
    if (r0.count == 0) row.in.taps = row.rows = 0, add(row);
    for (int64_t j = 0; j < r0.count; ++j, row.bias = nullptr) {
      const S* const from = x + (r0.at + j * r0.step) * a.x.strides[2] + r1.at * a.x.strides[3];
      row.in = source_row(from, a.x, along, a.stride[2]);
      row.sums = to + ((r0.first + j) * a.w.sizes[3] + r1.first) * row.row_stride;
      add(row);
    }
  }

  void add_block(int64_t chunk) const {
    const int64_t c = chunk % blocks * block, plane = chunk / blocks % sizes.planes;
    const int64_t slice = chunk / (blocks * sizes.planes);
    T* const to = sums + slice * this->slice() + plane * sizes.taps * tap() + c;
    const int64_t padded = std::min(block, width - c);
    for (int64_t i = 0; i < sizes.taps * sizes.group; ++i)
      std::fill_n(to + i * width, padded, T(0));
    if (bias != nullptr)
      std::fill_n(bias + (slice * sizes.planes + plane) * sizes.channels + c,
                  std::min(block, sizes.channels - c), 0.0);
    Pixel at(lattice, slice * rows);
    for (int64_t r = slice * rows; r < std::min(all, (slice + 1) * rows); ++r, at.advance(lattice))
      add_row(at, slice, plane, c);
  }

  // The weights of tap `tap` of all channels of a plane.
  void merge(const Pixel& tap) const {
    const int64_t plane = tap.image, w = sizes.planes * a.w.strides[0];
    S* out = static_cast<S*>(a.w.data) + plane * a.w.strides[0];
    int64_t number = plane;
    for (int d = 0; d < 3; ++d) {
      out += tap.at[d] * a.w.strides[d + 2];
      number = number * a.w.sizes[d + 2] + tap.at[d];
    }
    const T* from = sums + number * this->tap();
    for (int64_t i = 0; i < sizes.group; ++i, from += width, out += a.w.strides[1]) {
      for (int64_t c = 0; c < sizes.channels; ++c) {
        T sum = from[c];
        for (int64_t s = 1; s < count; ++s) sum += from[s * slice() + c];
        out[c * w] = narrowed<S>(sum);
      }
    }
  }
  void merge_bias() const {
    const int64_t k = sizes.outputs();
    for (int64_t i = 0; i < k; ++i) {
      double sum = 0;
      for (int64_t s = 0; s < count; ++s) sum += bias[s * k + i];
      const int64_t plane = i / sizes.channels, c = i % sizes.channels;
      static_cast<S*>(a.bias.data)[c * sizes.planes + plane] = narrowed<S>(static_cast<T>(sum));
    }
  }
};

template <class S>
void compute_weight(Context& context, const ConvolutionArgs& a) {
  using T = Wide<S>;
  Slices<S> slices(a);
  const Sizes& sizes = slices.sizes;
  const Scratch room(context, product(slices.count, slices.slice(), sizeof(T)));
  const Scratch sums(
      context, a.bias.data == nullptr ? 0 : product(slices.count, sizes.outputs(), sizeof(double)));
  const Scratch apart(context, sizes.planes > 1 ? product(numel(a.y), sizeof(S)) : 0);
  if (room.failed() || sums.failed() || apart.failed()) return;
  slices.sums = static_cast<T*>(room.data());
  slices.bias = static_cast<double*>(sums.data());
  slices.y = planes_of(context, a, static_cast<S*>(apart.data()));
  for_chunks(context, slices.count * sizes.planes * slices.blocks,
             [&](int64_t chunk) { slices.add_block(chunk); });
  if (context.stopped) return;
  const Lattice window{{a.w.sizes[2], a.w.sizes[3], a.w.sizes[4]}};
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / (slices.count * sizes.channels));
  in_chunks(context, sizes.planes * sizes.taps, grain, [&](int64_t first, int64_t last) {
    Pixel tap(window, first);
    for (int64_t i = first; i < last; ++i, tap.advance(window)) slices.merge(tap);
  });
  if (slices.bias != nullptr) slices.merge_bias();
}

template <class S>
void convolve(Context& context, const ConvolutionArgs& a) {
  switch (a.wanted) {
    case ConvolutionArgs::kOutput: return compute_output<S>(context, a);
    case ConvolutionArgs::kInput: return compute_input<S>(context, a);
    case ConvolutionArgs::kWeight: return compute_weight<S>(context, a);
  }
}

}  // namespace

// With fewer channels than outputs of each, products use vectors better.
bool is_depthwise(const ConvolutionArgs& a) {
  constexpr int64_t kEnough = 8;
  const int64_t inputs = a.w.sizes[1], outputs = a.w.sizes[0] / a.groups;
  if (a.groups == 1) return false;
  if (inputs == 1) return a.groups >= std::min(outputs, kEnough);
  bool held = false;
  as_stored(a.x.dtype, [&](auto s) { held = vectors_hold_groups<decltype(s)>(inputs); });
  return held && inputs == outputs;
}

void depthwise_convolution(Context& context, const ConvolutionArgs& a) {
  as_stored(a.x.dtype, [&](auto s) { convolve<decltype(s)>(context, a); });
}

}  // namespace libdl::kernels::cpu
