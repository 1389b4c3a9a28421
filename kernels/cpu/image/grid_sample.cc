// SPDX-License-Identifier: Apache-2.0

// A place's pixels and their weights are found once for all channels, for some places at a time.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/walk.h"
#include "kernels/sampling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/image/grid_sample.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPlaces = 64;      // at once, whole vectors
constexpr int64_t kChannels = 8;     // of a chunk that adds up the image's gradient
constexpr int64_t kGrain = 1 << 14;  // terms of sums that are worth a chunk

// Where the places first, first + 1, ... lie in a view whose dimensions begin, begin + 1 and
// begin + 2 number them.
struct Places {
  int64_t offset[kPlaces];
  int64_t apart = 0;  // from each to the next, or 0: it varies

  void find(const View& view, int begin, int64_t first, int64_t count) {
    const int64_t *const sizes = view.sizes + begin, *const strides = view.strides + begin;
    const bool rows = sizes[1] == 1 || strides[1] == sizes[2] * strides[2];
    const bool planes = sizes[0] == 1 || strides[0] == sizes[1] * sizes[2] * strides[2];
    apart = rows && planes ? strides[2] : 0;
    if (apart != 0) {
      for (int64_t i = 0; i < count; ++i) offset[i] = (first + i) * apart;
      return;
    }
    int64_t z = first / (sizes[1] * sizes[2]), y = first / sizes[2] % sizes[1],
            x = first % sizes[2];
    for (int64_t i = 0; i < count; ++i) {
      offset[i] = z * strides[0] + y * strides[1] + x * strides[2];
      if (++x == sizes[2]) {
        x = 0;
        if (++y == sizes[1]) y = 0, ++z;
      }
    }
  }
  template <class T>
  void read(const T* from, int64_t count, T* to) const {
    if (apart == 1) {
      std::copy_n(from + offset[0], count, to);
    } else if (apart == 2) {  // as in a grid
      for (int64_t i = 0; i < count; ++i) to[i] = from[offset[0] + 2 * i];
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = from[offset[i]];
    }
  }
  template <class T>
  void write(const T* from, int64_t count, T* to) const {
    if (apart == 1) {
      std::copy_n(from, count, to + offset[0]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[offset[i]] = from[i];
    }
  }
};

template <class T>
using Tag = hn::CappedTag<T, 16>;

// The offset of pixels outside: it stays negative if those of three dimensions are added.
constexpr int64_t kOutside = -(int64_t{1} << 60);

// One dimension's pixels of some places: their offsets along it, their weights with the
// derivatives, and 1 for those inside.
template <class T>
struct Lines {
  int64_t offset[4][kPlaces];
  T weight[4][kPlaces], slope[4][kPlaces], inside[4][kPlaces];

  // x has kPlaces numbers, of which the first `count` are used.
  void find(const T* x, int64_t size, int64_t stride, int64_t count, const Sampling& how) {
    const bool narrow = size < (1 << 24) && stride >= 0 && (size - 1) * stride < (1LL << 31);
    if (narrow && how.mode == Sampling::kBilinear && how.padding != Sampling::kReflection) {
      if (how.align_corners != 0) return find_pairs<true>(x, size, stride, how.padding);
      return find_pairs<false>(x, size, stride, how.padding);
    }
    const auto with_padding = [&]<int32_t kMode>() {
      switch (how.padding) {
        case Sampling::kZeros: return one_by_one<kMode, Sampling::kZeros>(x, size, count, how);
        case Sampling::kBorder: return one_by_one<kMode, Sampling::kBorder>(x, size, count, how);
        case Sampling::kReflection:
          return one_by_one<kMode, Sampling::kReflection>(x, size, count, how);
      }
    };
    switch (how.mode) {
      case Sampling::kBilinear: with_padding.template operator()<Sampling::kBilinear>(); break;
      case Sampling::kNearest: with_padding.template operator()<Sampling::kNearest>(); break;
      case Sampling::kBicubic: with_padding.template operator()<Sampling::kBicubic>(); break;
    }
    for (int k = 0; k < taps_of(how.mode); ++k)
      for (int64_t i = 0; i < count; ++i)
        offset[k][i] = offset[k][i] < 0 ? kOutside : offset[k][i] * stride;
  }

