// SPDX-License-Identifier: Apache-2.0

// One thread per place, which finds the place's pixels once for all channels. The image's gradient
// has one thread per channel, which adds up in the order of the places: equal bits in every run.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/sampling.h"

namespace libdl::kernels::cuda {

namespace {

struct Volume {
  void* data;
  int64_t sizes[5], strides[5];
};

struct GridSample {
  Volume out, in, grid, din, dgrid;  // out: dy, of the gradients
  Sampling how;
  int32_t dtype;
  int64_t count;  // of threads with work
};

}  // namespace

#ifdef LIBDL_KERNELS

// The coordinates' pixels at place i of all images.
template <class T>
struct OutputPosition {
  int64_t n, out, grid;  // the image; offsets of the place in it
  Line<T> lines[3];

  LIBDL_DEVICE OutputPosition(const GridSample& p, int64_t i) : out(0), grid(0) {
    for (int d = 4; d >= 2; --d) {
      const int64_t at = i % p.out.sizes[d];
      i /= p.out.sizes[d];
      out += at * p.out.strides[d], grid += at * p.grid.strides[d - 1];
    }
    n = i;
    const T* const data = static_cast<const T*>(p.grid.data) + n * p.grid.strides[0] + grid;
    for (int d = 0; d < p.how.dims; ++d)
      lines[d] = line_at(data[d * p.grid.strides[4]], p.in.sizes[4 - d], p.how);
  }

