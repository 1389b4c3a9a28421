// SPDX-License-Identifier: Apache-2.0

// One thread per element of what is wanted, which sums over channels and taps, or over pixels. For
// convolutions of few channels (depthwise); others are products of matrices.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct Image {
  const void* data;
  int64_t sizes[5], strides[5];
};

struct Convolution {
  void* out;
  const void* bias;  // or NULL
  int32_t dtype;
  int64_t numel, groups;
  Image x, w, y;
  int64_t bias_stride, stride[3], before[3], dilation[3];
};

}  // namespace

#ifdef LIBDL_KERNELS

// The numbers of an element, of which `numbers` has one for each dimension.
LIBDL_DEVICE void unravel(int64_t i, const int64_t* sizes, int64_t* numbers) {
  for (int d = 4; d >= 0; --d) numbers[d] = i % sizes[d], i /= sizes[d];
}

template <class T, class Sum>
LIBDL_DEVICE Sum value(const Image& image, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  const T* const data = static_cast<const T*>(image.data);
  return convert_value<Sum>(
      data[a * image.strides[0] + b * image.strides[1] + c * image.strides[2] +
           d * image.strides[3] + e * image.strides[4]]);
}

LIBDL_DEVICE int64_t position(const Image& image, const int64_t* at) {
  int64_t offset = 0;
  for (int d = 0; d < 5; ++d) offset += at[d] * image.strides[d];
  return offset;
}

LIBDL_DEVICE bool inside(const Convolution& p, const int64_t* at) {
  for (int d = 0; d < 3; ++d)
    if (at[d] < 0 || at[d] >= p.x.sizes[d + 2]) return false;
  return true;
}

// f(t) for every tap of the window.
template <class F>
LIBDL_DEVICE void each_tap(const Convolution& p, F f) {
  int64_t t[3];
  for (t[0] = 0; t[0] < p.w.sizes[2]; ++t[0])
    for (t[1] = 0; t[1] < p.w.sizes[3]; ++t[1])
      for (t[2] = 0; t[2] < p.w.sizes[4]; ++t[2]) f(t);
}

template <class T, class Sum>
LIBDL_DEVICE Sum output_at(const Convolution& p, const int64_t* at) {
  const int64_t channels = p.w.sizes[1], group = at[1] / (p.w.sizes[0] / p.groups);
  Sum sum = 0;
  each_tap(p, [&](const int64_t* t) {
    int64_t i[3];
    for (int d = 0; d < 3; ++d) i[d] = at[d + 2] * p.stride[d] - p.before[d] + t[d] * p.dilation[d];
    if (!inside(p, i)) return;
    for (int64_t c = 0; c < channels; ++c)
      sum += value<T, Sum>(p.x, at[0], group * channels + c, i[0], i[1], i[2]) *
             value<T, Sum>(p.w, at[1], c, t[0], t[1], t[2]);
  });
  if (p.bias) sum += convert_value<Sum>(static_cast<const T*>(p.bias)[at[1] * p.bias_stride]);
  return sum;
}

template <class T, class Sum>
LIBDL_DEVICE Sum input_at(const Convolution& p, const int64_t* at) {
  const int64_t channels = p.w.sizes[1], kernels = p.w.sizes[0] / p.groups;
  const int64_t group = at[1] / channels;
  Sum sum = 0;
  each_tap(p, [&](const int64_t* t) {
    int64_t o[3];
    for (int d = 0; d < 3; ++d) {
      const int64_t reached = at[d + 2] + p.before[d] - t[d] * p.dilation[d];
      o[d] = reached / p.stride[d];
      if (reached < 0 || reached % p.stride[d] != 0 || o[d] >= p.y.sizes[d + 2]) return;
    }
    for (int64_t k = group * kernels; k < (group + 1) * kernels; ++k)
      sum += value<T, Sum>(p.y, at[0], k, o[0], o[1], o[2]) *
             value<T, Sum>(p.w, k, at[1] - group * channels, t[0], t[1], t[2]);
  });
  return sum;
}

template <class T, class Sum>
LIBDL_DEVICE Sum weight_at(const Convolution& p, const int64_t* at) {
  const int64_t group = at[0] / (p.w.sizes[0] / p.groups);
  const int64_t channel = group * p.w.sizes[1] + at[1];
  Sum sum = 0;
  int64_t o[3];
  for (int64_t n = 0; n < p.y.sizes[0]; ++n)
    for (o[0] = 0; o[0] < p.y.sizes[2]; ++o[0])
      for (o[1] = 0; o[1] < p.y.sizes[3]; ++o[1])
        for (o[2] = 0; o[2] < p.y.sizes[4]; ++o[2]) {
          int64_t i[3];
          for (int d = 0; d < 3; ++d)
            i[d] = o[d] * p.stride[d] - p.before[d] + at[d + 2] * p.dilation[d];
          if (inside(p, i))
            sum += value<T, Sum>(p.y, n, at[0], o[0], o[1], o[2]) *
                   value<T, Sum>(p.x, n, channel, i[0], i[1], i[2]);
        }
  return sum;
}

// f(T, Sum) where the dtype is a floating one.
template <class F>
LIBDL_DEVICE void with_floating(int32_t dtype, F f) {
  with_type(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    if constexpr (std::is_same_v<T, double>) {
      f(type, double());
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Half> ||
                         std::is_same_v<T, Bfloat>) {
      f(type, float());
    }
  });
}

#define LIBDL_CONVOLUTION(name, image, element)                                                   \
  LIBDL_KERNEL(name, Convolution) {                                                               \
    for (int64_t i = first_element(); i < p.numel; i += all_threads()) {                          \
      int64_t at[5];                                                                              \
      unravel(i, p.image.sizes, at);                                                              \
      with_floating(p.dtype, [&](auto* type, auto sum) {                                          \
        using T = std::remove_pointer_t<decltype(type)>;                                          \
        using Sum = decltype(sum);                                                                \
        static_cast<T*>(p.out)[position(p.image, at)] = convert_value<T>(element<T, Sum>(p, at)); \
      });                                                                                         \
    }                                                                                             \
  }
LIBDL_CONVOLUTION(convolution_output, y, output_at)
LIBDL_CONVOLUTION(convolution_input, x, input_at)
LIBDL_CONVOLUTION(convolution_weight, w, weight_at)
#undef LIBDL_CONVOLUTION

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

static Image image_of(const View& view) {
  Image image{view.data, {}, {}};
  for (int d = 0; d < 5; ++d) image.sizes[d] = view.sizes[d], image.strides[d] = view.strides[d];
  return image;
}

void convolution(Context& context, const ConvolutionArgs& a) {
  const bool weight = a.computed == ConvolutionArgs::kWeight;
  if (weight && a.bias.data)
    return refuse(context, "convolution: the bias has a kernel of its own");
  const View& out = a.computed == ConvolutionArgs::kInput ? a.x : weight ? a.w : a.y;
  Convolution p{};
  p.out = out.data;
  p.bias = a.bias.data;
  p.bias_stride = a.bias.data ? a.bias.strides[0] : 0;
  p.dtype = out.dtype;
  p.numel = numel(out);
  if (p.numel == 0) return;
  p.groups = a.groups;
  p.x = image_of(a.x), p.w = image_of(a.w), p.y = image_of(a.y);
  for (int d = 0; d < 3; ++d)
    p.stride[d] = a.stride[d], p.before[d] = a.before[d], p.dilation[d] = a.dilation[d];
  const char* const name = a.computed == ConvolutionArgs::kInput ? "convolution_input"
                           : weight                              ? "convolution_weight"
                                                                 : "convolution_output";
  launch(context, name, grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
