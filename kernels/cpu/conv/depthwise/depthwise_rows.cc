// SPDX-License-Identifier: Apache-2.0

// Tiles of a few pixels by one vector of channels are computed in registers. Windows of 3 and 5 in
// steps of 1 and 2 read each value of the source once a tile; the order of sums is that of all
// others.
#include "kernels/cpu/conv/depthwise/depthwise_rows.h"

#include <algorithm>

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/depthwise/depthwise_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/depthwise/depthwise_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Of the source's positions under kTaps of kPixels, as blocks of kStep: a compiler that was asked
// to unroll leaves longer loops alone.
template <int kPixels, int kTaps, int kStep>
struct Positions {
  static constexpr int kCount = (kPixels - 1) * kStep + kTaps;
  static constexpr int kBlocks = (kCount + kStep - 1) / kStep;

  // The pixel over whose tap t a position lies, or -1.
  static constexpr int pixel(int at, int t) {
    return at >= t && (at - t) % kStep == 0 && (at - t) / kStep < kPixels ? (at - t) / kStep : -1;
  }
};

// The lines at kCount places from `from` on: hardware does not follow a vector of each of many
// pixels.
template <int kCount>
HWY_INLINE void fetch_lines(const void* from, int64_t distance) {
  const auto* const first = static_cast<const char*>(from);
  LIBDL_UNROLL
  for (int i = 0; i < kCount; ++i) __builtin_prefetch(first + i * distance, 0, 2);
}
template <int kCount>
HWY_INLINE void fetch_lines_to_write(const void* from, int64_t distance) {
  const auto* const first = static_cast<const char*>(from);
  LIBDL_UNROLL
  for (int i = 0; i < kCount; ++i) __builtin_prefetch(first + i * distance, 1);
}

// -- sums over taps -------------------------------------------------------------------------------

// A tile, at its first pixel and tap.
template <class S>
struct Tile {
  const S* in;
  const Wide<S>* w;
  S* out;
  int64_t taps;
};

// Any window: kPixels from channel c on.
template <int kPixels, class S, class C>
HWY_INLINE void compute_any(const DepthwiseRow<S>& r, const Tile<S>& tile, int64_t c, C channels) {
  using V = typename C::V;
  const int64_t pixel = r.in.step * r.in.distance, tap = r.in.dilation * r.in.distance;
  V sum[kPixels];
  const V bias = r.bias == nullptr ? C::P::set(0) : channels.load(r.bias + c);
  LIBDL_UNROLL
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  for (int64_t i = 0; i < r.rows[0].count; ++i) {
    for (int64_t j = 0; j < r.rows[1].count; ++j) {
      const S* in = tile.in + c + i * r.rows[0].in_stride + j * r.rows[1].in_stride;
      const Wide<S>* w = tile.w + c + i * r.rows[0].w_stride + j * r.rows[1].w_stride;
      for (int64_t k = 0; k < r.rows[2].count; ++k) {
        for (int64_t t = 0; t < tile.taps; ++t) {
          const V weight = channels.load(w + t * r.tap_stride);
          LIBDL_UNROLL
          for (int p = 0; p < kPixels; ++p)
            sum[p] = hn::MulAdd(channels.load(in + t * tap + p * pixel), weight, sum[p]);
        }
        in += r.rows[2].in_stride, w += r.rows[2].w_stride;
      }
    }
  }
  LIBDL_UNROLL
  for (int p = 0; p < kPixels; ++p) channels.store(sum[p], tile.out + p * r.out_stride + c);
}

// Of the remaining channels some are computed twice, if there is a whole vector of them.
template <int kPixels, class S>
void compute_pixels(const DepthwiseRow<S>& r, int64_t q, Span taps) {
  using T = Wide<S>;
  constexpr int64_t n = Pack<T>::n;
  const Tile<S> tile{r.in.under(q, taps.first), r.w + taps.first * r.tap_stride,
                     r.out + q * r.out_stride, taps.last - taps.first};
  if (r.channels < n) return compute_any<kPixels>(r, tile, 0, Channels<false, T>{r.channels});
  for (int64_t c = 0; c < r.channels; c += n)
    compute_any<kPixels>(r, tile, std::min(c, r.channels - n), Channels<true, T>{n});
}

