// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/join.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

// The mean over windows of channels, [n, c, rest].
static Tensor mean_of_neighbours(const Tensor& x, int64_t size) {
  const auto none = [&](int64_t channels) {
    const int64_t shape[] = {x.size(0), channels, x.size(2)};
    return zeros(shape, x.dtype(), x.device());
  };
  const Tensor parts[] = {none(size / 2), x, none((size - 1) / 2)};
  const int64_t window[] = {-1};
  return mean(unfold(cat(parts, 1), 1, size, 1), Dims(window));
}

Tensor local_response_norm_impl(const Tensor& input, int64_t size, double alpha, double beta,
                                double k) {
  const char* const op = "local_response_norm";
  if (input.ndim() < 3)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, c, ...], at least three dimensions");
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  if (size < 1)
    fail_argument(LIBDL_ERROR_VALUE, op, "size", "is " + std::to_string(size), "1 or more");
  const Named named(op);
  if (input.numel() == 0) return named(mul(input, number(int64_t{1})));
  const int64_t n = input.size(0), c = input.size(1), flat[] = {n, c, input.numel() / (n * c)};
  const Tensor squares = reshape(input * input, flat);
  const Tensor near = reshape(mean_of_neighbours(squares, size), input.shape());
  return named(input / pow(near * alpha + k, number(beta)));
}

}  // namespace libdl
