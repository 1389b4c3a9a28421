// SPDX-License-Identifier: Apache-2.0

// Views of all parts of a dimension, by their number or by where they end.
#include <algorithm>

#include "entries/arrangement.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/parts.h"

namespace libdl {

// -- along any dimension --------------------------------------------------------------------------

static int split_axis(const char* op, const Tensor& input, int32_t dim) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "is 0-d", "a tensor with dimensions");
  return checked_axis(op, "dim", dim, input.ndim());
}

static std::vector<Tensor> sections_of(const char* op, const Tensor& input, int64_t sections,
                                       int at) {
  check_list_length(op, "sections", sections);
  const int64_t size = input.size(at) / sections, larger = input.size(at) % sections;
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(sections));
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = size + (i < larger ? 1 : 0);
    parts.push_back(narrow(input, at, start, length));
    start += length;
  }
  return parts;
}

static std::vector<Tensor> between(const Tensor& input, Dims indices, int at) {
  const int64_t n = input.size(at);
  std::vector<Tensor> parts;
  int64_t start = 0;
  const auto add = [&](int64_t end) {
    parts.push_back(narrow(input, at, start, std::max<int64_t>(end - start, 0)));
    start = end;
  };
  for (const int64_t i : indices) add(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n));
  add(n);
  return parts;
}

std::vector<Tensor> tensor_split_impl(const Tensor& input, int64_t sections, int32_t dim) {
  const char* const op = "tensor_split";
  const int at = split_axis(op, input, dim);
  if (sections < 1)
    fail_argument(LIBDL_ERROR_VALUE, op, "sections", "is " + std::to_string(sections),
                  "1 or more parts");
  return sections_of(op, input, sections, at);
}

std::vector<Tensor> tensor_split_indices_impl(const Tensor& input, Dims indices, int32_t dim) {
  return between(input, indices, split_axis("tensor_split", input, dim));
}

// -- along a dimension that has a name ------------------------------------------------------------

static void require_dims(const char* op, const Tensor& input, int least LIBDL_SOURCE_LOCATION) {
  if (input.ndim() < least)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  std::to_string(least).append(" dimensions or more") LIBDL_SAME_SOURCE_LOCATION);
}

static std::vector<Tensor> equal_parts(const char* op, const Tensor& input, int64_t sections,
                                       int at) {
  if (sections < 1 || input.size(at) % sections != 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "sections", "is " + std::to_string(sections),
                  "a divisor of size " + std::to_string(input.size(at)));
  return sections_of(op, input, sections, at);
}

static int across(const Tensor& input) { return input.ndim() == 1 ? 0 : 1; }

std::vector<Tensor> hsplit_impl(const Tensor& input, int64_t sections) {
  require_dims("hsplit", input, 1);
  return equal_parts("hsplit", input, sections, across(input));
}

std::vector<Tensor> hsplit_indices_impl(const Tensor& input, Dims indices) {
  require_dims("hsplit", input, 1);
  return between(input, indices, across(input));
}

std::vector<Tensor> vsplit_impl(const Tensor& input, int64_t sections) {
  require_dims("vsplit", input, 2);
  return equal_parts("vsplit", input, sections, 0);
}

std::vector<Tensor> vsplit_indices_impl(const Tensor& input, Dims indices) {
  require_dims("vsplit", input, 2);
  return between(input, indices, 0);
}

std::vector<Tensor> dsplit_impl(const Tensor& input, int64_t sections) {
  require_dims("dsplit", input, 3);
  return equal_parts("dsplit", input, sections, 2);
}

std::vector<Tensor> dsplit_indices_impl(const Tensor& input, Dims indices) {
  require_dims("dsplit", input, 3);
  return between(input, indices, 2);
}

}  // namespace libdl
