// SPDX-License-Identifier: Apache-2.0

// A place's pixels and their weights are found once for all channels, for some places at a time.

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/walk.h"
#include "kernels/sampling.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kPlaces = 64;      // at once
constexpr int64_t kChannels = 4;     // of a chunk that adds up the image's gradient
constexpr int64_t kGrain = 1 << 14;  // terms of sums that are worth a chunk

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
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = first + i, at = 0;
      for (int d = 3; d >= 1; --d) {
        at += rest % grid.sizes[d] * grid.strides[d];
        rest /= grid.sizes[d];
      }
      Line<T> lines[3];
      for (int d = 0; d < how.dims; ++d)
        lines[d] = line_at(data[at + d * grid.strides[4]], image.sizes[4 - d], how);
      combine(image, how, lines, i, slopes);
    }
  }

 private:
  void combine(const View& image, const Sampling& how, const Line<T>* lines, int64_t i,
               bool slopes) {
    const int each = taps_of(how.mode);
    taps = how.dims == 2 ? each * each : each * each * each;
    for (int t = 0; t < taps; ++t) {
      const int tap[3] = {t % each, t / each % each, t / each / each};
      T w = 1;
      int64_t at = 0;
      bool inside = true;
      for (int d = 0; d < how.dims; ++d) {
        const int64_t pixel = lines[d].pixel[tap[d]];
        inside = inside && pixel >= 0;
        at += pixel * image.strides[4 - d];
        w *= lines[d].weight[tap[d]];
      }
      offset[t][i] = inside ? at : -1;
      weight[t][i] = w;
      for (int d = 0; slopes && d < how.dims; ++d) {
        T s = inside ? lines[d].slope[tap[d]] : T(0);
        for (int e = 0; inside && e < how.dims; ++e)
          if (e != d) s *= lines[e].weight[tap[e]];
        slope[d][t][i] = s;
      }
    }
  }
};

// The distance of place p from the first one in an image [.., .., d, h, w].
int64_t place_in(const View& image, int64_t p) {
  int64_t offset = 0;
  for (int d = 4; d >= 2; --d) {
    offset += p % image.sizes[d] * image.strides[d];
    p /= image.sizes[d];
  }
  return offset;
}

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

template <class T>
void forward(Context& context, const GridSampleArgs& a) {
  each_block(context, a.out, taps_of(a.how.mode), [&](int64_t n, int64_t first, int64_t count) {
    Around<T> around;
    around.find(a.in, a.grid, a.how, n, first, count, false);
    int64_t place[kPlaces];
    for (int64_t i = 0; i < count; ++i) place[i] = place_in(a.out, first + i);
    for (int64_t c = 0; c < a.out.sizes[1]; ++c) {
      const T* const plane =
          static_cast<const T*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      T* const out = static_cast<T*>(a.out.data) + n * a.out.strides[0] + c * a.out.strides[1];
      T sum[kPlaces];
      for (int64_t i = 0; i < count; ++i)
        sum[i] = around.weight[0][i] * value_at(plane, around.offset[0][i]);
      for (int t = 1; t < around.taps; ++t)
        for (int64_t i = 0; i < count; ++i)
          sum[i] += around.weight[t][i] * value_at(plane, around.offset[t][i]);
      for (int64_t i = 0; i < count; ++i) out[place[i]] = sum[i];
    }
  });
}

// Each chunk has some channels of an image of its own, to which it adds place after place.
template <class T>
void image_gradient(Context& context, const GridSampleBackwardArgs& a) {
  const Places places(a.dy);
  const int64_t channels = a.dy.sizes[1], blocks = (channels + kChannels - 1) / kChannels;
  const int64_t pixels = a.din.sizes[2] * a.din.sizes[3] * a.din.sizes[4];
  in_chunks(context, a.dy.sizes[0] * blocks, 1, [&](int64_t begin, int64_t end) {
    Around<T> around;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t n = chunk / blocks, c0 = chunk % blocks * kChannels;
      const int64_t c1 = std::min(channels, c0 + kChannels);
      T* const image = static_cast<T*>(a.din.data) + n * a.din.strides[0];
      const T* const dy = static_cast<const T*>(a.dy.data) + n * a.dy.strides[0];
      for (int64_t c = c0; c < c1; ++c)
        for (int64_t p = 0; p < pixels; ++p) image[c * a.din.strides[1] + place_in(a.din, p)] = 0;
      for (int64_t first = 0; first < places.each; first += kPlaces) {
        const int64_t count = std::min(kPlaces, places.each - first);
        around.find(a.din, a.grid, a.how, n, first, count, false);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t place = place_in(a.dy, first + i);
          for (int64_t c = c0; c < c1; ++c) {
            const T g = dy[place + c * a.dy.strides[1]];
            for (int t = 0; t < around.taps; ++t)
              if (around.offset[t][i] >= 0)
                image[c * a.din.strides[1] + around.offset[t][i]] += around.weight[t][i] * g;
          }
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
    T sum[kMostTaps][kPlaces] = {};  // over the channels
    int64_t place[kPlaces];
    for (int64_t i = 0; i < count; ++i) place[i] = place_in(a.dy, first + i);
    for (int64_t c = 0; c < a.dy.sizes[1]; ++c) {
      const T* const plane =
          static_cast<const T*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      const T* const dy =
          static_cast<const T*>(a.dy.data) + n * a.dy.strides[0] + c * a.dy.strides[1];
      for (int t = 0; t < around.taps; ++t)
        for (int64_t i = 0; i < count; ++i)
          sum[t][i] += dy[place[i]] * value_at(plane, around.offset[t][i]);
    }
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = first + i, at = n * a.dgrid.strides[0];
      for (int d = 3; d >= 1; --d) {
        at += rest % a.dgrid.sizes[d] * a.dgrid.strides[d];
        rest /= a.dgrid.sizes[d];
      }
      for (int d = 0; d < a.how.dims; ++d) {
        T g = 0;
        for (int t = 0; t < around.taps; ++t)
          if (around.offset[t][i] >= 0) g += sum[t][i] * around.slope[d][t][i];
        static_cast<T*>(a.dgrid.data)[at + d * a.dgrid.strides[4]] = g;
      }
    }
  });
}

template <class T>
void backward(Context& context, const GridSampleBackwardArgs& a) {
  if (a.din.data) image_gradient<T>(context, a);
  if (a.dgrid.data) grid_gradient<T>(context, a);
}

}  // namespace

void grid_sample(Context& context, const GridSampleArgs& a) {
  if (element_count(a.out) == 0) return;
  if (a.out.dtype == LIBDL_DTYPE_FLOAT64) return forward<double>(context, a);
  forward<float>(context, a);
}

void grid_sample_backward(Context& context, const GridSampleBackwardArgs& a) {
  if (a.dy.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, a);
  backward<float>(context, a);
}

}  // namespace libdl::kernels::cpu