 private:
  // Pixels' numbers as their offsets.
  template <int32_t kMode, int32_t kPadding>
  void one_by_one(const T* x, int64_t size, int64_t count, const Sampling& given) {
    const Sampling how{static_cast<Sampling::Mode>(kMode), static_cast<Sampling::Padding>(kPadding),
                       2, given.align_corners};
    for (int64_t i = 0; i < count; ++i) {
      const Line<T> line = line_at(x[i], size, how);
      for (int k = 0; k < taps_of(kMode); ++k) {
        offset[k][i] = line.pixel[k];
        inside[k][i] = line.pixel[k] < 0 ? T(0) : T(1);
        weight[k][i] = line.weight[k], slope[k][i] = line.slope[k];
      }
    }
  }

  // line_at() of vectors, for kBilinear without reflection, with offsets that fit in 32 bits.
  template <bool kAlign>
  void find_pairs(const T* x, int64_t size, int64_t stride, int32_t padding) {
    const Tag<T> d;
    const auto zero = hn::Zero(d), one = hn::Set(d, T(1)), half = hn::Set(d, T(0.5));
    const auto n = hn::Set(d, static_cast<T>(size)), last = hn::Sub(n, one);
    for (int64_t i = 0; i < kPlaces; i += static_cast<int64_t>(hn::Lanes(d))) {
      const auto from = hn::Add(hn::LoadU(d, x + i), one);
      auto at = kAlign ? hn::Mul(hn::Mul(from, half), last)
                       : hn::Mul(hn::Sub(hn::Mul(from, n), one), half);
      auto steep = hn::Mul(kAlign ? last : n, half);
      if (padding == Sampling::kBorder) {
        const auto after = hn::Gt(at, zero), before = hn::Lt(at, last);
        const auto beyond = hn::IfThenElseZero(after, last);  // 0 also for NaN
        at = hn::IfThenElse(hn::And(after, before), at, beyond);
        steep = hn::IfThenElseZero(hn::And(after, before), steep);
      }
      const auto left = hn::Floor(at), right = hn::Add(left, one);
      put(0, i, left, n, stride);
      put(1, i, right, n, stride);
      hn::StoreU(hn::Sub(right, at), d, weight[0] + i);
      hn::StoreU(hn::Sub(at, left), d, weight[1] + i);
      hn::StoreU(hn::Neg(steep), d, slope[0] + i);
      hn::StoreU(steep, d, slope[1] + i);
    }
  }
  template <class V>
  HWY_INLINE void put(int k, int64_t i, V pixel, V size, int64_t stride) {
    const Tag<T> d;
    const hn::Rebind<int32_t, decltype(d)> narrow;
    const auto there = hn::And(hn::Ge(pixel, hn::Zero(d)), hn::Lt(pixel, size));
    hn::StoreU(hn::IfThenElseZero(there, hn::Set(d, T(1))), d, inside[k] + i);
    // -1 for those outside: NaN and what is too large for an integer are not converted.
    const auto number = hn::IfThenElse(there, pixel, hn::Set(d, T(-1)));
    int32_t whole[kPlaces];
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::ConvertTo(narrow, number), narrow, whole);
    } else {
      hn::StoreU(hn::DemoteTo(narrow, number), narrow, whole);
    }
    for (int64_t l = 0; l < static_cast<int64_t>(hn::Lanes(d)); ++l)
      offset[k][i + l] = whole[l] < 0 ? kOutside : whole[l] * stride;
  }
};

// The pixels around up to kPlaces places of one image. Those outside have a negative offset and
// count as 0.
template <class T>
struct Around {
  int64_t offset[kMostTaps][kPlaces];
  T weight[kMostTaps][kPlaces];
  // If asked for: the weight's derivative by x, y and z, and 1 for pixels inside.
  T slope[3][kMostTaps][kPlaces], inside[kMostTaps][kPlaces];
  int taps = 1;

  void find(const View& image, const View& grid, const Sampling& how, int64_t n, int64_t first,
            int64_t count, bool slopes) {
    const auto* const data = static_cast<const T*>(grid.data) + n * grid.strides[0];
    Places at;
    at.find(grid, 1, first, count);
    T x[kPlaces] = {};
    for (int d = 0; d < how.dims; ++d) {
      at.read(data + d * grid.strides[4], count, x);
      lines_[d].find(x, image.sizes[4 - d], image.strides[4 - d], count, how);
    }
    const int each = taps_of(how.mode);
    taps = how.dims == 2 ? each * each : each * each * each;
    if (count < kPlaces) std::fill_n(weight[0], taps * kPlaces, T(0));
    for (int t = 0; t < taps; ++t) {
      const int tap[3] = {t % each, t / each % each, t / each / each};
      combine(how.dims, tap, t, count);
      if (slopes) combine_slopes(how.dims, tap, t, count);
    }
  }