// All pixels of a tile under the taps of kRows rows of the innermost loop.
template <class S, int kPixels, int kTaps, int kStep, int kRows>
struct Window {
  using T = Wide<S>;
  using P = Pack<T>;
  using V = typename P::V;
  using On = Positions<kPixels, kTaps, kStep>;
  static constexpr int64_t kBytes = sizeof(S);

  static HWY_INLINE void row(const S* x, const T* w, int64_t distance, int64_t tap,
                             V (&sum)[kPixels]) {
    V weight[kTaps];
    LIBDL_UNROLL
    for (int t = 0; t < kTaps; ++t) weight[t] = P::load(w + t * tap);
    LIBDL_UNROLL
    for (int block = 0; block < On::kBlocks; ++block) {
      LIBDL_UNROLL
      for (int at = block * kStep; at < (block + 1) * kStep; ++at) {
        if (at >= On::kCount) continue;
        const V value = stored::load(typename P::D(), x + at * distance);
        LIBDL_UNROLL
        for (int t = 0; t < kTaps; ++t) {
          const int p = On::pixel(at, t);
          if (p >= 0) sum[p] = hn::MulAdd(value, weight[t], sum[p]);
        }
      }
    }
  }

  // From a tap on, which is not the first one at a border.
  static void compute(const DepthwiseRow<S>& r, int64_t q, int64_t tap0 = 0) {
    const int64_t distance = r.in.distance, out_stride = r.out_stride, tap = r.tap_stride;
    const int64_t in_stride = r.rows[2].in_stride, w_stride = r.rows[2].w_stride;
    const int64_t last = r.channels - P::n;
    const S* const in = r.in.under(q, tap0);
    const T* const w = r.w + tap0 * tap;
    S* const out = r.out + q * out_stride;
    const S* const bias = r.bias;
    for (int64_t from = 0; from < r.channels; from += P::n) {
      const int64_t c = std::min(from, last);
      V sum[kPixels];
      const V first = bias == nullptr ? P::set(0) : stored::load(typename P::D(), bias + c);
      LIBDL_UNROLL
      for (int p = 0; p < kPixels; ++p) sum[p] = first;
      LIBDL_UNROLL
      for (int k = 0; k < kRows; ++k)
        row(in + c + k * in_stride, w + c + k * w_stride, distance, tap, sum);
      if constexpr (kPixels > 1) {  // what the next row of the result needs, and the next tile
        LIBDL_UNROLL
        for (int k = 0; k < kStep; ++k)
          fetch_lines<kPixels * kStep>(in + c + (kRows + k) * in_stride, distance * kBytes);
        fetch_lines_to_write<kPixels>(out + c + kPixels * out_stride, out_stride * kBytes);
      }
      LIBDL_UNROLL
      for (int p = 0; p < kPixels; ++p)
        stored::store(sum[p], typename P::D(), out + c + p * out_stride);
    }
  }
};

template <int kTaps, int kStep, int kRows, class S>
void compute_windows(const DepthwiseRow<S>& r, Span pixels) {
  in_tiles(pixels,
           [&](auto count, int64_t q) { Window<S, count(), kTaps, kStep, kRows>::compute(r, q); });
}

// Not on the baseline, which computes the same sums without: in scalars these windows are half of
// what the compiler would have to do here.
constexpr bool kHasWindows = LIBDL_FUSED;

template <class S>
bool has_window(const DepthwiseRow<S>& r) {
  return kHasWindows && r.channels >= Pack<Wide<S>>::n && r.in.dilation == 1 &&
         r.rows[0].count == 1 && r.rows[1].count == 1;
}

