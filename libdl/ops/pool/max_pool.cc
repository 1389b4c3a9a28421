// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "entries/nn.h"
#include "entries/pooling.h"
#include "ops/core/call.h"
#include "ops/pool/taken.h"

namespace libdl {

using kernels::PoolWindows;

// -- of windows -----------------------------------------------------------------------------------

// The largest elements; their positions only if `indices` is their dtype.
static Taken largest(const Pooled& a, const PoolWindows& w, std::optional<Dtype> indices) {
  const Tensor batch = with_batch(a.input, a.dims);
  const Shape shape = pooled_shape(batch, a.dims, w.out);
  const Device device = batch.device();
  Taken y;
  y.windows = w, y.by_windows = true;
  if (batch.numel() == 0 || std::ranges::count(w.out, 0)) {
    y.values = empty(shape, batch.dtype(), device);
    if (indices) y.indices = empty(shape, *indices, device);
    return y;
  }
  const Innermost x(batch, Innermost::Order::kAny);
  y.order = order_of(x);
  const Innermost out = new_image(shape, batch.dtype(), device, y.order);
  y.values = out.tensor();
  if (indices) {
    const Innermost image = new_image(shape, *indices, device, y.order);
    y.indices = image.tensor();
    launch_max_pool(device, {out.view(), image.view(), x.view(), w});
  } else {
    launch_max_pool(device, {out.view(), no_view(), x.view(), w});
  }
  return y;
}

// Positions that only the gradient reads are as narrow as they can be.
static std::optional<Dtype> of_gradient(const Call& call, const PoolWindows& w) {
  if (call.is_unrecorded()) return {};
  const __int128 plane = static_cast<__int128>(w.in[0]) * w.in[1] * w.in[2];
  return plane <= INT32_MAX ? Dtype::kInt32 : Dtype::kInt64;
}

static PoolWindows checked(const Pooled& a, Dims kernel_size, std::optional<Dims> stride,
                           std::optional<Dims> padding, std::optional<Dims> dilation,
                           bool ceil_mode) {
  check_real(a);
  check_image(a);
  const PoolWindows w = windows_of(a, {kernel_size, stride, padding, dilation, ceil_mode});
  check_dilation(a, w);
  return w;
}

#define LIBDL_MAX_POOL(name, dims)                                                                \
  Tensor name##_impl(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,           \
                     std::optional<Dims> padding, std::optional<Dims> dilation, bool ceil_mode) { \
    Call call(#name, {}, {&input});                                                               \
    const Pooled a{#name, dims, input};                                                           \
    const PoolWindows w = checked(a, kernel_size, stride, padding, dilation, ceil_mode);          \
    return recorded(call, a, largest(a, w, of_gradient(call, w)));                                \
  }                                                                                               \
  std::tuple<Tensor, Tensor> name##_with_indices_impl(                                            \
      const Tensor& input, Dims kernel_size, std::optional<Dims> stride,                          \
      std::optional<Dims> padding, std::optional<Dims> dilation, bool ceil_mode) {                \
    Call call(#name "_with_indices", {}, {&input});                                               \
    const Pooled a{#name "_with_indices", dims, input};                                           \
    const PoolWindows w = checked(a, kernel_size, stride, padding, dilation, ceil_mode);          \
    return recorded_with_indices(call, a, largest(a, w, Dtype::kInt64));                          \
  }
LIBDL_MAX_POOL(max_pool1d, 1)
LIBDL_MAX_POOL(max_pool2d, 2)
LIBDL_MAX_POOL(max_pool3d, 3)
#undef LIBDL_MAX_POOL

// -- of windows that divide the input -------------------------------------------------------------

#define LIBDL_ADAPTIVE_MAX_POOL(name, dims)                                       \
  std::tuple<Tensor, Tensor> name##_impl(const Tensor& input, Dims output_size) { \
    Call call(#name, {}, {&input});                                               \
    const Pooled a{#name, dims, input};                                           \
    check_real(a);                                                                \
    check_image(a, MayBeEmpty::kFirst);                                           \
    const PoolWindows w = adaptive_windows(a, output_size);                       \
    return recorded_with_indices(call, a, largest(a, w, Dtype::kInt64));          \
  }
LIBDL_ADAPTIVE_MAX_POOL(adaptive_max_pool1d, 1)
LIBDL_ADAPTIVE_MAX_POOL(adaptive_max_pool2d, 2)
LIBDL_ADAPTIVE_MAX_POOL(adaptive_max_pool3d, 3)
#undef LIBDL_ADAPTIVE_MAX_POOL

}  // namespace libdl
