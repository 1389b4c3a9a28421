// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/depthwise/grouped_rows.h"

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/depthwise/grouped_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/conv/depthwise/depthwise_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr bool holds_groups(int64_t group) {
  return HWY_TARGET != HWY_SCALAR && Pack<T>::n % group == 0 &&
         (group == 2 || group == 4 || group == 8);
}

// From a vector of channels that of number kI of each group, to all channels of the group.
template <int kGroup, int kI, class T>
HWY_INLINE typename Pack<T>::V spread(typename Pack<T>::V v) {
  if constexpr (kGroup * sizeof(T) == 16) return hn::Broadcast<kI>(v);  // one instruction
  const hn::RebindToSigned<typename Pack<T>::D> d;
  using I = hn::TFromD<decltype(d)>;
  const auto first = hn::And(hn::Iota(d, 0), hn::Set(d, static_cast<I>(-kGroup)));
  const auto lanes = hn::Add(first, hn::Set(d, static_cast<I>(kI)));
  return hn::TableLookupLanes(v, hn::IndicesFromVec(typename Pack<T>::D(), lanes));
}

// Calls f with the numbers below kCount as constants.
template <int kCount, int kI = 0, class F>
HWY_INLINE void unrolled(F f) {
  if constexpr (kI < kCount) {
    f(std::integral_constant<int, kI>());
    unrolled<kCount, kI + 1>(f);
  }
}

// -- sums over taps -------------------------------------------------------------------------------

// kPixels from q on, of a vector of channels from c on, under taps [first, last).
template <int kGroup, int kPixels, class S, class C>
HWY_INLINE void compute_tile(const DepthwiseRow<S>& r, int64_t q, Span taps, int64_t c,
                             C channels) {
  using T = Wide<S>;
  using V = typename Pack<T>::V;
  const int64_t pixel = r.in.step * r.in.distance, tap = r.in.dilation * r.in.distance;
  V sum[kPixels];
  const V bias = r.bias == nullptr ? Pack<T>::set(0) : channels.load(r.bias + c);
  LIBDL_UNROLL
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  for (int64_t i = 0; i < r.rows[1].count; ++i) {
    for (int64_t j = 0; j < r.rows[2].count; ++j) {
      const S* const in = r.in.under(q, 0) + c + i * r.rows[1].in_stride + j * r.rows[2].in_stride;
      const T* const w = r.w + c + i * r.rows[1].w_stride + j * r.rows[2].w_stride;
      for (int64_t t = taps.first; t < taps.last; ++t) {
        V x[kPixels];
        LIBDL_UNROLL
        for (int p = 0; p < kPixels; ++p) x[p] = channels.load(in + t * tap + p * pixel);
        unrolled<kGroup>([&](auto k) {
          const V weight = channels.load(w + t * r.tap_stride + k() * r.w_group_stride);
          LIBDL_UNROLL
          for (int p = 0; p < kPixels; ++p)
            sum[p] = hn::MulAdd(spread<kGroup, k(), T>(x[p]), weight, sum[p]);
        });
      }
    }
  }
  S* const out = r.out + q * r.out_stride + c;
  LIBDL_UNROLL
  for (int p = 0; p < kPixels; ++p) channels.store(sum[p], out + p * r.out_stride);
}

// Of the remaining channels, whole groups, some are computed twice.
template <int kGroup, int kPixels, class S>
void compute_pixels(const DepthwiseRow<S>& r, int64_t q, Span taps) {
  using T = Wide<S>;
  constexpr int64_t n = Pack<T>::n;
  if (r.channels < n)
    return compute_tile<kGroup, kPixels>(r, q, taps, 0, Channels<false, T>{r.channels});
  for (int64_t c = 0; c < r.channels; c += n)
    compute_tile<kGroup, kPixels>(r, q, taps, std::min(c, r.channels - n), Channels<true, T>{n});
}

template <int kGroup, class S>
void compute_row(const DepthwiseRow<S>& r) {
  const Span whole = whole_pixels(r.in, r.pixels), all{0, r.in.taps};
  for (int64_t q = 0; q < whole.first; ++q) compute_pixels<kGroup, 1>(r, q, taps_inside(r.in, q));
  in_tiles(whole, [&](auto count, int64_t q) { compute_pixels<kGroup, count()>(r, q, all); });
  for (int64_t q = whole.last; q < r.pixels; ++q)
    compute_pixels<kGroup, 1>(r, q, taps_inside(r.in, q));
}

// -- sums over pixels -----------------------------------------------------------------------------

