// SPDX-License-Identifier: Apache-2.0

// One thread per window, and in backward per element of the image.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/pool.h"

namespace libdl::kernels::cuda {

namespace {

struct MaxPool {
  PoolImage out, indices, in;  // indices.data: or NULL
  PoolWindows windows;
  int64_t numel;  // of out
  bool deep;
};
struct MaxPoolBackward {
  PoolImage dx, dy, indices;
  PoolWindows windows;
  int64_t numel;  // of dx
  bool deep;
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

template <class T>
LIBDL_DEVICE void pool_window(const MaxPool& p, const int64_t* at) {
  const PoolWindows& w = p.windows;
  const PoolRange i = pool_positions(w, 0, at[2]), j = pool_positions(w, 1, at[3]),
                  k = pool_positions(w, 2, at[4]);
  const int64_t down = pool_step(w, 0), across = pool_step(w, 1), right = pool_step(w, 2);
  const T* const in = static_cast<const T*>(p.in.data);
  T largest = in[pool_offset_of(p.in, at, i.begin, j.begin, k.begin)];
  int64_t taken = pool_position(w, i.begin, j.begin, k.begin);
  for (int64_t a = i.begin; a < i.end; a += down)
    for (int64_t b = j.begin; b < j.end; b += across)
      for (int64_t c = k.begin; c < k.end; c += right) {
        const T value = in[pool_offset_of(p.in, at, a, b, c)];
        const auto own = comparable(value);
        if (own > comparable(largest) || own != own)
          largest = value, taken = pool_position(w, a, b, c);
      }
  static_cast<T*>(p.out.data)[pool_offset_of(p.out, at)] = largest;
  if (!p.indices.data) return;
  const int64_t position = pool_offset_of(p.indices, at);
  if (p.indices.dtype == LIBDL_DTYPE_INT32)
    static_cast<int32_t*>(p.indices.data)[position] = static_cast<int32_t>(taken);
  else
    static_cast<int64_t*>(p.indices.data)[position] = taken;
}

LIBDL_KERNEL(max_pool_windows, MaxPool) {
  for (int64_t n = first_element(); n < p.numel; n += all_threads()) {
    int64_t at[5];
    pool_element(p.out, p.deep, n, at);
    with_type(p.in.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      if constexpr (!std::is_same_v<T, Bool> && !std::is_same_v<T, Complex64> &&
                    !std::is_same_v<T, Complex>)
        pool_window<T>(p, at);
    });
  }
}

// The sum over the windows around an element that took it.
template <class E, class T, class I>
LIBDL_DEVICE void collect(const MaxPoolBackward& p, const int64_t* at, const I* indices) {
  const PoolWindows& w = p.windows;
  const PoolRange i = pool_windows_over(w, 0, at[2]), j = pool_windows_over(w, 1, at[3]),
                  k = pool_windows_over(w, 2, at[4]);
  const int64_t here = pool_position(w, at[2], at[3], at[4]);
  T sum = 0;
  for (int64_t a = i.begin; a < i.end; ++a)
    for (int64_t b = j.begin; b < j.end; ++b)
      for (int64_t c = k.begin; c < k.end; ++c)
        if (indices[pool_offset_of(p.indices, at, a, b, c)] == here)
          sum = sum + convert_value<T>(
                          static_cast<const E*>(p.dy.data)[pool_offset_of(p.dy, at, a, b, c)]);
  static_cast<E*>(p.dx.data)[pool_offset_of(p.dx, at)] = convert_value<E>(sum);
}

LIBDL_KERNEL(max_pool_collect, MaxPoolBackward) {
  for (int64_t n = first_element(); n < p.numel; n += all_threads()) {
    int64_t at[5];
    pool_element(p.dx, p.deep, n, at);
    with_type(p.dx.dtype, [&](auto* type) {
      using E = std::remove_pointer_t<decltype(type)>;
      if constexpr (std::is_same_v<E, double> || std::is_same_v<E, float> ||
                    std::is_same_v<E, Half> || std::is_same_v<E, Bfloat>) {
        using T = std::conditional_t<std::is_same_v<E, double>, double, float>;
        if (p.indices.dtype == LIBDL_DTYPE_INT32)
          collect<E, T>(p, at, static_cast<const int32_t*>(p.indices.data));
        else
          collect<E, T>(p, at, static_cast<const int64_t*>(p.indices.data));
      }
    });
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void max_pool(Context& context, const MaxPoolArgs& a) {
  const MaxPool p{pool_image(a.out), pool_image(a.indices), pool_image(a.in),
                  a.windows,         numel(a.out),          is_deep(a.in)};
  launch(context, "max_pool_windows", grid_for(context, p.numel), p);
}

void max_pool_backward(Context& context, const MaxPoolBackwardArgs& a) {
  const MaxPoolBackward p{pool_image(a.dx), pool_image(a.dy), pool_image(a.indices),
                          a.windows,        numel(a.dx),      is_deep(a.dx)};
  launch(context, "max_pool_collect", grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