// Whether a window that is compiled for its size did it.
template <class S>
bool compute_known(const DepthwiseRow<S>& r, Span pixels) {
  if (!has_window(r)) return false;
  const int64_t taps = r.in.taps, step = r.in.step, rows = r.rows[2].count;
  const auto is = [&](int64_t t, int64_t s, int64_t k) {
    return taps == t && step == s && rows == k;
  };
  if constexpr (kHasWindows) {
    if (is(3, 1, 3)) return compute_windows<3, 1, 3>(r, pixels), true;
    if (is(3, 1, 2)) return compute_windows<3, 1, 2>(r, pixels), true;
    if (is(3, 2, 3)) return compute_windows<3, 2, 3>(r, pixels), true;
    if (is(3, 2, 2)) return compute_windows<3, 2, 2>(r, pixels), true;
    if (is(5, 1, 5)) return compute_windows<5, 1, 5>(r, pixels), true;
    if (is(5, 2, 5)) return compute_windows<5, 2, 5>(r, pixels), true;
    if (is(2, 1, 2)) return compute_windows<2, 1, 2>(r, pixels), true;
    if (is(2, 1, 1)) return compute_windows<2, 1, 1>(r, pixels), true;
    if (is(1, 1, 2)) return compute_windows<1, 1, 2>(r, pixels), true;
    if (is(1, 1, 1)) return compute_windows<1, 1, 1>(r, pixels), true;
  }
  return false;
}

// A pixel at a border.
template <class S>
void compute_edge(const DepthwiseRow<S>& r, int64_t q) {
  const Span taps = taps_inside(r.in, q);
  const int64_t rows = r.rows[2].count;
  if (!has_window(r) || taps.last - taps.first != 2) return compute_pixels<1>(r, q, taps);
  if constexpr (kHasWindows) {
    if (rows == 3) return Window<S, 1, 2, 1, 3>::compute(r, q, taps.first);
    if (rows == 2) return Window<S, 1, 2, 1, 2>::compute(r, q, taps.first);
  }
  compute_pixels<1>(r, q, taps);
}

template <class S>
void compute_row(const DepthwiseRow<S>& r) {
  const Span whole = whole_pixels(r.in, r.pixels), all{0, r.in.taps};
  for (int64_t q = 0; q < whole.first; ++q) compute_edge(r, q);
  if (!compute_known(r, whole))
    in_tiles(whole, [&](auto count, int64_t q) { compute_pixels<count()>(r, q, all); });
  for (int64_t q = whole.last; q < r.pixels; ++q) compute_edge(r, q);
}

// -- sums over pixels -----------------------------------------------------------------------------

// Some pixels and taps, of some rows of the source.
template <class S>
struct Patch {
  const S *y, *in;
  Wide<S>* sums;
  int64_t pixels;
};

// kPixels == 0: any, in any steps.
template <int kRows, int kTaps, int kStep, int kPixels, class S, class C>
HWY_INLINE void add_patch(const DepthwiseSums<S>& r, const Patch<S>& patch, int64_t c, C channels) {
  using V = typename C::V;
  const S* const in = patch.in + c;
  const S* const y = patch.y + c;
  V sum[kRows][kTaps];
  LIBDL_UNROLL
  for (int i = 0; i < kRows; ++i) {
    LIBDL_UNROLL
    for (int t = 0; t < kTaps; ++t) sum[i][t] = C::P::set(0);
  }
  if constexpr (kPixels > 0) {
    using On = Positions<kPixels, kTaps, kStep>;
    V g[kPixels];
    LIBDL_UNROLL
    for (int block = 0; block < On::kBlocks; ++block) {
      if (block < kPixels) g[block] = channels.load(y + block * r.y_stride);
      LIBDL_UNROLL
      for (int at = block * kStep; at < (block + 1) * kStep; ++at) {
        if (at >= On::kCount) continue;
        LIBDL_UNROLL
        for (int i = 0; i < kRows; ++i) {
          const V x = channels.load(in + i * r.in_stride + at * r.in.distance);
          LIBDL_UNROLL
          for (int t = 0; t < kTaps; ++t) {
            const int p = On::pixel(at, t);
            if (p >= 0) sum[i][t] = hn::MulAdd(x, g[p], sum[i][t]);
          }
        }
      }
    }
  } else {
    const int64_t pixel = r.in.step * r.in.distance, tap = r.in.dilation * r.in.distance;
    for (int64_t p = 0; p < patch.pixels; ++p) {
      const V g = channels.load(y + p * r.y_stride);
      LIBDL_UNROLL
      for (int i = 0; i < kRows; ++i) {
        LIBDL_UNROLL
        for (int t = 0; t < kTaps; ++t) {
          const V x = channels.load(in + i * r.in_stride + p * pixel + t * tap);
          sum[i][t] = hn::MulAdd(x, g, sum[i][t]);
        }
      }
    }
  }
  if constexpr (kPixels > 0) {  // what the next row needs
    constexpr int64_t kBytes = sizeof(S);
    LIBDL_UNROLL
    for (int k = 0; k < kStep; ++k)
      fetch_lines<kPixels * kStep>(in + (kRows + k) * r.in_stride, r.in.distance * kBytes);
    fetch_lines<kPixels>(y + r.pixels * r.y_stride, r.y_stride * kBytes);
  }
  LIBDL_UNROLL
  for (int i = 0; i < kRows; ++i) {
    LIBDL_UNROLL
    for (int t = 0; t < kTaps; ++t) {
      Wide<S>* const to = patch.sums + i * r.row_stride + t * r.tap_stride + c;
      C::P::store(hn::Add(C::P::load(to), sum[i][t]), to);
    }
  }
}

