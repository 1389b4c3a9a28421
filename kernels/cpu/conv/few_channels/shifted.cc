// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/few_channels/shifted.h"

#include <algorithm>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/rooms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/few_channels/shifted.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Each of `lines` lines at `to` += that at `from`.
template <class T>
void add_lines(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t lines,
               int64_t length) {
  using P = Pack<T>;
  if (to_stride == length && from_stride == length) length *= lines, lines = 1;
  for (int64_t line = 0; line < lines; ++line, to += to_stride, from += from_stride) {
    int64_t i = 0;
    for (; i + P::n <= length; i += P::n)
      P::store(hn::Add(P::load(to + i), P::load(from + i)), to + i);
    for (; i < length; ++i) to[i] += from[i];
  }
}
void add_f32(float* to, int64_t to_stride, const float* from, int64_t from_stride, int64_t lines,
             int64_t length) {
  add_lines(to, to_stride, from, from_stride, lines, length);
}
void add_f64(double* to, int64_t to_stride, const double* from, int64_t from_stride, int64_t lines,
             int64_t length) {
  add_lines(to, to_stride, from, from_stride, lines, length);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

namespace {

// Those of i in [first, last) for which i + shift lies in [0, size).
struct Range {
  int64_t first, last;
  Range(int64_t from, int64_t to, int64_t shift, int64_t size)
      : first(std::max(from, -shift)), last(std::min(to, size - shift)) {}
  int64_t count() const { return last - first; }
};

// The weights as a matrix [(t0, t1, t2, column), row].
template <class S>
void turn_taps(Wide<S>* to, const Taps<S>& taps) {
  for (int64_t i = 0; i < taps.counts[0]; ++i)
    for (int64_t j = 0; j < taps.counts[1]; ++j)
      for (int64_t k = 0; k < taps.counts[2]; ++k)
        for (int64_t c = 0; c < taps.columns; ++c) {
          const S* from = taps.weights + i * taps.strides[0] + j * taps.strides[1] +
                          k * taps.strides[2] + c * taps.col_stride;
          for (int64_t r = 0; r < taps.rows; ++r) *to++ = widened(from[r * taps.row_stride]);
        }
}

// A band: some lines, along the last dimension, of a slice of a result. Some lines of taps are
// multiplied at once: as many as one packing of the image serves.
template <class S>
struct Shifted {
  using T = Wide<S>;
  const PatchesTimesMatrix<S>& p;
  const T* weights;               // as turn_taps wrote them
  int64_t columns, tap_line;      // of the result; products for a line of taps
  int64_t taps_at_once;           // lines of them
  int64_t most_lines, most_read;  // of a band, and those of the image that it reads
  int64_t in_line, out_line;      // pixels of a line

  Shifted(const PatchesTimesMatrix<S>& whole, const T* turned, int64_t result_columns)
      : p(whole),
        weights(turned),
        columns(result_columns),
        tap_line(whole.a.taps[2] * result_columns),
        taps_at_once(std::clamp<int64_t>(kStripe<T> / tap_line, 1, whole.a.taps[1])),
        in_line(whole.a.sizes[2]),
        out_line(whole.a.lattice.sizes[2]) {
    constexpr int64_t kProducts = (1 << 19) / sizeof(T), kLeastLines = 8;  // half an L2 cache
    const int64_t more = (taps_at_once - 1) * std::abs(p.a.dilation[1]);
    const int64_t fit = kProducts / (taps_at_once * tap_line * std::max<int64_t>(1, in_line));
    most_lines = std::min(p.a.lattice.sizes[1], std::max(fit - more, kLeastLines));
    most_read = std::min(p.a.sizes[1], most_lines + more);
  }
  int64_t bands() const { return ceil_div(p.a.lattice.sizes[1], most_lines); }
  int64_t sums() const { return product(columns, most_lines, out_line); }
  int64_t room() const { return sums() + product(taps_at_once * tap_line, most_read, in_line); }

  // products[row, pixel] of lines of a slice of the image, for as many rows of the weights.
  void multiply(T* products, const S* slice, Range lines, const T* rows, int64_t count) const {
    const int64_t k = p.a.channels, distance = p.a.strides[3];
    const bool adjacent = p.a.strides[2] == in_line * distance;
    const int64_t at_once = adjacent ? lines.count() : 1;
    GemmTile<T> tile{};
    tile.a = {rows, k, 1, kStoredDtype<T>};
    tile.out_stride = lines.count() * in_line;
    tile.k = k, tile.i1 = count, tile.j1 = at_once * in_line;
    tile.alpha = 1;
    for (int64_t line = 0; line < lines.count(); line += at_once) {
      tile.b = {slice + (lines.first + line) * p.a.strides[2], 1, distance, kStoredDtype<S>};
      tile.out = products + line * in_line;
      gemm_tile(tile);
    }
  }

  // sums[column, line, pixel] += the products with a line of taps, each row where its tap lies.
  void add(T* sums, const T* products, Range read, Range band, int64_t shift1) const {
    static constexpr auto add_lines = [](auto... args) {
      if constexpr (sizeof(T) == sizeof(float)) LIBDL_ON_ISA(add_f32, args...);
      if constexpr (sizeof(T) == sizeof(double)) LIBDL_ON_ISA(add_f64, args...);
    };
    const int64_t plane = band.count() * out_line, row = read.count() * in_line;
    const Range lines(band.first, band.last, shift1, p.a.sizes[1]);
    if (lines.count() <= 0) return;
    for (int64_t t2 = 0; t2 < p.a.taps[2]; ++t2, products += columns * row) {
      const int64_t shift2 = p.a.start[2] + t2 * p.a.dilation[2];
      const Range pixels(0, out_line, shift2, in_line);
      if (pixels.count() <= 0) continue;
      const int64_t to = (lines.first - band.first) * out_line + pixels.first;
      const int64_t from = (lines.first + shift1 - read.first) * in_line + pixels.first + shift2;
      for (int64_t c = 0; c < columns; ++c)
        add_lines(sums + c * plane + to, out_line, products + c * row + from, in_line,
                  lines.count(), pixels.count());
    }
  }

  // What taps [first, last) of a line of lines, of plane t0 of the window, contribute.
  void add_taps(T* sums, T* products, const S* slice, Range band, int64_t t0, Range taps) const {
    const auto shift = [&](int64_t t1) { return p.a.start[1] + t1 * p.a.dilation[1]; };
    const int64_t one = shift(taps.first), other = shift(taps.last - 1);
    const Range read(band.first + std::min(one, other), band.last + std::max(one, other), 0,
                     p.a.sizes[1]);
    if (read.count() <= 0) return;
    multiply(products, slice, read,
             weights + (t0 * p.a.taps[1] + taps.first) * tap_line * p.a.channels,
             taps.count() * tap_line);
    for (int64_t t1 = taps.first; t1 < taps.last; ++t1) {
      add(sums, products, read, band, shift(t1));
      products += tap_line * read.count() * in_line;
    }
  }

  void store(const T* sums, S* slice, Range band) const {
    const int64_t plane = band.count() * out_line;
    for (int64_t line = band.first; line < band.last; ++line) {
      S* out = slice + line * p.out_strides[2];
      for (int64_t q = 0; q < out_line; ++q, ++sums, out += p.out_strides[3])
        for (int64_t c = 0; c < columns; ++c)
          out[c] = narrowed<S>(sums[c * plane] + (p.bias ? widened(p.bias[c]) : T(0)));
    }
  }

  void compute(T* room, int64_t image, int64_t depth, int64_t number) const {
    const Range band(number * most_lines, (number + 1) * most_lines, 0, p.a.lattice.sizes[1]);
    std::fill_n(room, columns * band.count() * out_line, T(0));
    for (int64_t t0 = 0; t0 < p.a.taps[0]; ++t0) {
      const int64_t at = depth + p.a.start[0] + t0 * p.a.dilation[0];
      if (at < 0 || at >= p.a.sizes[0]) continue;
      const S* const slice = p.a.data + image * p.a.strides[0] + at * p.a.strides[1];
      for (int64_t t1 = 0; t1 < p.a.taps[1]; t1 += taps_at_once)
        add_taps(room, room + sums(), slice, band, t0, {t1, t1 + taps_at_once, 0, p.a.taps[1]});
    }
    store(room, p.out + image * p.out_strides[0] + depth * p.out_strides[1], band);
  }
};

template <class S>
bool is_line(const Patches<S>& a) {
  return a.sizes[1] == 1 && a.lattice.sizes[1] == 1 && a.taps[1] == 1 && a.start[1] == 0;
}

// A line is read as many lines of one pixel, of which bands can be made.
template <class S>
PatchesTimesMatrix<S> in_lines(PatchesTimesMatrix<S> p) {
  Patches<S>& a = p.a;
  if (!is_line(a)) return p;
  std::swap(a.sizes[1], a.sizes[2]);
  std::swap(a.lattice.sizes[1], a.lattice.sizes[2]);
  std::swap(a.taps[1], a.taps[2]);
  std::swap(a.start[1], a.start[2]);
  std::swap(a.dilation[1], a.dilation[2]);
  a.strides[2] = a.strides[3];
  p.out_strides[2] = p.out_strides[3];
  return p;
}

}  // namespace

template <class S>
bool shifted_is_faster(const Patches<S>& p, int64_t columns) {
  constexpr int64_t kFew = 8, kEnough = 16, kWidest = 1 << 14;
  return columns <= kFew && p.channels >= kEnough && p.step[0] == 1 && p.step[1] == 1 &&
         p.step[2] == 1 && (is_line(p) || p.sizes[2] * p.taps[2] <= kWidest);
}

template <class S>
void multiply_shifted(Context& context, const PatchesTimesMatrix<S>& whole, const Taps<S>& taps) {
  using T = Wide<S>;
  const PatchesTimesMatrix<S> p = in_lines(whole);
  const Scratch turned(context, product(taps.all_rows(), taps.columns, sizeof(T)));
  if (turned.failed()) return;
  turn_taps(static_cast<T*>(turned.data()), taps);
  const Shifted<S> shifted(p, static_cast<const T*>(turned.data()), taps.columns);
  const Lattice& lattice = p.a.lattice;
  const int64_t slices = p.i1 / std::max<int64_t>(1, lattice.sizes[1] * lattice.sizes[2]);
  const int64_t bands = shifted.bands(), chunks = slices * bands;
  const int64_t rooms = std::min<int64_t>(chunks, Rooms<T>::kMost), each = shifted.room();
  const Scratch room(context, product(rooms, each, sizeof(T)));
  if (room.failed()) return;
  Rooms<T> free(static_cast<T*>(room.data()), each, rooms);
  for_chunks(context, chunks, [&](int64_t chunk) {
    const int64_t slice = chunk / bands;
    free.with_one([&](T* mine) {
      shifted.compute(mine, slice / lattice.sizes[0], slice % lattice.sizes[0], chunk % bands);
    });
  });
}

#define LIBDL_SHIFTED(S)                                       \
  template bool shifted_is_faster(const Patches<S>&, int64_t); \
  template void multiply_shifted(Context&, const PatchesTimesMatrix<S>&, const Taps<S>&);
LIBDL_SHIFTED(float)
LIBDL_SHIFTED(double)
LIBDL_SHIFTED(Bfloat)
LIBDL_SHIFTED(Half)
#undef LIBDL_SHIFTED

}  // namespace libdl::kernels::cpu
#endif
