// SPDX-License-Identifier: Apache-2.0

// Dimensions turned, reversed, repeated or merged.
#include "entries/arithmetic.h"
#include "entries/arrangement.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

Tensor rot90_impl(const Tensor& input, int64_t k, std::optional<Dims> dims) {
  const char* const op = "rot90";
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "two dimensions or more");
  const Shape plane = dims ? Shape(*dims) : Shape{0, 1};
  if (plane.size() != 2)
    fail_argument(LIBDL_ERROR_VALUE, op, "dims", "is " + to_string(plane), "two dimensions");
  const int from = checked_axis(op, "dims", plane[0], input.ndim());
  const int towards = checked_axis(op, "dims", plane[1], input.ndim());
  if (from == towards)
    fail_argument(LIBDL_ERROR_VALUE, op, "dims", "is " + to_string(plane),
                  "two different dimensions");
  const int64_t quarters = ((k % 4) + 4) % 4;
  if (quarters == 0) return cat(std::vector{input}, 0);  // row-major, as PyTorch's copy
  if (quarters == 2) return flip(input, Shape{from, towards});
  return transpose(flip(input, Shape{quarters == 1 ? towards : from}), from, towards);
}

static void require_dims(const char* op, const Tensor& input, int least,
                         const std::string& wanted LIBDL_SOURCE_LOCATION) {
  if (input.ndim() < least)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  wanted LIBDL_SAME_SOURCE_LOCATION);
}

Tensor fliplr_impl(const Tensor& input) {
  require_dims("fliplr", input, 2, "two dimensions or more");
  return flip(input, Shape{1});
}

Tensor flipud_impl(const Tensor& input) {
  require_dims("flipud", input, 1, "one dimension or more");
  return flip(input, Shape{0});
}

Tensor adjoint_impl(const Tensor& input) {
  if (input.ndim() == 1)
    fail_argument(LIBDL_ERROR_SHAPE, "adjoint", "input", "has shape " + to_string(input.shape()),
                  "two dimensions or more");
  return conj(input.ndim() == 0 ? input : transpose(input, -2, -1));
}

Tensor ravel_impl(const Tensor& input) { return reshape(contiguous(input), Shape{input.numel()}); }

Tensor tile_impl(const Tensor& input, Dims dims) {
  Shape counts(dims);
  while (static_cast<int>(counts.size()) < input.ndim()) counts.insert(0, 1);
  return rename_error("tile", {{"repeats", "dims"}}, [&] { return repeat(input, counts); });
}

}  // namespace libdl