 private:
  void combine(int dims, const int* tap, int t, int64_t count) {
    const hn::CappedTag<int64_t, 8> whole;
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(whole))) {
      auto sum = hn::Add(hn::LoadU(whole, lines_[0].offset[tap[0]] + i),
                         hn::LoadU(whole, lines_[1].offset[tap[1]] + i));
      if (dims == 3) sum = hn::Add(sum, hn::LoadU(whole, lines_[2].offset[tap[2]] + i));
      hn::StoreU(sum, whole, offset[t] + i);
    }
    multiply(dims, count, weight[t], [&](int e) { return lines_[e].weight[tap[e]]; });
  }
  void combine_slopes(int dims, const int* tap, int t, int64_t count) {
    multiply(dims, count, inside[t], [&](int e) { return lines_[e].inside[tap[e]]; });
    for (int d = 0; d < dims; ++d) {
      // That of dimension d first.
      multiply(dims, count, slope[d][t], [&](int k) {
        const int e = k == 0 ? d : k <= d ? k - 1 : k;
        return e == d ? lines_[e].slope[tap[e]] : lines_[e].weight[tap[e]];
      });
    }
  }
  template <class Factor>
  static HWY_INLINE void multiply(int dims, int64_t count, T* to, Factor factor) {
    const Tag<T> d;
    const T *const a = factor(0), *const b = factor(1), *const c = dims == 3 ? factor(2) : nullptr;
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
      auto product = hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
      if (c != nullptr) product = hn::Mul(product, hn::LoadU(d, c + i));
      hn::StoreU(product, d, to + i);
    }
  }

  Lines<T> lines_[3];
};

struct Blocks {
  int64_t each, blocks;  // places and blocks of an image
  explicit Blocks(const View& out)
      : each(out.sizes[2] * out.sizes[3] * out.sizes[4]), blocks((each + kPlaces - 1) / kPlaces) {}
};

// f(n, first place, places) for all blocks of places, on all threads.
template <class F>
void each_block(Context& context, const View& out, int64_t taps, F f) {
  const Blocks places(out);
  const int64_t grain = std::max<int64_t>(1, kGrain / (kPlaces * taps * (out.sizes[1] + 4)));
  in_chunks(context, out.sizes[0] * places.blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b % places.blocks * kPlaces;
      f(b / places.blocks, first, std::min(kPlaces, places.each - first));
    }
  });
}

template <class T>
T value_at(const T* plane, int64_t offset) {
  return offset < 0 ? T(0) : plane[offset];
}

// The pixels around some places in one plane after another. Two taps that are neighbours in x are
// read at once, where both are inside: vectors of single pixels would have to be gathered, which
// many processors do slowly.
template <class T>
class Pixels {
 public:
  Pixels(const View& image, const Around<T>& around, int64_t count)
      : around_(around), count_(count) {
    const int pairs = std::max(1, around.taps / 2);
    if (count < kPlaces) std::fill_n(value_[0], 2 * pairs * kPlaces, T(0));
    if (around.taps == 1) return;
    const bool beside = image.strides[4] == 1 && image.sizes[4] >= 2;
    for (int p = 0; p < around.taps / 2; ++p) {
      const int64_t *const left = around.offset[2 * p], *const right = around.offset[2 * p + 1];
      int64_t n = 0;
      for (int64_t i = 0; i < count; ++i) {
        // Without branches, which go either way.
        const bool both = beside & (left[i] >= 0) & (right[i] == left[i] + 1);
        start_[p][i] = left[i] & -int64_t{both};
        alone_[p][n] = paired_[p][i - n] = static_cast<uint8_t>(i);
        n += !both;
      }
      alone_count_[p] = n;
    }
    beside_ = beside;
  }
  Pixels(const Pixels&) = delete;
  Pixels& operator=(const Pixels&) = delete;

  void read(const T* plane) {
    if (around_.taps == 1) {
      for (int64_t i = 0; i < count_; ++i) value_[0][i] = value_at(plane, around_.offset[0][i]);
      return;
    }
    for (int p = 0; p < around_.taps / 2; ++p) {
      T* const to = value_[p];
      if (beside_) copy_pairs(to, plane, start_[p], count_);
      for (int64_t k = 0; k < alone_count_[p]; ++k) {
        const int64_t i = alone_[p][k];
        to[2 * i] = value_at(plane, around_.offset[2 * p][i]);
        to[2 * i + 1] = value_at(plane, around_.offset[2 * p + 1][i]);
      }
    }
  }

