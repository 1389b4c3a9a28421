// SPDX-License-Identifier: Apache-2.0

// One thread per window; neighbouring threads take windows that are adjacent in memory.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct MaxPool2d {
  void* out;
  int64_t* indices;  // or NULL
  const void* in;
  int32_t dtype;
  bool deep;               // channels innermost
  int64_t numel, c, h, w;  // of out
  int64_t size[2];         // the input's height and width
  int64_t window[2], stride[2], padding[2], dilation[2];
  int64_t out_step[4], index_step[4], in_step[4];
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T>
LIBDL_DEVICE auto comparable(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    return convert_value<float>(x);
  } else {
    return x;
  }
}

// The first position at or after `start` that is inside the input.
LIBDL_DEVICE int64_t first_inside(int64_t start, int64_t step) {
  return start < 0 ? start + (-start + step - 1) / step * step : start;
}
LIBDL_DEVICE int64_t end_inside(int64_t start, int64_t reach, int64_t size) {
  return start + reach < size ? start + reach : size;
}

template <class T>
LIBDL_DEVICE void pool_window(const MaxPool2d& p, int64_t b, int64_t c, int64_t y, int64_t x) {
  const T* const plane = static_cast<const T*>(p.in) + b * p.in_step[0] + c * p.in_step[1];
  const int64_t top = y * p.stride[0] - p.padding[0], left = x * p.stride[1] - p.padding[1];
  const int64_t y0 = first_inside(top, p.dilation[0]), x0 = first_inside(left, p.dilation[1]);
  const int64_t y1 = end_inside(top, p.window[0] * p.dilation[0], p.size[0]);
  const int64_t x1 = end_inside(left, p.window[1] * p.dilation[1], p.size[1]);
  T largest = plane[y0 * p.in_step[2] + x0 * p.in_step[3]];
  int64_t at = y0 * p.size[1] + x0;
  for (int64_t i = y0; i < y1; i += p.dilation[0]) {
    for (int64_t j = x0; j < x1; j += p.dilation[1]) {
      const T value = plane[i * p.in_step[2] + j * p.in_step[3]];
      const auto own = comparable(value);
      if (own > comparable(largest) || own != own) largest = value, at = i * p.size[1] + j;
    }
  }
  const auto place = [&](const int64_t* step) {
    return b * step[0] + c * step[1] + y * step[2] + x * step[3];
  };
  static_cast<T*>(p.out)[place(p.out_step)] = largest;
  if (p.indices) p.indices[place(p.index_step)] = at;
}

LIBDL_KERNEL(max_pool2d_windows, MaxPool2d) {
  for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
    int64_t rest = i, c = 0;
    if (p.deep) c = rest % p.c, rest /= p.c;
    const int64_t x = rest % p.w;
    rest /= p.w;
    const int64_t y = rest % p.h;
    rest /= p.h;
    if (!p.deep) c = rest % p.c, rest /= p.c;
    with_type(p.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      if constexpr (!std::is_same_v<T, Bool> && !std::is_same_v<T, Complex64> &&
                    !std::is_same_v<T, Complex>)
        pool_window<T>(p, rest, c, y, x);
    });
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void max_pool2d(Context& context, const MaxPool2dArgs& a) {
  MaxPool2d p{};
  p.out = a.out.data;
  p.indices = static_cast<int64_t*>(a.indices.data);
  p.in = a.in.data;
  p.dtype = a.in.dtype;
  p.deep = a.in.strides[1] == 1 && a.in.strides[3] != 1;
  p.numel = numel(a.out);
  if (p.numel == 0) return;
  p.c = a.out.sizes[1], p.h = a.out.sizes[2], p.w = a.out.sizes[3];
  for (int k = 0; k < 2; ++k) {
    p.size[k] = a.in.sizes[2 + k];
    p.window[k] = a.window[k], p.stride[k] = a.stride[k];
    p.padding[k] = a.padding[k], p.dilation[k] = a.dilation[k];
  }
  for (int d = 0; d < 4; ++d) {
    p.out_step[d] = a.out.strides[d], p.in_step[d] = a.in.strides[d];
    p.index_step[d] = a.indices.data ? a.indices.strides[d] : 0;
  }
  launch(context, "max_pool2d_windows", grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
