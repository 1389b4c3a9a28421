// SPDX-License-Identifier: Apache-2.0

// Windows of images as columns, and their sums.

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/image.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/image/linear_map.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

using Pair = std::array<int64_t, 2>;  // height, width

struct Windows {
  const char* op;
  const char* backward;
  int64_t n = 0, c = 0;
  Pair size{}, window{}, dilation{1, 1}, padding{}, stride{1, 1}, count{};

  Shape columns() const { return {n, c * window[0] * window[1], count[0] * count[1]}; }
  Tensor run(const Tensor& x, bool transposed) const { return transposed ? sum(x) : gather(x); }

 private:
  Shape padded() const { return {n, c, size[0] + 2 * padding[0], size[1] + 2 * padding[1]}; }
  Tensor inner(const Tensor& image) const {
    return narrow(narrow(image, 2, padding[0], size[0]), 3, padding[1], size[1]);
  }
  // [n, c, window, count] of a padded image.
  Tensor of_image(const Tensor& image) const {
    const int64_t down = image.stride(2), right = image.stride(3);
    const int64_t sizes[] = {n, c, window[0], window[1], count[0], count[1]};
    const int64_t strides[] = {image.stride(0),     image.stride(1),  dilation[0] * down,
                               dilation[1] * right, stride[0] * down, stride[1] * right};
    return alias(image, sizes, strides, image.offset(), image.dtype());
  }
  // The windows of an image that is given as columns.
  Tensor of_columns(const Tensor& columns) const {
    return view(columns, Shape{n, c, window[0], window[1], count[0], count[1]});
  }
  Tensor gather(const Tensor& x) const;
  Tensor sum(const Tensor& columns) const;
};

Tensor Windows::gather(const Tensor& x) const {
  Tensor image = x;
  if (padding[0] > 0 || padding[1] > 0) {
    image = zeros(padded(), x.dtype(), x.device());
    copy_bytes(inner(image), x);
  }
  const Tensor y = empty(columns(), x.dtype(), x.device());
  copy_bytes(of_columns(y), of_image(image));
  return y;
}

// Tap by tap: those of one tap have places of their own.
Tensor Windows::sum(const Tensor& columns) const {
  const Dtype type = computed_as(columns.dtype());
  const Tensor from = of_columns(contiguous(cast(columns, type)));
  const Tensor image = zeros(padded(), type, columns.device());
  const Tensor to = of_image(image);
  for (int64_t i = 0; i < window[0]; ++i) {
    for (int64_t j = 0; j < window[1]; ++j) {
      const auto tap = [&](const Tensor& all) { return select(select(all, 3, j), 2, i); };
      const Tensor position = tap(to);
      add(position, tap(from), nullptr, Into(position));
    }
  }
  return row_major_clone(cast(inner(image), columns.dtype()));
}

// -- what is asked for ----------------------------------------------------------------------------

// One number stands for both.
Pair pair_of(const char* op, const char* name, Dims values, int64_t least) {
  if (values.size() != 1 && values.size() != 2)
    fail_argument(LIBDL_ERROR_VALUE, op, name, "has " + std::to_string(values.size()) + " entries",
                  "one or two");
  for (const int64_t x : values)
    if (x < least || x > INT32_MAX)
      fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + to_string(values),
                    std::to_string(least) + " to 2147483647");
  return {values.front(), values.back()};
}

// The window and its steps.
void set_window(Windows& w, Dims kernel_size, std::optional<Dims> dilation,
                std::optional<Dims> padding, std::optional<Dims> stride) {
  static constexpr int64_t kNone[] = {0}, kOne[] = {1};
  w.window = pair_of(w.op, "kernel_size", kernel_size, 1);
  w.dilation = pair_of(w.op, "dilation", dilation.value_or(Dims(kOne)), 1);
  w.padding = pair_of(w.op, "padding", padding.value_or(Dims(kNone)), 0);
  w.stride = pair_of(w.op, "stride", stride.value_or(Dims(kOne)), 1);
}

// How many windows there are; `name` is the argument that has the image's sizes.
void count_windows(Windows& w, const char* name, const std::string& found) {
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = w.dilation[d] * (w.window[d] - 1) + 1;
    const int64_t padded = w.size[d] + 2 * w.padding[d];
    if (reach > padded)
      fail_argument(LIBDL_ERROR_SHAPE, w.op, name, found,
                    "room for a window that reaches over " + std::to_string(reach) +
                        (d == 0 ? " rows" : " columns"));
    w.count[d] = (padded - reach) / w.stride[d] + 1;
  }
}

// With a batch, which the result has if the input has.
Tensor run_batched(const Windows& w, const Tensor& input, bool has_batch, bool transposed) {
  if (has_batch) return apply(w, input, transposed);
  const Named named(w.op);
  return named(own(select(apply(w, unsqueeze(input, 0), transposed), 0, 0)));
}

}  // namespace

Tensor im2col_impl(const Tensor& input, Dims kernel_size, std::optional<Dims> dilation,
                   std::optional<Dims> padding, std::optional<Dims> stride) {
  Windows w{.op = "im2col", .backward = "im2col_backward"};
  const int n = input.ndim();
  bool good = n == 3 || n == 4;
  for (int d = n - 3; good && d < n; ++d) good = input.size(d) > 0;
  const std::string found = "has shape " + to_string(input.shape());
  if (!good)
    fail_argument(LIBDL_ERROR_SHAPE, w.op, "input", found,
                  "[n, c, h, w] or [c, h, w], of which only n may be 0");
  set_window(w, kernel_size, dilation, padding, stride);
  w.n = n == 4 ? input.size(0) : 1, w.c = input.size(n - 3);
  w.size = {input.size(n - 2), input.size(n - 1)};
  count_windows(w, "input", found);
  checked_numel(Shape{w.n, w.c, w.window[0], w.window[1], w.count[0], w.count[1]}, input.dtype(),
                w.op, "kernel_size");
  return run_batched(w, input, n == 4, false);
}

Tensor col2im_impl(const Tensor& input, Dims output_size, Dims kernel_size,
                   std::optional<Dims> dilation, std::optional<Dims> padding,
                   std::optional<Dims> stride) {
  Windows w{.op = "col2im", .backward = "col2im_backward"};
  const int n = input.ndim();
  const auto bad = [&](const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_SHAPE, w.op, "input", "has shape " + to_string(input.shape()),
                  wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if ((n != 2 && n != 3) || input.size(n - 2) == 0 || input.size(n - 1) == 0)
    bad("[n, c t u, windows] or [c t u, windows], of which only n may be 0");
  if (input.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_DTYPE, w.op, "input", "is bool", "a numeric dtype");
  w.size = pair_of(w.op, "output_size", output_size, 1);
  set_window(w, kernel_size, dilation, padding, stride);
  count_windows(w, "output_size", "is " + to_string(output_size));
  const int64_t taps = w.window[0] * w.window[1], rows = input.size(n - 2);
  if (rows % taps != 0)
    bad("a multiple of " + std::to_string(taps) + ", the window's size, in dimension " +
        std::to_string(n - 2));
  if (static_cast<__int128>(w.count[0]) * w.count[1] != input.size(n - 1))
    bad(to_string(Dims(w.count)) + " windows in dimension " + std::to_string(n - 1));
  w.n = n == 3 ? input.size(0) : 1, w.c = rows / taps;
  checked_numel(Shape{w.n, w.c, w.size[0] + 2 * w.padding[0], w.size[1] + 2 * w.padding[1]},
                input.dtype(), w.op, "output_size");
  return run_batched(w, input, n == 3, true);
}

}  // namespace libdl
