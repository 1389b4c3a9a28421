// SPDX-License-Identifier: Apache-2.0

// Every mode is linear and goes dimension by dimension: a table says what elements make up each
// element of the result, and its transpose makes the gradient.

#include <algorithm>
#include <cmath>

#include "entries/copy.h"
#include "entries/image.h"
#include "entries/indexing.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/image/linear_map.h"
#include "ops/image/resample_table.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {

constexpr const char* kInterpolateName = "interpolate";

struct Resampling {
  const char* op = kInterpolateName;
  const char* backward = "interpolate_backward";
  int dims = 0;  // the last ones of the image
  std::array<ResampledLine, 3> lines{};

  Tensor run(const Tensor& x, bool transposed) const;

 private:
  bool picks() const {
    return lines[0].filter == Filter::kNearest || lines[0].filter == Filter::kNearestExact;
  }
};

// -- along one dimension --------------------------------------------------------------------------

template <class T, class From>
Tensor vector_of(const std::vector<From>& from, Dtype dtype, Device device) {
  const Tensor table = empty(Shape{static_cast<int64_t>(from.size())}, dtype);
  T* const to = table.overwrite_plain<T>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
  return on_device(table, device);
}

Tensor picked(const Tensor& x, int axis, const ResampleTable& table) {
  return index_select(x, axis, vector_of<int64_t>(table.index, Dtype::kInt64, x.device()));
}

Tensor resampled(const Tensor& x, int axis, ResampleTable table) {
  Shape sizes(x.shape());
  sizes[static_cast<size_t>(axis)] = static_cast<int64_t>(table.first.size()) - 1;
  const Tensor y = empty(sizes, x.dtype(), x.device());
  kernels::ResampleArgs args{};
  args.axis = axis;
  if (x.dtype() == Dtype::kUint8) args.bits = quantise(table.weight);
  const Tensor first = vector_of<int64_t>(table.first, Dtype::kInt64, x.device());
  const Tensor index = vector_of<int64_t>(table.index, Dtype::kInt64, x.device());
  const Tensor weight =
      x.dtype() == Dtype::kUint8     ? vector_of<int32_t>(table.weight, Dtype::kInt32, x.device())
      : x.dtype() == Dtype::kFloat64 ? vector_of<double>(table.weight, Dtype::kFloat64, x.device())
                                     : vector_of<float>(table.weight, Dtype::kFloat32, x.device());
  args.out = overwrites(y), args.in = reads(x);
  args.first = reads(first), args.index = reads(index), args.weight = reads(weight);
  launch_resample(x.device(), args);
  return y;
}

// Memory of the size of a line's table, unless that is small: where there is none, the host source
// refuses it, which the table's vectors would not ask.
Tensor output_like(const ResampledLine& line) {
  constexpr double kSmall = 1 << 20, kMost = 0x1p62;
  const double bytes = table_bytes(line);
  return bytes < kSmall ? Tensor()
                        : empty(Shape{static_cast<int64_t>(std::min(bytes, kMost))}, Dtype::kUint8);
}

// -- along all of them ----------------------------------------------------------------------------

Tensor Resampling::run(const Tensor& x, bool transposed_) const {
  if (x.numel() == 0) {
    Shape shape(x.shape());
    auto* size = shape.end() - dims;
    for (int d = 0; d < dims; ++d) {
      const ResampledLine& line = lines[static_cast<size_t>(d)];
      size[d] = transposed_ ? line.from : line.to;
    }
    return empty(shape, x.dtype(), x.device());
  }
  Tensor y = cast(x, computed_as(x.dtype()));
  const bool single = y.dtype() == Dtype::kFloat32;
  for (int k = 0; k < dims; ++k) {
    const int d = transposed_ ? k : dims - 1 - k;
    const ResampledLine& line = lines[static_cast<size_t>(d)];
    if (is_identity(line) || (y.dtype() == Dtype::kUint8 && line.from == line.to && !picks()))
      continue;
    const int axis = x.ndim() - dims + d;
    const Tensor output = output_like(line);
    ResampleTable table = table_of(line, single);
    if (transposed_) {
      y = resampled(y, axis, transposed(table, line.from));
    } else {
      y = picks() ? picked(y, axis, table) : resampled(y, axis, std::move(table));
    }
  }
  y = cast(y, x.dtype());
  return y.is(x) ? row_major_clone(x) : y;
}

// -- what is asked for ----------------------------------------------------------------------------

struct Method {
  Filter filter;
  int dims;    // that the image must have; 0: any number
  bool flags;  // whether align_corners means something
};

Method method_of(std::string_view mode) {
  if (mode == "nearest") return {Filter::kNearest, 0, false};
  if (mode == "nearest-exact") return {Filter::kNearestExact, 0, false};
  if (mode == "area") return {Filter::kArea, 0, false};
  if (mode == "linear") return {Filter::kLinear, 1, true};
  if (mode == "bilinear") return {Filter::kLinear, 2, true};
  if (mode == "trilinear") return {Filter::kLinear, 3, true};
  if (mode == "bicubic") return {Filter::kCubic, 2, true};
  fail_argument(
      LIBDL_ERROR_VALUE, kInterpolateName, "mode", "is '" + std::string(mode) + "'",
      "'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'");
}

