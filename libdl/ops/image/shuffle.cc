// SPDX-License-Identifier: Apache-2.0

// Channels and space exchanged: a view of more dimensions, permuted and copied.

#include "entries/copy.h"
#include "entries/image.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

// The image behind any number of leading dimensions.
struct Planes {
  int lead;
  int64_t c, h, w;
};

Planes planes_of(const char* op, const Tensor& input) {
  const int n = input.ndim();
  if (n < 3)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[..., c, h, w]");
  return {n - 3, input.size(n - 3), input.size(n - 2), input.size(n - 1)};
}

void check_factor(const char* op, const char* name, int64_t factor) {
  if (factor < 1 || factor > INT32_MAX)
    fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + std::to_string(factor), "1 to 2147483647");
}

// The image split into `parts` dimensions, in another order, and joined to `result` again.
Tensor rearranged(const char* op, const Tensor& input, int lead,
                  std::initializer_list<int64_t> parts, std::initializer_list<int64_t> order,
                  std::initializer_list<int64_t> result) {
  const Dims front = input.shape().first(static_cast<size_t>(lead));
  Shape split(front), to(front), dims;
  for (int d = 0; d < lead; ++d) dims.push_back(d);
  for (const int64_t size : parts) split.push_back(size);
  for (const int64_t d : order) dims.push_back(lead + d);
  for (const int64_t size : result) to.push_back(size);
  const Named named(op);
  return named(own(reshape(row_major_clone(permute(reshape(input, split), dims)), to)));
}

}  // namespace

Tensor pixel_shuffle_impl(const Tensor& input, int64_t upscale_factor) {
  const char* const op = "pixel_shuffle";
  const int64_t r = upscale_factor;
  check_factor(op, "upscale_factor", r);
  const auto [lead, c, h, w] = planes_of(op, input);
  if (c % (r * r) != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has " + std::to_string(c) + " channels",
                  "a multiple of upscale_factor squared, " + std::to_string(r * r));
  int64_t high, wide;
  if (__builtin_mul_overflow(h, r, &high) || __builtin_mul_overflow(w, r, &wide))
    fail_argument(LIBDL_ERROR_OVERFLOW, op, "upscale_factor", "is " + std::to_string(r),
                  "a result of fewer than 2^63 elements");
  const int64_t k = c / (r * r);
  return rearranged(op, input, lead, {k, r, r, h, w}, {0, 3, 1, 4, 2}, {k, high, wide});
}

Tensor pixel_unshuffle_impl(const Tensor& input, int64_t downscale_factor) {
  const char* const op = "pixel_unshuffle";
  const int64_t r = downscale_factor;
  check_factor(op, "downscale_factor", r);
  const auto [lead, c, h, w] = planes_of(op, input);
  if (h % r != 0 || w % r != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "multiples of downscale_factor, " + std::to_string(r) + ", as its last sizes");
  int64_t channels;
  if (__builtin_mul_overflow(c, r * r, &channels))
    fail_argument(LIBDL_ERROR_OVERFLOW, op, "downscale_factor", "is " + std::to_string(r),
                  "a result of fewer than 2^63 elements");
  return rearranged(op, input, lead, {c, h / r, r, w / r, r}, {0, 2, 4, 1, 3},
                    {channels, h / r, w / r});
}

Tensor channel_shuffle_impl(const Tensor& input, int64_t groups) {
  const char* const op = "channel_shuffle";
  if (input.ndim() < 3)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, c, ...] with at least three dimensions");
  if (groups < 1)
    fail_argument(LIBDL_ERROR_VALUE, op, "groups", "is " + std::to_string(groups), "1 or more");
  const int64_t c = input.size(1);
  if (c % groups != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has " + std::to_string(c) + " channels",
                  "a multiple of groups, " + std::to_string(groups));
  const Named named(op);
  if (input.numel() == 0) return named(row_major_clone(input));  // of any number of groups
  Shape split(input.shape());
  split[1] = groups;
  split.insert(2, c / groups);
  return named(
      own(reshape(row_major_clone(transpose(reshape(input, split), 1, 2)), input.shape())));
}

}  // namespace libdl