template <int kRows, int kTaps, class S>
HWY_NOINLINE void add_last_channels(const DepthwiseSums<S>& r, const Patch<S>& patch, int64_t c) {
  add_patch<kRows, kTaps, 1, 0>(r, patch, c, Channels<false, Wide<S>>{r.channels - c});
}

template <int kRows, int kTaps, int kStep, int kPixels, class S>
void add_channels(const DepthwiseSums<S>& r, const Patch<S>& patch) {
  using T = Wide<S>;
  constexpr int64_t n = Pack<T>::n;
  int64_t c = 0;
  for (; c + n <= r.channels; c += n)
    add_patch<kRows, kTaps, kStep, kPixels>(r, patch, c, Channels<true, T>{n});
  if (c < r.channels) add_last_channels<kRows, kTaps>(r, patch, c);
}

// Calls f with `count` as a constant of at most kMost, then with what is left of it.
template <int kMost, class F>
HWY_INLINE void in_parts(int64_t count, F f) {
  int64_t from = 0;
  for (; count - from >= kMost; from += kMost) f(std::integral_constant<int, kMost>(), from);
  if constexpr (kMost > 1) {
    if (from < count)
      in_parts<kMost - 1>(count - from, [&](auto part, int64_t at) { f(part, from + at); });
  }
}

template <class S>
Patch<S> patch_of(const DepthwiseSums<S>& r, int64_t q, int64_t pixels, int64_t row, int64_t tap) {
  return {r.y + q * r.y_stride, r.in.under(q, tap) + row * r.in_stride,
          r.sums + row * r.row_stride + tap * r.tap_stride, pixels};
}

template <class S>
void add_any(const DepthwiseSums<S>& r, int64_t q, int64_t pixels, Span taps) {
  in_parts<3>(r.rows, [&](auto rows, int64_t row) {
    in_parts<3>(taps.last - taps.first, [&](auto some, int64_t tap) {
      add_channels<rows(), some(), 1, 0>(r, patch_of(r, q, pixels, row, taps.first + tap));
    });
  });
}
// kRows at once: their sums and what is multiplied fit the registers.
template <int kRows, int kTaps, int kStep, class S>
void add_tile(const DepthwiseSums<S>& r, int64_t q) {
  in_parts<kRows>(r.rows, [&](auto rows, int64_t row) {
    add_channels<rows(), kTaps, kStep, kTile>(r, patch_of(r, q, kTile, row, 0));
  });
}

// Whether a window that is compiled for its size did it.
template <class S>
bool add_known_tile(const DepthwiseSums<S>& r, int64_t taps, int64_t step, int64_t q) {
  if constexpr (kHasWindows) {
    if (taps == 3 && step == 1) return add_tile<3, 3, 1>(r, q), true;
    if (taps == 3 && step == 2) return add_tile<3, 3, 2>(r, q), true;
    if (taps == 5 && step == 1) return add_tile<2, 5, 1>(r, q), true;
    if (taps == 5 && step == 2) return add_tile<2, 5, 2>(r, q), true;
  }
  return false;
}