  // Adds the places' g times their weights to the pixels of a plane.
  void add(const T* g, T* plane) const {
    if (around_.taps == 1) {
      for (int64_t i = 0; i < count_; ++i) add_at(plane, around_.offset[0][i], g[i]);
      return;
    }
    for (int p = 0; p < around_.taps / 2; ++p) {
      alignas(64) T product[2 * kPlaces];
      const Tag<T> d;
      for (int64_t i = 0; i < count_; i += static_cast<int64_t>(hn::Lanes(d))) {
        const auto factor = hn::LoadU(d, g + i);
        hn::StoreInterleaved2(hn::Mul(hn::LoadU(d, around_.weight[2 * p] + i), factor),
                              hn::Mul(hn::LoadU(d, around_.weight[2 * p + 1] + i), factor), d,
                              product + 2 * i);
      }
      add_pairs(product, start_[p], paired_[p], count_ - alone_count_[p], plane);
      for (int64_t k = 0; k < alone_count_[p]; ++k) {
        const int64_t i = alone_[p][k];
        add_at(plane, around_.offset[2 * p][i], product[2 * i]);
        add_at(plane, around_.offset[2 * p + 1][i], product[2 * i + 1]);
      }
    }
  }

  // f(t, values of tap t) of the places from the ith on, for all taps in order.
  template <class D, class F>
  HWY_INLINE void each_tap(D d, int64_t i, F f) const {
    if (around_.taps == 1) return f(0, hn::LoadU(d, value_[0] + i));
    for (int p = 0; p < around_.taps / 2; ++p) {
      hn::Vec<D> left, right;
      hn::LoadInterleaved2(d, value_[p] + 2 * i, left, right);
      f(2 * p, left);
      f(2 * p + 1, right);
    }
  }

 private:
  static HWY_INLINE void copy_pairs(T* HWY_RESTRICT to, const T* HWY_RESTRICT plane,
                                    const int64_t* HWY_RESTRICT start, int64_t count) {
    LIBDL_UNROLL_TWICE
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + 2 * i, plane + start[i], 2 * sizeof(T));
  }

  static HWY_INLINE void add_pairs(const T* HWY_RESTRICT product, const int64_t* start,
                                   const uint8_t* paired, int64_t count, T* HWY_RESTRICT plane) {
    const hn::CappedTag<T, 2> d;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = paired[k];
      T* const to = plane + start[i];
      for (int64_t l = 0; l < 2; l += static_cast<int64_t>(hn::Lanes(d))) {
        const auto sum = hn::Add(hn::LoadU(d, to + l), hn::LoadU(d, product + 2 * i + l));
        hn::StoreU(sum, d, to + l);
      }
    }
  }
  static HWY_INLINE void add_at(T* plane, int64_t offset, T x) {
    if (offset >= 0) plane[offset] += x;
  }

  const Around<T>& around_;
  const int64_t count_;
  bool beside_ = false;
  int64_t start_[kMostTaps / 2][kPlaces];   // of pairs
  uint8_t alone_[kMostTaps / 2][kPlaces];   // places whose pair is not read at once
  uint8_t paired_[kMostTaps / 2][kPlaces];  // the others
  int64_t alone_count_[kMostTaps / 2] = {};
  T value_[kMostTaps / 2][2 * kPlaces];
};

template <class T>
void forward(Context& context, const GridSampleArgs& a) {
  each_block(context, a.out, taps_of(a.how.mode), [&](int64_t n, int64_t first, int64_t count) {
    Around<T> around;
    around.find(a.in, a.grid, a.how, n, first, count, false);
    Pixels<T> pixels(a.in, around, count);
    const Tag<T> d;
    Places place;
    place.find(a.out, 2, first, count);
    for (int64_t c = 0; c < a.out.sizes[1]; ++c) {
      const T* const plane =
          static_cast<const T*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      T* const out = static_cast<T*>(a.out.data) + n * a.out.strides[0] + c * a.out.strides[1];
      pixels.read(plane);
      T sums[kPlaces];
      for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
        auto sum = hn::Zero(d);
        pixels.each_tap(d, i, [&](int t, auto value) HWY_ATTR {
          const auto term = hn::Mul(hn::LoadU(d, around.weight[t] + i), value);
          sum = t == 0 ? term : hn::Add(sum, term);
        });
        hn::StoreU(sum, d, sums + i);
      }
      place.write(sums, count, out);
    }
  });
}

template <class T>
void clear(const View& image, T* plane) {
  constexpr T none[kPlaces] = {};
  Places place;
  const int64_t pixels = image.sizes[2] * image.sizes[3] * image.sizes[4];
  for (int64_t p = 0; p < pixels; p += kPlaces) {
    const int64_t count = std::min(kPlaces, pixels - p);
    place.find(image, 2, p, count);
    place.write(none, count, plane);
  }
}

