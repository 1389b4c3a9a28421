// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/max_pool2d.h"

#include "ops/core/launch.h"
#include "ops/creation/copy.h"
#include "ops/indexing/gather.h"
#include "ops/view/view.h"

namespace libdl {

namespace {
using Pair = std::array<int64_t, 2>;  // height, width

struct Pooling {
  Pair window, stride, padding, dilation, size;  // size: of the output
};
struct PoolAttr {
  Shape shape;  // of the input
};
struct Pooled {
  Tensor values, indices;
};
}  // namespace

// -- what is asked for ----------------------------------------------------------------------------

// One number stands for both. All four times a size stay far below 2^63.
static Pair pair_of(const Call& call, int argument, const char* name, Dims given, int64_t least) {
  if (given.size() != 1 && given.size() != 2)
    call.bad(LIBDL_ERROR_VALUE, argument, name, "has " + std::to_string(given.size()) + " entries",
             "one or two");
  for (const int64_t x : given)
    if (x < least || x > INT32_MAX)
      call.bad(LIBDL_ERROR_VALUE, argument, name, "is " + to_string(given),
               std::to_string(least) + " to 2147483647");
  return {given.front(), given.back()};
}

// The last window begins inside of the input or of the padding before it.
static int64_t windows(int64_t size, int64_t reach, int64_t stride, int64_t padding, bool ceil) {
  const int64_t room = size + 2 * padding - reach + (ceil ? stride - 1 : 0);
  if (room < 0) return 0;
  const int64_t n = room / stride + 1;
  return ceil && (n - 1) * stride >= size + padding ? n - 1 : n;
}

// Whether some window steps over all of a dimension: it begins in the padding, and its first
// element at or behind 0 lies behind the last one. At most as many steps as there are windows.
static bool steps_over(int64_t size, int64_t stride, int64_t padding, int64_t dilation, int64_t n) {
  if (size >= dilation) return false;
  for (int64_t o = 0; o < n && o * stride < padding; ++o) {
    const int64_t missed = (padding - o * stride) % dilation;
    if (missed != 0 && dilation - missed >= size) return true;
  }
  return false;
}

static Pooling pooling_of(const Call& call, const Tensor& input, Dims kernel_size,
                          std::optional<Dims> stride, std::optional<Dims> padding,
                          std::optional<Dims> dilation, bool ceil_mode) {
  static constexpr int64_t kNone[] = {0}, kOne[] = {1};
  if (input.is_complex() || input.dtype() == Dtype::kBool)
    call.bad(LIBDL_ERROR_DTYPE, 1, "input", std::string("is ") + name_of(input.dtype()),
             "a real dtype that is not bool");
  Pooling p{};
  p.window = pair_of(call, 2, "kernel_size", kernel_size, 1);
  p.stride = stride && !stride->empty() ? pair_of(call, 3, "stride", *stride, 1) : p.window;
  p.padding = pair_of(call, 4, "padding", padding.value_or(Dims(kNone)), 0);
  p.dilation = pair_of(call, 5, "dilation", dilation.value_or(Dims(kOne)), 1);
  const int n = input.ndim();
  bool good = n == 3 || n == 4;
  for (int d = n - 3; good && d < n; ++d) good = input.size(d) > 0;
  if (!good)
    call.bad(LIBDL_ERROR_SHAPE, 1, "input", "has shape " + to_string(input.shape()),
             "[n, c, h, w] or [c, h, w], of which only n may be 0");
  for (int k = 0; k < 2; ++k) {
    const int64_t reach = p.dilation[k] * (p.window[k] - 1) + 1;
    if (p.padding[k] > p.window[k] / 2)
      call.bad(LIBDL_ERROR_VALUE, 4, "padding", "is " + std::to_string(p.padding[k]),
               "at most half of kernel_size, which is " + std::to_string(p.window[k]));
    p.size[k] = windows(input.size(n - 2 + k), reach, p.stride[k], p.padding[k], ceil_mode);
    if (p.size[k] < 1)
      call.bad(LIBDL_ERROR_SHAPE, 1, "input", "has shape " + to_string(input.shape()),
               "room for a window that reaches over " + std::to_string(reach) + " in dimension " +
                   std::to_string(n - 2 + k));
    if (input.numel() > 0 &&
        steps_over(input.size(n - 2 + k), p.stride[k], p.padding[k], p.dilation[k], p.size[k]))
      call.bad(LIBDL_ERROR_VALUE, 5, "dilation", "is " + std::to_string(p.dilation[k]),
               "one with which every window has an element of dimension " +
                   std::to_string(n - 2 + k) + ", of size " +
                   std::to_string(input.size(n - 2 + k)));
  }
  return p;
}

// -- the gradient ---------------------------------------------------------------------------------

// Planes in one dimension, as the indices count.
static Tensor planes(const Tensor& x) { return flatten(x, x.ndim() - 2, x.ndim() - 1); }

// dx is 0 but for the elements that were taken, as often as they were.
static void max_pool2d_vjp(Backward& b) {
  const Shape& shape = b.attr<PoolAttr>().shape;
  const size_t n = shape.size();
  Shape flat(Dims(shape).first(n - 1));
  flat[n - 2] = shape[n - 2] * shape[n - 1];
  const Tensor zero = zeros(flat, b.dy().dtype(), b.dy().device());
  const auto along = static_cast<int32_t>(n) - 2;
  const Tensor where = planes(b.saved(0));
  b.set_grad(0, reshape(scatter_add(zero, along, where, planes(b.dy()), Into(zero)), shape));
}
static const Rule kMaxPool2d{"max_pool2d", max_pool2d_vjp};

// -- forward --------------------------------------------------------------------------------------

// The same elements with a batch of one before them, or without it.
static Tensor batched(const Tensor& x) {
  if (x.ndim() == 4) return x;
  const int64_t sizes[] = {1, x.size(0), x.size(1), x.size(2)};
  const int64_t strides[] = {x.numel(), x.stride(0), x.stride(1), x.stride(2)};
  return alias(x, sizes, strides, x.offset(), x.dtype());
}
static Tensor unbatched(const Tensor& y) {
  return alias(y, y.shape().subspan(1), y.strides().subspan(1), y.offset(), y.dtype());
}

// Channels lie innermost where x's do.
static Tensor empty_beside(const Tensor& x, const Pair& size, Dtype dtype) {
  const int64_t n = x.size(0), c = x.size(1), h = size[0], w = size[1];
  if (c == 1 || x.stride(1) != 1 || x.stride(3) < c)
    return empty(Shape{n, c, h, w}, dtype, x.device());
  const Tensor y = empty(Shape{n, h, w, c}, dtype, x.device());
  const int64_t sizes[] = {n, c, h, w}, strides[] = {h * w * c, 1, w * c, c};
  return alias(y, sizes, strides, 0, dtype);
}

static Pooled pool(const Tensor& input, const Pooling& p, bool wants_indices) {
  const Tensor x = batched(input);
  Pooled y{empty_beside(x, p.size, x.dtype()), Tensor()};
  if (wants_indices) y.indices = empty_beside(x, p.size, Dtype::kInt64);
  if (y.values.numel()) {
    kernels::MaxPool2dArgs args{};
    args.out = overwrites(y.values), args.in = reads(x);
    if (wants_indices) args.indices = overwrites(y.indices);
    for (int k = 0; k < 2; ++k) {
      args.window[k] = p.window[k], args.stride[k] = p.stride[k];
      args.padding[k] = p.padding[k], args.dilation[k] = p.dilation[k];
    }
    launch_max_pool2d(x.device(), args);
  }
  if (input.ndim() == 4) return y;
  return {unbatched(y.values), wants_indices ? unbatched(y.indices) : Tensor()};
}

static Pooled recorded(Call& call, const Tensor& input, const Pooling& p, bool wants_indices) {
  Pooled y = pool(input, p, wants_indices || !call.plain());
  const Tensor where = y.indices;
  if (call.plain()) {
    y.values = call.done(std::move(y.values));
  } else {
    y.values = call.done(std::move(y.values), kMaxPool2d, PoolAttr{Shape(input.shape())},
                         {saves_value(where)});
  }
  if (call.forward())
    call.jvp(y.values, [&] {
      const Tensor& t = call.tangent(0);
      return reshape(gather(planes(t), t.ndim() - 2, planes(where)), y.values.shape());
    });
  return y;
}

Tensor max_pool2d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,
                  std::optional<Dims> padding, std::optional<Dims> dilation, bool ceil_mode) {
  LIBDL_OBSERVED(max_pool2d, input, kernel_size, stride, padding, dilation, ceil_mode);
  Call call("max_pool2d", {}, {&input});
  const Pooling p = pooling_of(call, input, kernel_size, stride, padding, dilation, ceil_mode);
  return recorded(call, input, p, false).values;
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, Dims kernel_size,
                                                   std::optional<Dims> stride,
                                                   std::optional<Dims> padding,
                                                   std::optional<Dims> dilation, bool ceil_mode) {
  LIBDL_OBSERVED(max_pool2d_with_indices, input, kernel_size, stride, padding, dilation, ceil_mode);
  Call call("max_pool2d_with_indices", {}, {&input});
  const Pooling p = pooling_of(call, input, kernel_size, stride, padding, dilation, ceil_mode);
  Pooled y = recorded(call, input, p, true);
  Call second(call.op(), {}, {});
  return {std::move(y.values), second.done(std::move(y.indices))};
}

}  // namespace libdl
