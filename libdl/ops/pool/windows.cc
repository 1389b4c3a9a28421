// SPDX-License-Identifier: Apache-2.0

#include "ops/pool/windows.h"

#include <algorithm>

namespace libdl {

using kernels::PoolWindows;

// -- the input ------------------------------------------------------------------------------------

void check_image(const Pooled& a, MayBeEmpty what) {
  static constexpr const char* kShapes[] = {"[n, c, l] or [c, l]", "[n, c, h, w] or [c, h, w]",
                                            "[n, c, d, h, w] or [c, d, h, w]"};
  static constexpr const char* kWhich[] = {"only n", "only the first", "only n and c"};
  const int n = a.input.ndim();
  bool good = n == a.dims + 1 || n == a.dims + 2;
  const bool channels =
      what == MayBeEmpty::kBatchAndChannels || (what == MayBeEmpty::kFirst && n == a.dims + 1);
  for (int d = n - a.dims - (channels ? 0 : 1); good && d < n; ++d) good = a.input.size(d) > 0;
  if (!good)
    a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
          std::string(kShapes[a.dims - 1]) + ", of which " + kWhich[static_cast<int>(what)] +
              " may be 0");
}

void check_real(const Pooled& a) {
  if (a.input.is_complex() || a.input.dtype() == Dtype::kBool)
    a.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(a.input.dtype()),
          "a real dtype that is not bool");
}

void check_floating(const Pooled& a) {
  if (!is_floating(a.input.dtype()))
    a.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(a.input.dtype()),
          "a floating dtype");
}

// The sizes behind the channels, as the last of three; the others are 1.
static Three image_sizes(const Pooled& a) {
  Three sizes{1, 1, 1};
  for (int d = 0; d < a.dims; ++d)
    sizes[static_cast<size_t>(d + 3 - a.dims)] = a.input.size(a.input.ndim() - a.dims + d);
  return sizes;
}

// The input's dimension that is number k of three.
static std::string dimension(const Pooled& a, size_t k) {
  return std::to_string(a.input.ndim() - 3 + static_cast<int>(k));
}

// -- windows --------------------------------------------------------------------------------------

// The last window begins inside of the input or of the padding before it.
static int64_t count_of(int64_t size, int64_t reach, int64_t stride, int64_t padding, bool ceil) {
  const int64_t free = size + 2 * padding - reach + (ceil ? stride - 1 : 0);
  if (free < 0) return 0;
  const int64_t n = free / stride + 1;
  return ceil && (n - 1) * stride >= size + padding ? n - 1 : n;
}

PoolWindows windows_of(const Pooled& a, const WindowOptions& g) {
  const auto numbers = [&](const char* name, std::optional<Dims> values, int64_t otherwise,
                           int64_t least) {
    if (!values) return Three{otherwise, otherwise, otherwise};
    return each_dimension(a.op, name, *values, a.dims, otherwise, least);
  };
  const Three window = numbers("kernel_size", g.kernel_size, 1, 1);
  const bool steps = g.stride && !g.stride->empty();
  const Three stride = steps ? numbers("stride", g.stride, 1, 1) : window;
  const Three padding = numbers("padding", g.padding, 0, 0);
  const Three dilation = numbers("dilation", g.dilation, 1, 1);
  const Three image = image_sizes(a);
  PoolWindows w{};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = dilation[d] * (window[d] - 1) + 1;
    if (padding[d] > window[d] / 2)
      a.bad(LIBDL_ERROR_VALUE, "padding", "is " + std::to_string(padding[d]),
            "at most half of kernel_size, which is " + std::to_string(window[d]));
    w.in[d] = image[d], w.window[d] = window[d], w.stride[d] = stride[d];
    w.padding[d] = padding[d], w.dilation[d] = dilation[d];
    w.out[d] = count_of(image[d], reach, stride[d], padding[d], g.ceil_mode);
    if (w.out[d] < 1)
      a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
            "room for a window that reaches over " + std::to_string(reach) + " in dimension " +
                dimension(a, d));
  }
  return w;
}

// Whether some window steps over all of a dimension: it begins in the padding, and its first
// element at or behind 0 lies behind the last one. At most as many steps as there are windows.
static bool steps_over(const PoolWindows& w, size_t d) {
  const int64_t dilation = w.dilation[d], padding = w.padding[d];
  if (w.in[d] >= dilation) return false;
  for (int64_t o = 0; o < w.out[d] && o * w.stride[d] < padding; ++o) {
    const int64_t missed = (padding - o * w.stride[d]) % dilation;
    if (missed != 0 && dilation - missed >= w.in[d]) return true;
  }
  return false;
}

void check_dilation(const Pooled& a, const PoolWindows& w) {
  if (a.input.numel() == 0) return;
  for (size_t d = 0; d < 3; ++d)
    if (steps_over(w, d))
      a.bad(LIBDL_ERROR_VALUE, "dilation", "is " + std::to_string(w.dilation[d]),
            "one with which every window has an element of dimension " + dimension(a, d) +
                ", of size " + std::to_string(w.in[d]));
}

PoolWindows adaptive_windows(const Pooled& a, Dims output_size) {
  const Three out = each_dimension(a.op, "output_size", output_size, a.dims, 1, 0);
  const Three in = image_sizes(a);
  PoolWindows w{};
  w.adaptive = true;
  for (size_t d = 0; d < 3; ++d) {
    w.in[d] = in[d], w.out[d] = out[d];
    if (in[d] > (int64_t{1} << 30) && out[d] > INT64_MAX / 2 / in[d])  // windows are their products
      a.bad(LIBDL_ERROR_VALUE, "output_size", "is " + to_string(output_size),
            "less than 2^62 divided by the input's size, " + std::to_string(in[d]));
  }
  return w;
}

// -- images ---------------------------------------------------------------------------------------

Tensor with_batch(const Tensor& x, int dims) {
  if (x.ndim() == dims + 2) return x;
  Shape sizes{1}, strides{x.numel()};
  for (int d = 0; d < x.ndim(); ++d) sizes.push_back(x.size(d)), strides.push_back(x.stride(d));
  return alias(x, sizes, strides, x.offset(), x.dtype());
}

Tensor without_batch(const Tensor& y) {
  return alias(y, y.shape().subspan(1), y.strides().subspan(1), y.offset(), y.dtype());
}

Shape pooled_shape(const Tensor& batch, int dims, const int64_t (&sizes)[3]) {
  Shape shape{batch.size(0), batch.size(1)};
  for (int d = 3 - dims; d < 3; ++d) shape.push_back(sizes[d]);
  return shape;
}

Order order_of(const Innermost& x) {
  const Tensor& t = x.tensor();
  const int64_t c = t.size(1);
  if (c == 1 || t.numel() == t.size(0) * c || x.view().strides[1] != 1) return Order::kRowMajor;
  if (t.stride(1) != 1) return Order::kForm;
  return t.stride(t.ndim() - 1) < c ? Order::kRowMajor : Order::kStrided;
}

Innermost new_image(Dims shape, Dtype dtype, Device device, Order order) {
  if (order == Order::kForm && !std::ranges::count(shape, 0))
    return Innermost(shape, dtype, device);
  Tensor y = empty(shape, dtype, device);
  if (order == Order::kStrided) y = alias(y, shape, channels_innermost(shape), y.offset(), dtype);
  return Innermost(y, Innermost::Order::kWritten);
}

}  // namespace libdl