// Each chunk has some channels of an image of its own, to which it adds place after place.
template <class T>
void image_gradient(Context& context, const GridSampleBackwardArgs& a) {
  const Blocks places(a.dy);
  const int64_t channels = a.dy.sizes[1], blocks = (channels + kChannels - 1) / kChannels;
  in_chunks(context, a.dy.sizes[0] * blocks, 1, [&](int64_t begin, int64_t end) {
    Around<T> around;
    Places place;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t n = chunk / blocks, c0 = chunk % blocks * kChannels;
      const int64_t c1 = std::min(channels, c0 + kChannels);
      T* const image = static_cast<T*>(a.din.data) + n * a.din.strides[0];
      const T* const dy = static_cast<const T*>(a.dy.data) + n * a.dy.strides[0];
      for (int64_t c = c0; c < c1; ++c) clear(a.din, image + c * a.din.strides[1]);
      for (int64_t first = 0; first < places.each; first += kPlaces) {
        const int64_t count = std::min(kPlaces, places.each - first);
        around.find(a.din, a.grid, a.how, n, first, count, false);
        const Pixels<T> pixels(a.din, around, count);
        place.find(a.dy, 2, first, count);
        T g[kPlaces] = {};
        for (int64_t c = c0; c < c1; ++c) {
          place.read(dy + c * a.dy.strides[1], count, g);
          pixels.add(g, image + c * a.din.strides[1]);
        }
      }
    }
  });
}

template <class T>
void grid_gradient(Context& context, const GridSampleBackwardArgs& a) {
  each_block(context, a.dy, taps_of(a.how.mode), [&](int64_t n, int64_t first, int64_t count) {
    Around<T> around;
    around.find(a.in, a.grid, a.how, n, first, count, true);
    Pixels<T> pixels(a.in, around, count);
    const Tag<T> tag;
    T sum[kMostTaps][kPlaces];  // over the channels
    std::fill_n(sum[0], around.taps * kPlaces, T(0));
    T g[kPlaces] = {};
    Places place;
    place.find(a.dy, 2, first, count);
    for (int64_t c = 0; c < a.dy.sizes[1]; ++c) {
      const T* const plane =
          static_cast<const T*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      const T* const dy =
          static_cast<const T*>(a.dy.data) + n * a.dy.strides[0] + c * a.dy.strides[1];
      pixels.read(plane);
      place.read(dy, count, g);
      for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(tag))) {
        pixels.each_tap(tag, i, [&](int t, auto value) HWY_ATTR {
          const auto term = hn::Mul(hn::LoadU(tag, g + i), value);
          hn::StoreU(hn::Add(hn::LoadU(tag, sum[t] + i), term), tag, sum[t] + i);
        });
      }
    }
    T* const to = static_cast<T*>(a.dgrid.data) + n * a.dgrid.strides[0];
    place.find(a.dgrid, 1, first, count);
    for (int d = 0; d < a.how.dims; ++d) {
      for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(tag))) {
        auto total = hn::Zero(tag);
        for (int t = 0; t < around.taps; ++t) {
          const auto there = hn::Gt(hn::LoadU(tag, around.inside[t] + i), hn::Zero(tag));
          const auto term =
              hn::Mul(hn::LoadU(tag, sum[t] + i), hn::LoadU(tag, around.slope[d][t] + i));
          total = hn::Add(total, hn::IfThenElseZero(there, term));
        }
        hn::StoreU(total, tag, g + i);
      }
      place.write(g, count, to + d * a.dgrid.strides[4]);
    }
  });
}

template <class T>
void backward(Context& context, const GridSampleBackwardArgs& a) {
  if (a.din.data) image_gradient<T>(context, a);
  if (a.dgrid.data) grid_gradient<T>(context, a);
}

void grid_sample_on(Context& context, const GridSampleArgs& a) {
  if (a.out.dtype == LIBDL_DTYPE_FLOAT64) return forward<double>(context, a);
  forward<float>(context, a);
}
void grid_sample_backward_on(Context& context, const GridSampleBackwardArgs& a) {
  if (a.dy.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, a);
  backward<float>(context, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void grid_sample(Context& context, const GridSampleArgs& args) {
  if (element_count(args.out) == 0) return;
  LIBDL_ON_ISA(grid_sample_on, context, args);
}
void grid_sample_backward(Context& context, const GridSampleBackwardArgs& args) {
  LIBDL_ON_ISA(grid_sample_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
