// SPDX-License-Identifier: Apache-2.0

// One thread per window, and in backward per element of the image.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/pool.h"

namespace libdl::kernels::cuda {

namespace {

// Backward reads dy as `in` and writes dx as `out`.
struct AvgPool {
  PoolImage out, in;
  PoolWindows windows;
  int64_t numel, divisor;  // numel: of out
  bool with_padding, deep;
};

}  // namespace

#ifdef LIBDL_KERNELS

LIBDL_DEVICE int64_t divisor_of(const AvgPool& p, int64_t i, int64_t j, int64_t k) {
  if (p.divisor) return p.divisor;
  const PoolWindows& w = p.windows;
  return pool_counted(w, 0, i, p.with_padding) * pool_counted(w, 1, j, p.with_padding) *
         pool_counted(w, 2, k, p.with_padding);
}

// Sums of integers wrap, and their quotients are rounded towards 0.
template <class T>
LIBDL_DEVICE T quotient(T sum, int64_t divisor) {
  return sum / static_cast<T>(divisor);
}
LIBDL_DEVICE uint64_t quotient(uint64_t sum, int64_t divisor, bool is_signed) {
  if (is_signed && divisor != -1) return static_cast<uint64_t>(static_cast<int64_t>(sum) / divisor);
  const uint64_t size = static_cast<uint64_t>(divisor);
  return divisor < 0 ? -(sum / -size) : sum / size;
}

template <class E>
LIBDL_DEVICE void mean_of(const AvgPool& p, const int64_t* at) {
  constexpr bool kFloats = std::is_same_v<E, double> || std::is_same_v<E, float> ||
                           std::is_same_v<E, Half> || std::is_same_v<E, Bfloat>;
  using T = std::conditional_t<std::is_same_v<E, double>, double,
                               std::conditional_t<kFloats, float, uint64_t>>;
  const PoolWindows& w = p.windows;
  const PoolRange i = pool_positions(w, 0, at[2]), j = pool_positions(w, 1, at[3]),
                  k = pool_positions(w, 2, at[4]);
  T sum = 0;
  for (int64_t a = i.begin; a < i.end; ++a)
    for (int64_t b = j.begin; b < j.end; ++b)
      for (int64_t c = k.begin; c < k.end; ++c) {
        const E x = static_cast<const E*>(p.in.data)[pool_offset_of(p.in, at, a, b, c)];
        if constexpr (kFloats) {
          sum = sum + convert_value<T>(x);
        } else {
          sum += static_cast<T>(x);
        }
      }
  E* const out = static_cast<E*>(p.out.data) + pool_offset_of(p.out, at);
  const int64_t divisor = divisor_of(p, at[2], at[3], at[4]);
  if constexpr (kFloats) {
    *out = convert_value<E>(quotient(sum, divisor));
  } else {
    *out = static_cast<E>(quotient(sum, divisor, !std::is_same_v<E, uint64_t>));
  }
}

LIBDL_KERNEL(avg_pool_means, AvgPool) {
  for (int64_t n = first_element(); n < p.numel; n += all_threads()) {
    int64_t at[5];
    pool_element(p.out, p.deep, n, at);
    with_type(p.in.dtype, [&](auto* type) {
      using E = std::remove_pointer_t<decltype(type)>;
      if constexpr (!std::is_same_v<E, Bool> && !std::is_same_v<E, Complex64> &&
                    !std::is_same_v<E, Complex>)
        mean_of<E>(p, at);
    });
  }
}

LIBDL_KERNEL(avg_pool_spread, AvgPool) {
  for (int64_t n = first_element(); n < p.numel; n += all_threads()) {
    int64_t at[5];
    pool_element(p.out, p.deep, n, at);
    with_type(p.out.dtype, [&](auto* type) {
      using E = std::remove_pointer_t<decltype(type)>;
      if constexpr (std::is_same_v<E, double> || std::is_same_v<E, float> ||
                    std::is_same_v<E, Half> || std::is_same_v<E, Bfloat>) {
        using T = std::conditional_t<std::is_same_v<E, double>, double, float>;
        const PoolWindows& w = p.windows;
        const PoolRange i = pool_windows_over(w, 0, at[2]), j = pool_windows_over(w, 1, at[3]),
                        k = pool_windows_over(w, 2, at[4]);
        T sum = 0;
        for (int64_t a = i.begin; a < i.end; ++a)
          for (int64_t b = j.begin; b < j.end; ++b)
            for (int64_t c = k.begin; c < k.end; ++c)
              sum = sum + convert_value<T>(
                              static_cast<const E*>(p.in.data)[pool_offset_of(p.in, at, a, b, c)]) /
                              static_cast<T>(divisor_of(p, a, b, c));
        static_cast<E*>(p.out.data)[pool_offset_of(p.out, at)] = convert_value<E>(sum);
      }
    });
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void avg_pool(Context& context, const AvgPoolArgs& a) {
  const AvgPool p{pool_image(a.out), pool_image(a.in),    a.windows,    numel(a.out),
                  a.divisor,         a.count_include_pad, is_deep(a.in)};
  launch(context, "avg_pool_means", grid_for(context, p.numel), p);
}

void avg_pool_backward(Context& context, const AvgPoolBackwardArgs& a) {
  const AvgPool p{pool_image(a.dx), pool_image(a.dy),    a.windows,    numel(a.dx),
                  a.divisor,        a.count_include_pad, is_deep(a.dx)};
  launch(context, "avg_pool_spread", grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