// Of pixels [q, q + count), of kTaps from `tap` on, of a row of the source.
template <int kGroup, int kTaps, class S, class C>
HWY_INLINE void add_tile(const DepthwiseSums<S>& r, int64_t row, Span pixels, int64_t tap,
                         int64_t c, C channels) {
  using T = Wide<S>;
  using V = typename Pack<T>::V;
  const int64_t step = r.in.step * r.in.distance, next = r.in.dilation * r.in.distance;
  const S* in = r.in.under(pixels.first, tap) + row * r.in_stride + c;
  const S* y = r.y + pixels.first * r.y_stride + c;
  V sum[kTaps][kGroup];
  LIBDL_UNROLL
  for (int t = 0; t < kTaps; ++t) {
    LIBDL_UNROLL
    for (int k = 0; k < kGroup; ++k) sum[t][k] = Pack<T>::set(0);
  }
  for (int64_t q = pixels.first; q < pixels.last; ++q, in += step, y += r.y_stride) {
    const V g = channels.load(y);
    unrolled<kTaps>([&](auto t) {
      const V x = channels.load(in + t() * next);
      unrolled<kGroup>(
          [&](auto k) { sum[t()][k()] = hn::MulAdd(spread<kGroup, k(), T>(x), g, sum[t()][k()]); });
    });
  }
  LIBDL_UNROLL
  for (int t = 0; t < kTaps; ++t) {
    LIBDL_UNROLL
    for (int k = 0; k < kGroup; ++k) {
      T* const to =
          r.sums + row * r.row_stride + (tap + t) * r.tap_stride + k * r.w_group_stride + c;
      channels.store(hn::Add(channels.load(to), sum[t][k]), to);
    }
  }
}

template <int kGroup, int kTaps, class S>
void add_channels(const DepthwiseSums<S>& r, int64_t row, Span pixels, int64_t tap) {
  using T = Wide<S>;
  constexpr int64_t n = Pack<T>::n;
  int64_t c = 0;
  for (; c + n <= r.channels; c += n)
    add_tile<kGroup, kTaps>(r, row, pixels, tap, c, Channels<true, T>{n});
  if (c < r.channels)
    add_tile<kGroup, kTaps>(r, row, pixels, tap, c, Channels<false, T>{r.channels - c});
}

// As many taps at once as registers hold sums of.
template <int kGroup, class S>
void add_pixels(const DepthwiseSums<S>& r, Span pixels, Span taps) {
  constexpr int kTaps = kGroup == 8 ? 1 : 3;
  for (int64_t row = 0; row < r.rows; ++row) {
    int64_t t = taps.first;
    for (; t + kTaps <= taps.last; t += kTaps) add_channels<kGroup, kTaps>(r, row, pixels, t);
    for (; t < taps.last; ++t) add_channels<kGroup, 1>(r, row, pixels, t);
  }
}

template <int kGroup, class S>
void add_row(const DepthwiseSums<S>& r) {
  constexpr int64_t kRun = 32;  // pixels that are summed in sequence
  const Span whole = whole_pixels(r.in, r.pixels), all{0, r.in.taps};
  for (int64_t q = 0; q < whole.first; ++q) add_pixels<kGroup>(r, {q, q + 1}, taps_inside(r.in, q));
  for (int64_t q = whole.first; q < whole.last; q += kRun)
    add_pixels<kGroup>(r, {q, std::min(q + kRun, whole.last)}, all);
  for (int64_t q = whole.last; q < r.pixels; ++q)
    add_pixels<kGroup>(r, {q, q + 1}, taps_inside(r.in, q));
}

// Calls f with the group as a constant.
template <class T, class F>
void with_group(int64_t group, F f) {
  if constexpr (holds_groups<T>(2))
    if (group == 2) return f(std::integral_constant<int, 2>());
  if constexpr (holds_groups<T>(4))
    if (group == 4) return f(std::integral_constant<int, 4>());
  if constexpr (holds_groups<T>(8))
    if (group == 8) return f(std::integral_constant<int, 8>());
}

template <class S>
bool holds_on(int64_t group) {
  return holds_groups<Wide<S>>(group);
}
template <class S>
void row_on(const DepthwiseRow<S>& row) {
  with_group<Wide<S>>(row.group, [&](auto group) { compute_row<group()>(row); });
}
template <class S>
void sums_on(const DepthwiseSums<S>& row) {
  with_group<Wide<S>>(row.group, [&](auto group) { add_row<group()>(row); });
}

#define LIBDL_GROUPED(S, suffix)                                    \
  bool holds_##suffix(int64_t group) { return holds_on<S>(group); } \
  void row_##suffix(const DepthwiseRow<S>& row) { row_on<S>(row); } \
  void sums_##suffix(const DepthwiseSums<S>& row) { sums_on<S>(row); }
LIBDL_GROUPED(float, f32)
LIBDL_GROUPED(double, f64)
LIBDL_GROUPED(Bfloat, bf16)
LIBDL_GROUPED(Half, f16)
#undef LIBDL_GROUPED

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

#define LIBDL_GROUPED(S, suffix)                                            \
  template <>                                                               \
  bool vectors_hold_groups<S>(int64_t group) {                              \
    static constexpr decltype(&HWY_STATIC_DISPATCH(holds_##suffix)) kOn[] = \
        LIBDL_FOR_EACH_ISA(holds_##suffix);                                 \
    return kOn[static_cast<int>(isa())](group);                             \
  }                                                                         \
  template <>                                                               \
  void compute_grouped_row(const DepthwiseRow<S>& row) {                    \
    LIBDL_ON_ISA(row_##suffix, row);                                        \
  }                                                                         \
  template <>                                                               \
  void add_grouped_sums(const DepthwiseSums<S>& row) {                      \
    LIBDL_ON_ISA(sums_##suffix, row);                                       \
  }
LIBDL_GROUPED(float, f32)
LIBDL_GROUPED(double, f64)
LIBDL_GROUPED(Bfloat, bf16)
LIBDL_GROUPED(Half, f16)
#undef LIBDL_GROUPED

}  // namespace libdl::kernels::cpu
#endif
