// SPDX-License-Identifier: Apache-2.0

// Normalisation of channels, with the CPU's sums: runs of pixels in the compute type, which are
// then merged in double, in order. A thread has a run of one channel.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

constexpr int64_t kRun = kBatchNormRun;

struct Image {
  void* data;
  int64_t strides[5];  // of n, c, d, h, w
};

// What all of the kernels are given; each uses a part.
struct BatchNorm {
  int32_t dtype;  // of the images
  int64_t sizes[5];
  int64_t numel, channels, pixels, runs;
  Image in, out, dy;
  void *mean, *rstd, *variance, *weight, *bias, *dweight, *dbias;
  double* parts;  // [runs, 2, c]
  double* sums;   // [2, c]
  double eps;
  bool trained;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class E>
LIBDL_DEVICE E* element(const Image& image, const int64_t* at) {
  int64_t offset = 0;
  for (int d = 0; d < 5; ++d) offset += at[d] * image.strides[d];
  return static_cast<E*>(image.data) + offset;
}

// The position of a pixel's channel, of pixels counted through n, d, h and w.
LIBDL_DEVICE void position(const BatchNorm& p, int64_t pixel, int64_t channel, int64_t* at) {
  at[1] = channel;
  for (int d = 4; d > 1; --d) at[d] = pixel % p.sizes[d], pixel /= p.sizes[d];
  at[0] = pixel;
}

// f(E*, T()) with the images' element type and the type of computation.
template <class F>
LIBDL_DEVICE void with_types(int32_t dtype, F f) {
  with_type(dtype, [&](auto* type) {
    using E = std::remove_pointer_t<decltype(type)>;
    if constexpr (std::is_same_v<E, double>) {
      f(type, double());
    } else if constexpr (std::is_same_v<E, float> || std::is_same_v<E, Half> ||
                         std::is_same_v<E, Bfloat>) {
      f(type, float());
    }
  });
}

// f(run, channel, first pixel, last pixel) for each thread's run.
template <class F>
LIBDL_DEVICE void each_run(const BatchNorm& p, F f) {
  for (int64_t i = first_element(); i < p.runs * p.channels; i += all_threads()) {
    const int64_t run = i / p.channels, first = run * kRun;
    f(run, i % p.channels, first, first + kRun < p.pixels ? first + kRun : p.pixels);
  }
}

LIBDL_KERNEL(batch_statistics_runs, BatchNorm) {
  with_types(p.dtype, [&](auto* type, auto zero) {
    using E = std::remove_pointer_t<decltype(type)>;
    using T = decltype(zero);
    each_run(p, [&](int64_t run, int64_t c, int64_t first, int64_t last) {
      int64_t at[5];
      T sum = 0, distances = 0, squares = 0;
      for (int64_t i = first; i < last; ++i) {
        position(p, i, c, at);
        sum = sum + convert_value<T>(*element<E>(p.in, at));
      }
      const T centre = sum / static_cast<T>(last - first);
      for (int64_t i = first; i < last; ++i) {
        position(p, i, c, at);
        const T away = convert_value<T>(*element<E>(p.in, at)) - centre;
        distances = distances + away;
        squares = squares + away * away;
      }
      const auto n = static_cast<double>(last - first), rest = static_cast<double>(distances);
      p.parts[run * 2 * p.channels + c] = static_cast<double>(centre) + rest / n;
      p.parts[(run * 2 + 1) * p.channels + c] = static_cast<double>(squares) - rest * rest / n;
    });
  });
}

// By Chan's formula.
LIBDL_KERNEL(batch_statistics_merge, BatchNorm) {
  with_types(p.dtype, [&](auto*, auto zero) {
    using T = decltype(zero);
    for (int64_t c = first_element(); c < p.channels; c += all_threads()) {
      double mean = p.parts[c], squares = p.parts[p.channels + c];
      for (int64_t run = 1; run < p.runs; ++run) {
        const auto before = static_cast<double>(run * kRun);
        const int64_t rest = p.pixels - run * kRun;
        const auto added = static_cast<double>(rest < kRun ? rest : kRun);
        const double share = added / (before + added), factor = before * share;
        const double away = p.parts[run * 2 * p.channels + c] - mean;
        mean += away * share;
        squares += p.parts[(run * 2 + 1) * p.channels + c] + away * away * factor;
      }
      const auto n = static_cast<double>(p.pixels);
      static_cast<T*>(p.mean)[c] = static_cast<T>(mean);
      static_cast<T*>(p.variance)[c] = static_cast<T>(squares / (n - 1));
      static_cast<T*>(p.rstd)[c] = static_cast<T>(1 / sqrt(squares / n + p.eps));
    }
  });
}

LIBDL_KERNEL(batch_norm_forward, BatchNorm) {
  with_types(p.dtype, [&](auto* type, auto zero) {
    using E = std::remove_pointer_t<decltype(type)>;
    using T = decltype(zero);
    for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
      int64_t at[5];
      const int64_t c = i % p.channels;
      position(p, i / p.channels, c, at);
      T scale = static_cast<const T*>(p.rstd)[c];
      if (p.weight) scale = scale * static_cast<const T*>(p.weight)[c];
      const T shift = p.bias ? static_cast<const T*>(p.bias)[c] : T(0);
      const T away = convert_value<T>(*element<E>(p.in, at)) - static_cast<const T*>(p.mean)[c];
      *element<E>(p.out, at) = convert_value<E>(away * scale + shift);
    }
  });
}