// In runs, whose sums are added up in double.
template <class S>
void add_bias(const DepthwiseSums<S>& r) {
  using T = Wide<S>;
  using P = Pack<T>;
  constexpr int64_t kRun = 64;
  for (int64_t q = 0; q < r.pixels; q += kRun) {
    const int64_t end = std::min(r.pixels, q + kRun);
    for (int64_t c = 0; c < r.channels; c += P::n) {
      const int64_t count = std::min(P::n, r.channels - c);
      typename P::V sum = P::set(0);
      for (int64_t p = q; p < end; ++p) {
        const S* const y = r.y + p * r.y_stride + c;
        const typename P::D d;
        sum = hn::Add(sum, count == P::n ? stored::load(d, y) : stored::load(d, count, y));
      }
      alignas(64) T lanes[P::n];
      P::store(sum, lanes);
      for (int64_t i = 0; i < count; ++i) r.bias[c + i] += static_cast<double>(lanes[i]);
    }
  }
}

template <class S>
void add_row(const DepthwiseSums<S>& r) {
  const Span whole = whole_pixels(r.in, r.pixels), all{0, r.in.taps};
  for (int64_t q = 0; q < whole.first; ++q) add_any(r, q, 1, taps_inside(r.in, q));
  const int64_t taps = r.in.dilation == 1 ? r.in.taps : 0, step = r.in.step;
  for (int64_t q = whole.first; q < whole.last; q += kTile) {
    const int64_t count = std::min(kTile, whole.last - q);
    if (count < kTile || !add_known_tile(r, taps, step, q)) add_any(r, q, count, all);
  }
  for (int64_t q = whole.last; q < r.pixels; ++q) add_any(r, q, 1, taps_inside(r.in, q));
  if (r.bias != nullptr) add_bias(r);
}

void row_f32(const DepthwiseRow<float>& row) { compute_row(row); }
void row_f64(const DepthwiseRow<double>& row) { compute_row(row); }
void row_bf16(const DepthwiseRow<Bfloat>& row) { compute_row(row); }
void row_f16(const DepthwiseRow<Half>& row) { compute_row(row); }
void sums_f32(const DepthwiseSums<float>& row) { add_row(row); }
void sums_f64(const DepthwiseSums<double>& row) { add_row(row); }
void sums_bf16(const DepthwiseSums<Bfloat>& row) { add_row(row); }
void sums_f16(const DepthwiseSums<Half>& row) { add_row(row); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

template <class S>
Span whole_pixels(const DepthwiseSource<S>& in, int64_t pixels) {
  if (in.taps == 0) return {0, pixels};
  const int64_t first = in.start >= 0 ? 0 : ceil_div(-in.start, in.step);
  const int64_t room = in.size - 1 - in.start - (in.taps - 1) * in.dilation;
  const int64_t last = room < 0 ? 0 : room / in.step + 1;
  return {std::min(first, pixels), std::clamp(last, std::min(first, pixels), pixels)};
}

template <class S>
Span taps_inside(const DepthwiseSource<S>& in, int64_t q) {
  const int64_t at = q * in.step + in.start;
  const int64_t first = at >= 0 ? 0 : std::min(ceil_div(-at, in.dilation), in.taps);
  const int64_t last = at >= in.size ? 0 : std::min((in.size - 1 - at) / in.dilation + 1, in.taps);
  return {first, std::max(first, last)};
}

#define LIBDL_DEPTHWISE(S, suffix)                         \
  template <>                                              \
  void compute_depthwise_row(const DepthwiseRow<S>& row) { \
    LIBDL_ON_ISA(row_##suffix, row);                       \
  }                                                        \
  template <>                                              \
  void add_depthwise_sums(const DepthwiseSums<S>& row) {   \
    LIBDL_ON_ISA(sums_##suffix, row);                      \
  }
LIBDL_DEPTHWISE(float, f32)
LIBDL_DEPTHWISE(double, f64)
LIBDL_DEPTHWISE(Bfloat, bf16)
LIBDL_DEPTHWISE(Half, f16)
#undef LIBDL_DEPTHWISE

}  // namespace libdl::kernels::cpu
#endif