  // f(offset or -1, weight, the tap's numbers) for every tap.
  template <class F>
  LIBDL_DEVICE void each_tap(const GridSample& p, const int64_t* strides, F f) const {
    const int each = taps_of(p.how.mode);
    const int taps = p.how.dims == 2 ? each * each : each * each * each;
    for (int t = 0; t < taps; ++t) {
      const int tap[3] = {t % each, t / each % each, t / each / each};
      T w = 1;
      int64_t at = 0;
      bool inside = true;
      for (int d = 0; d < p.how.dims; ++d) {
        const int64_t pixel = lines[d].pixel[tap[d]];
        inside = inside && pixel >= 0;
        at += pixel * strides[4 - d];
        w *= lines[d].weight[tap[d]];
      }
      f(inside ? at : int64_t{-1}, w, tap);
    }
  }
};

template <class T>
LIBDL_DEVICE void sample_position(const GridSample& p, int64_t i) {
  const OutputPosition<T> position(p, i);
  const T* const in = static_cast<const T*>(p.in.data) + position.n * p.in.strides[0];
  T* const out = static_cast<T*>(p.out.data) + position.n * p.out.strides[0] + position.out;
  for (int64_t c = 0; c < p.out.sizes[1]; ++c) {
    T sum = 0;
    position.each_tap(p, p.in.strides, [&](int64_t at, T w, const int*) {
      sum += w * (at < 0 ? T(0) : in[c * p.in.strides[1] + at]);
    });
    out[c * p.out.strides[1]] = sum;
  }
}

template <class T>
LIBDL_DEVICE void gradient_of_position(const GridSample& p, int64_t i) {
  const OutputPosition<T> position(p, i);
  const T* const in = static_cast<const T*>(p.in.data) + position.n * p.in.strides[0];
  const T* const dy =
      static_cast<const T*>(p.out.data) + position.n * p.out.strides[0] + position.out;
  T sums[3] = {};
  position.each_tap(p, p.in.strides, [&](int64_t at, T, const int* tap) {
    if (at < 0) return;
    T sum = 0;
    for (int64_t c = 0; c < p.out.sizes[1]; ++c)
      sum += dy[c * p.out.strides[1]] * in[c * p.in.strides[1] + at];
    for (int d = 0; d < p.how.dims; ++d) {
      T derivative = position.lines[d].derivative[tap[d]];
      for (int e = 0; e < p.how.dims; ++e)
        if (e != d) derivative *= position.lines[e].weight[tap[e]];
      sums[d] += sum * derivative;
    }
  });
  T* const to = static_cast<T*>(p.dgrid.data) + position.n * p.dgrid.strides[0];
  int64_t rest = i, at = 0;
  for (int d = 3; d >= 1; --d) {
    at += rest % p.dgrid.sizes[d] * p.dgrid.strides[d];
    rest /= p.dgrid.sizes[d];
  }
  for (int d = 0; d < p.how.dims; ++d) to[at + d * p.dgrid.strides[4]] = sums[d];
}

// Channel c of image n is number n channels + c.
template <class T>
LIBDL_DEVICE void gradient_of_channel(const GridSample& p, int64_t number) {
  const int64_t n = number / p.out.sizes[1], c = number % p.out.sizes[1];
  T* const din = static_cast<T*>(p.din.data) + n * p.din.strides[0] + c * p.din.strides[1];
  const T* const dy =
      static_cast<const T*>(p.out.data) + n * p.out.strides[0] + c * p.out.strides[1];
  const int64_t pixels = p.din.sizes[2] * p.din.sizes[3] * p.din.sizes[4];
  for (int64_t i = 0; i < pixels; ++i) din[offset_of(p.din.sizes + 2, p.din.strides + 2, 3, i)] = 0;
  const int64_t positions = p.out.sizes[2] * p.out.sizes[3] * p.out.sizes[4];
  for (int64_t i = 0; i < positions; ++i) {
    const OutputPosition<T> position(p, n * positions + i);
    const T g = dy[position.out];
    position.each_tap(p, p.din.strides, [&](int64_t at, T w, const int*) {
      if (at >= 0) din[at] += w * g;
    });
  }
}

#define LIBDL_GRID_SAMPLE(name, work)                                    \
  LIBDL_KERNEL(name, GridSample) {                                       \
    for (int64_t i = first_element(); i < p.count; i += all_threads()) { \
      if (p.dtype == LIBDL_DTYPE_FLOAT64) {                              \
        work<double>(p, i);                                              \
      } else {                                                           \
        work<float>(p, i);                                               \
      }                                                                  \
    }                                                                    \
  }
LIBDL_GRID_SAMPLE(grid_sample_positions, sample_position)
LIBDL_GRID_SAMPLE(grid_sample_grid_gradient, gradient_of_position)
LIBDL_GRID_SAMPLE(grid_sample_image_gradient, gradient_of_channel)
#undef LIBDL_GRID_SAMPLE

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

static Volume volume_of(const View& view) {
  Volume v{view.data, {}, {}};
  if (!view.data) return v;
  for (int d = 0; d < 5; ++d) v.sizes[d] = view.sizes[d], v.strides[d] = view.strides[d];
  return v;
}

static int64_t positions_of(const View& out) {
  return out.sizes[0] * out.sizes[2] * out.sizes[3] * out.sizes[4];
}

void grid_sample(Context& context, const GridSampleArgs& a) {
  if (numel(a.out) == 0) return;
  GridSample p{};
  p.out = volume_of(a.out), p.in = volume_of(a.in), p.grid = volume_of(a.grid);
  p.how = a.how, p.dtype = a.out.dtype;
  p.count = positions_of(a.out);
  launch(context, "grid_sample_positions", grid_for(context, p.count), p);
}

void grid_sample_backward(Context& context, const GridSampleBackwardArgs& a) {
  GridSample p{};
  p.out = volume_of(a.dy), p.in = volume_of(a.in), p.grid = volume_of(a.grid);
  p.din = volume_of(a.din), p.dgrid = volume_of(a.dgrid);
  p.how = a.how, p.dtype = a.dy.dtype;
  if (a.din.data) {
    p.count = a.dy.sizes[0] * a.dy.sizes[1];
    if (p.count > 0) launch(context, "grid_sample_image_gradient", grid_for(context, p.count), p);
  }
  if (a.dgrid.data) {
    p.count = positions_of(a.dy);
    if (p.count > 0) launch(context, "grid_sample_grid_gradient", grid_for(context, p.count), p);
  }
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