LIBDL_KERNEL(batch_norm_runs, BatchNorm) {
  with_types(p.dtype, [&](auto* type, auto zero) {
    using E = std::remove_pointer_t<decltype(type)>;
    using T = decltype(zero);
    each_run(p, [&](int64_t run, int64_t c, int64_t first, int64_t last) {
      const T mean = static_cast<const T*>(p.mean)[c];
      T sum = 0, products = 0;
      for (int64_t i = first; i < last; ++i) {
        int64_t at[5];
        position(p, i, c, at);
        const T g = convert_value<T>(*element<E>(p.dy, at));
        sum = sum + g;
        products = products + g * (convert_value<T>(*element<E>(p.in, at)) - mean);
      }
      p.parts[run * 2 * p.channels + c] = static_cast<double>(sum);
      p.parts[(run * 2 + 1) * p.channels + c] = static_cast<double>(products);
    });
  });
}

LIBDL_KERNEL(batch_norm_sums, BatchNorm) {
  with_types(p.dtype, [&](auto*, auto zero) {
    using T = decltype(zero);
    for (int64_t c = first_element(); c < p.channels; c += all_threads()) {
      double sum = 0, products = 0;
      for (int64_t run = 0; run < p.runs; ++run) {
        sum += p.parts[run * 2 * p.channels + c];
        products += p.parts[(run * 2 + 1) * p.channels + c];
      }
      p.sums[c] = sum, p.sums[p.channels + c] = products;
      const auto rstd = static_cast<double>(static_cast<const T*>(p.rstd)[c]);
      if (p.dweight) static_cast<T*>(p.dweight)[c] = static_cast<T>(products * rstd);
      if (p.dbias) static_cast<T*>(p.dbias)[c] = static_cast<T>(sum);
    }
  });
}

LIBDL_KERNEL(batch_norm_input, BatchNorm) {
  with_types(p.dtype, [&](auto* type, auto zero) {
    using E = std::remove_pointer_t<decltype(type)>;
    using T = decltype(zero);
    const auto n = static_cast<double>(p.pixels);
    for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
      int64_t at[5];
      const int64_t c = i % p.channels;
      position(p, i / p.channels, c, at);
      const T rstd = static_cast<const T*>(p.rstd)[c];
      const T scale = p.weight ? rstd * static_cast<const T*>(p.weight)[c] : rstd;
      T g = convert_value<T>(*element<E>(p.dy, at));
      if (p.trained) {
        const auto wide = static_cast<double>(rstd);
        const T first = static_cast<T>(p.sums[c] / n);
        const T second = static_cast<T>(p.sums[p.channels + c] / n * wide * wide);
        const T away = convert_value<T>(*element<E>(p.in, at)) - static_cast<const T*>(p.mean)[c];
        g = g - first - away * second;
      }
      *element<E>(p.out, at) = convert_value<E>(g * scale);
    }
  });
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

static Image image_of(const View& view) {
  Image image{view.data, {}};
  for (int d = 0; d < 5 && view.data; ++d) image.strides[d] = view.strides[d];
  return image;
}

static BatchNorm plan_of(const View& in) {
  BatchNorm p{};
  p.dtype = in.dtype;
  for (int d = 0; d < 5; ++d) p.sizes[d] = in.sizes[d];
  p.numel = numel(in);
  p.channels = in.sizes[1];
  p.pixels = p.numel / p.channels;
  p.runs = (p.pixels + kRun - 1) / kRun;
  p.in = image_of(in);
  return p;
}

void batch_statistics(Context& context, const BatchStatisticsArgs& a) {
  BatchNorm p = plan_of(a.in);
  const Scratch parts(context, p.runs * 2 * p.channels * int64_t{sizeof(double)});
  if (parts.failed()) return;
  p.parts = static_cast<double*>(parts.data());
  p.mean = a.mean.data, p.rstd = a.rstd.data, p.variance = a.variance.data;
  p.eps = a.eps;
  launch(context, "batch_statistics_runs", grid_for(context, p.runs * p.channels), p);
  launch(context, "batch_statistics_merge", grid_for(context, p.channels), p);
}

void batch_norm(Context& context, const BatchNormArgs& a) {
  BatchNorm p = plan_of(a.in);
  p.out = image_of(a.out);
  p.mean = a.mean.data, p.rstd = a.rstd.data;
  p.weight = a.weight.data, p.bias = a.bias.data;
  launch(context, "batch_norm_forward", grid_for(context, p.numel), p);
}

void batch_norm_backward(Context& context, const BatchNormBackwardArgs& a) {
  BatchNorm p = plan_of(a.in);
  const Scratch scratch(context, (p.runs + 1) * 2 * p.channels * int64_t{sizeof(double)});
  if (scratch.failed()) return;
  p.parts = static_cast<double*>(scratch.data());
  p.sums = p.parts + p.runs * 2 * p.channels;
  p.dy = image_of(a.dy), p.out = image_of(a.dx);
  p.mean = a.mean.data, p.rstd = a.rstd.data, p.weight = a.weight.data;
  p.dweight = a.dweight.data, p.dbias = a.dbias.data;
  p.trained = a.trained;
  if (a.trained || a.dweight.data || a.dbias.data) {
    launch(context, "batch_norm_runs", grid_for(context, p.runs * p.channels), p);
    launch(context, "batch_norm_sums", grid_for(context, p.channels), p);
  }
  if (a.dx.data) launch(context, "batch_norm_input", grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