void check_input(const Tensor& input, const Method& mode, std::string_view name) {
  const int n = input.ndim();
  bool good = n >= 3 && n <= 5;
  for (int d = 1; good && d < n; ++d) good = input.size(d) > 0;
  if (!good)
    fail_argument(LIBDL_ERROR_SHAPE, kInterpolateName, "input",
                  "has shape " + to_string(input.shape()),
                  "[n, c, w], [n, c, h, w] or [n, c, d, h, w], of which only n may be 0");
  if (mode.dims != 0 && n != mode.dims + 2)
    fail_argument(
        LIBDL_ERROR_SHAPE, kInterpolateName, "input", "has shape " + to_string(input.shape()),
        std::to_string(mode.dims + 2) + " dimensions in mode '" + std::string(name) + "'");
  const bool bytes =
      input.dtype() == Dtype::kUint8 && mode.filter != Filter::kArea && (!mode.flags || n == 4);
  if (!is_floating(input.dtype()) && !bytes)
    fail_argument(
        LIBDL_ERROR_DTYPE, kInterpolateName, "input", std::string("is ") + name_of(input.dtype()),
        mode.filter == Filter::kArea || (mode.flags && n != 4) ? "a floating dtype"
                                                               : "a floating dtype or uint8");
}

void check_flags(const Method& mode, std::string_view name, bool align_corners, bool antialias) {
  const auto bad = [&](const char* flag, const char* modes LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, flag,
                  "is true in mode '" + std::string(name) + "'",
                  std::string("false, but for ") + modes LIBDL_SAME_SOURCE_LOCATION);
  };
  if (align_corners && !mode.flags)
    bad("align_corners", "'linear', 'bilinear', 'bicubic' and 'trilinear'");
  if (antialias && !(mode.flags && mode.dims == 2)) bad("antialias", "'bilinear' and 'bicubic'");
}

using Factors = std::array<std::optional<double>, 3>;  // depth, height, width

constexpr const char* kFactors[] = {"scale_factor_d", "scale_factor_h", "scale_factor_w"};

// The sizes of the result; `factors` are cleared where they do not say where pixels lie.
Shape requested_sizes(const Tensor& input, std::optional<Dims> size, const Factors& factors) {
  const int dims = input.ndim() - 2;
  Shape sizes;
  for (int k = 0; k < 3; ++k) {
    const auto& factor = factors[static_cast<size_t>(k)];
    if (!factor) continue;
    if (size || k < 3 - dims)
      fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, kFactors[k],
                    "is " + std::to_string(*factor),
                    size ? "none, for size is given"
                         : "none, for input has shape " + to_string(input.shape()));
  }
  if (size) {
    if (size->size() != 1 && size->size() != static_cast<size_t>(dims))
      fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, "size",
                    "has " + std::to_string(size->size()) + " entries",
                    dims == 1 ? "one" : "one or " + std::to_string(dims));
    for (int d = 0; d < dims; ++d) {
      sizes.push_back(size->size() == 1 ? size->front() : (*size)[static_cast<size_t>(d)]);
      if (sizes.back() < 1)
        fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, "size", "is " + to_string(*size),
                      "1 or more each");
    }
    return sizes;
  }
  for (int d = 0; d < dims; ++d) {
    const int k = 3 - dims + d;
    const auto& factor = factors[static_cast<size_t>(k)];
    if (!factor)
      fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, kFactors[k], "is absent",
                    "a factor, for size is absent, too");
    const double scaled = std::floor(static_cast<double>(input.size(2 + d)) * *factor);
    if (!(scaled >= 1 && scaled < 0x1p62))
      fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, kFactors[k],
                    "is " + std::to_string(*factor),
                    "one that makes a size of 1 or more of " + std::to_string(input.size(2 + d)));
    sizes.push_back(static_cast<int64_t>(scaled));
  }
  return sizes;
}

}  // namespace

Tensor interpolate_impl(const Tensor& input, std::optional<Dims> size,
                        std::optional<double> scale_factor_d, std::optional<double> scale_factor_h,
                        std::optional<double> scale_factor_w, std::string_view mode,
                        bool align_corners, bool recompute_scale_factor, bool antialias) {
  const Method how = method_of(mode);
  check_input(input, how, mode);
  check_flags(how, mode, align_corners, antialias);
  const Factors factors{scale_factor_d, scale_factor_h, scale_factor_w};
  const Shape sizes = requested_sizes(input, size, factors);
  if (recompute_scale_factor && size)
    fail_argument(LIBDL_ERROR_VALUE, kInterpolateName, "recompute_scale_factor", "is true",
                  "false, for size is given");
  Shape shape{input.size(0), input.size(1)};
  for (const int64_t n : sizes) shape.push_back(n);
  checked_numel(shape, input.dtype(), kInterpolateName, size ? "size" : "scale_factor_w");

  Resampling map{.dims = input.ndim() - 2};
  for (int d = 0; d < map.dims; ++d) {
    const int from_end = map.dims - d;
    const auto& factor = factors[factors.size() - static_cast<size_t>(from_end)];
    ResampledLine line{input.size(2 + d), sizes[static_cast<size_t>(d)], how.filter};
    line.align_corners = align_corners, line.antialias = antialias;
    if (factor && !recompute_scale_factor && how.filter != Filter::kArea) line.step = 1.0 / *factor;
    map.lines[static_cast<size_t>(d)] = line;
  }
  return apply(map, input);
}

}  // namespace libdl
