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
#define HWY_TARGET_INCLUDE "kernels/cpu/grid_sample.cc"
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
void offsets_of(const View& view, int begin, int64_t first, int64_t count, int64_t* offset) {
  const int64_t *const sizes = view.sizes + begin, *const strides = view.strides + begin;
  int64_t z = first / (sizes[1] * sizes[2]), y = first / sizes[2] % sizes[1], x = first % sizes[2];
  for (int64_t i = 0; i < count; ++i) {
    offset[i] = z * strides[0] + y * strides[1] + x * strides[2];
    if (++x == sizes[2]) {
      x = 0;
      if (++y == sizes[1]) y = 0, ++z;
    }
  }
}

// One dimension's coordinates of some places.
template <class T>
struct Lines {
  int64_t pixel[4][kPlaces];
  T weight[4][kPlaces], slope[4][kPlaces];

  template <int32_t kMode, int32_t kPadding>
  void find(const T* x, int64_t size, int64_t count, bool align_corners) {
    const Sampling how{static_cast<Sampling::Mode>(kMode), static_cast<Sampling::Padding>(kPadding),
                       2, align_corners};
    for (int64_t i = 0; i < count; ++i) {
      const Line<T> line = line_at(x[i], size, how);
      for (int k = 0; k < taps_of(kMode); ++k) {
        pixel[k][i] = line.pixel[k];
        weight[k][i] = line.weight[k], slope[k][i] = line.slope[k];
      }
    }
  }
  void find(const T* x, int64_t size, int64_t count, const Sampling& how) {
    const auto with_padding = [&]<int32_t kMode>() {
      const bool align = how.align_corners != 0;
      switch (how.padding) {
        case Sampling::kZeros: return find<kMode, Sampling::kZeros>(x, size, count, align);
        case Sampling::kBorder: return find<kMode, Sampling::kBorder>(x, size, count, align);
        case Sampling::kReflection:
          return find<kMode, Sampling::kReflection>(x, size, count, align);
      }
    };
    switch (how.mode) {
      case Sampling::kBilinear: return with_padding.template operator()<Sampling::kBilinear>();
      case Sampling::kNearest: return with_padding.template operator()<Sampling::kNearest>();
      case Sampling::kBicubic: return with_padding.template operator()<Sampling::kBicubic>();
    }
  }
};

// The pixels around up to kPlaces places of one image. Those outside have offset -1 and count as 0.
template <class T>
struct Around {
  int64_t offset[kMostTaps][kPlaces];
  T weight[kMostTaps][kPlaces];
  T slope[3][kMostTaps][kPlaces];  // the weight's derivative by x, y and z
  int taps = 1;

  void find(const View& image, const View& grid, const Sampling& how, int64_t n, int64_t first,
            int64_t count, bool slopes) {
    const auto* const data = static_cast<const T*>(grid.data) + n * grid.strides[0];
    int64_t at[kPlaces];
    offsets_of(grid, 1, first, count, at);
    T x[kPlaces];
    for (int d = 0; d < how.dims; ++d) {
      for (int64_t i = 0; i < count; ++i) x[i] = data[at[i] + d * grid.strides[4]];
      lines_[d].find(x, image.sizes[4 - d], count, how);
    }
    const int each = taps_of(how.mode);
    taps = how.dims == 2 ? each * each : each * each * each;
    if (count < kPlaces) std::fill_n(weight[0], taps * kPlaces, T(0));
    for (int t = 0; t < taps; ++t) {
      const int tap[3] = {t % each, t / each % each, t / each / each};
      combine(image, how.dims, tap, t, count);
      if (slopes) combine_slopes(how.dims, tap, t, count);
    }
  }

 private:
  void combine(const View& image, int dims, const int* tap, int t, int64_t count) {
    const Lines<T>& x = lines_[0];
    const Lines<T>& y = lines_[1];
    const int64_t *const px = x.pixel[tap[0]], *const py = y.pixel[tap[1]];
    const T *const wx = x.weight[tap[0]], *const wy = y.weight[tap[1]];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t there = py[i] * image.strides[3] + px[i] * image.strides[4];
      offset[t][i] = (px[i] | py[i]) < 0 ? -1 : there;
      weight[t][i] = wx[i] * wy[i];
    }
    if (dims == 2) return;
    const int64_t* const pz = lines_[2].pixel[tap[2]];
    const T* const wz = lines_[2].weight[tap[2]];
    for (int64_t i = 0; i < count; ++i) {
      const bool inside = offset[t][i] >= 0 && pz[i] >= 0;
      offset[t][i] = inside ? offset[t][i] + pz[i] * image.strides[2] : -1;
      weight[t][i] *= wz[i];
    }
  }
  void combine_slopes(int dims, const int* tap, int t, int64_t count) {
    for (int d = 0; d < dims; ++d) {
      for (int64_t i = 0; i < count; ++i) slope[d][t][i] = lines_[d].slope[tap[d]][i];
      for (int e = 0; e < dims; ++e) {
        if (e == d) continue;
        const T* const w = lines_[e].weight[tap[e]];
        for (int64_t i = 0; i < count; ++i) slope[d][t][i] *= w[i];
      }
    }
  }

  Lines<T> lines_[3];
};

struct Places {
  int64_t each, blocks;  // of an image
  explicit Places(const View& out)
      : each(out.sizes[2] * out.sizes[3] * out.sizes[4]), blocks((each + kPlaces - 1) / kPlaces) {}
};

// f(n, first place, places) for all blocks of places, on all threads.
template <class F>
void each_block(Context& context, const View& out, int64_t taps, F f) {
  const Places places(out);
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
        const bool both = beside && left[i] >= 0 && right[i] == left[i] + 1;
        start_[p][i] = both ? left[i] : 0;
        alone_[p][n] = static_cast<uint8_t>(i);
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

  const Around<T>& around_;
  const int64_t count_;
  bool beside_ = false;
  int64_t start_[kMostTaps / 2][kPlaces];  // of pairs
  uint8_t alone_[kMostTaps / 2][kPlaces];  // places whose pair is not read at once
  int64_t alone_count_[kMostTaps / 2] = {};
  T value_[kMostTaps / 2][2 * kPlaces];
};
template <class T>
using Tag = hn::CappedTag<T, 16>;

template <class T>
void forward(Context& context, const GridSampleArgs& a) {
  each_block(context, a.out, taps_of(a.how.mode), [&](int64_t n, int64_t first, int64_t count) {
    Around<T> around;
    around.find(a.in, a.grid, a.how, n, first, count, false);
    Pixels<T> pixels(a.in, around, count);
    const Tag<T> d;
    int64_t place[kPlaces];
    offsets_of(a.out, 2, first, count, place);
    const bool adjacent = place[count - 1] == place[0] + count - 1;
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
      if (adjacent) {
        std::copy_n(sums, count, out + place[0]);
      } else {
        for (int64_t i = 0; i < count; ++i) out[place[i]] = sums[i];
      }
    }
  });
}

template <class T>
void clear(const View& image, T* plane) {
  int64_t offset[kPlaces];
  const int64_t pixels = image.sizes[2] * image.sizes[3] * image.sizes[4];
  for (int64_t p = 0; p < pixels; p += kPlaces) {
    const int64_t count = std::min(kPlaces, pixels - p);
    offsets_of(image, 2, p, count, offset);
    for (int64_t i = 0; i < count; ++i) plane[offset[i]] = 0;
  }
}

// Each chunk has some channels of an image of its own, to which it adds place after place.
template <class T>
void image_gradient(Context& context, const GridSampleBackwardArgs& a) {
  const Places places(a.dy);
  const int64_t channels = a.dy.sizes[1], blocks = (channels + kChannels - 1) / kChannels;
  in_chunks(context, a.dy.sizes[0] * blocks, 1, [&](int64_t begin, int64_t end) {
    Around<T> around;
    int64_t place[kPlaces];
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t n = chunk / blocks, c0 = chunk % blocks * kChannels;
      const int64_t c1 = std::min(channels, c0 + kChannels);
      T* const image = static_cast<T*>(a.din.data) + n * a.din.strides[0];
      const T* const dy = static_cast<const T*>(a.dy.data) + n * a.dy.strides[0];
      for (int64_t c = c0; c < c1; ++c) clear(a.din, image + c * a.din.strides[1]);
      for (int64_t first = 0; first < places.each; first += kPlaces) {
        const int64_t count = std::min(kPlaces, places.each - first);
        around.find(a.din, a.grid, a.how, n, first, count, false);
        offsets_of(a.dy, 2, first, count, place);
        for (int64_t c = c0; c < c1; ++c) {
          T* const plane = image + c * a.din.strides[1];
          T g[kPlaces], product[kMostTaps][kPlaces];
          for (int64_t i = 0; i < count; ++i) g[i] = dy[place[i] + c * a.dy.strides[1]];
          for (int t = 0; t < around.taps; ++t)
            for (int64_t i = 0; i < count; ++i) product[t][i] = around.weight[t][i] * g[i];
          for (int64_t i = 0; i < count; ++i)
            for (int t = 0; t < around.taps; ++t)
              if (around.offset[t][i] >= 0) plane[around.offset[t][i]] += product[t][i];
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
    int64_t place[kPlaces];
    offsets_of(a.dy, 2, first, count, place);
    for (int64_t c = 0; c < a.dy.sizes[1]; ++c) {
      const T* const plane =
          static_cast<const T*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      const T* const dy =
          static_cast<const T*>(a.dy.data) + n * a.dy.strides[0] + c * a.dy.strides[1];
      pixels.read(plane);
      for (int64_t i = 0; i < count; ++i) g[i] = dy[place[i]];
      for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(tag))) {
        pixels.each_tap(tag, i, [&](int t, auto value) HWY_ATTR {
          const auto term = hn::Mul(hn::LoadU(tag, g + i), value);
          hn::StoreU(hn::Add(hn::LoadU(tag, sum[t] + i), term), tag, sum[t] + i);
        });
      }
    }
    T* const to = static_cast<T*>(a.dgrid.data) + n * a.dgrid.strides[0];
    offsets_of(a.dgrid, 1, first, count, place);
    for (int64_t i = 0; i < count; ++i) {
      for (int d = 0; d < a.how.dims; ++d) {
        T g = 0;
        for (int t = 0; t < around.taps; ++t)
          if (around.offset[t][i] >= 0) g += sum[t][i] * around.slope[d][t][i];
        to[place[i] + d * a.dgrid.strides[4]] = g;
      }
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
