// SPDX-License-Identifier: Apache-2.0

// How many elements are what, or lie where.

#include <cmath>
#include <cstdio>
#include <limits>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/rounding.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

// -- of integers ----------------------------------------------------------------------------------

static void check_bincount(const Call& call, const Tensor& input, const Tensor* weights,
                           int64_t minlength) {
  if (input.ndim() != 1 || is_inexact(input.dtype()))
    call.bad(LIBDL_ERROR_VALUE, "input",
             std::string("is ") + name_of(input.dtype()) + " " + to_string(input.shape()),
             "integers [n]");
  if (minlength < 0)
    call.bad(LIBDL_ERROR_VALUE, "minlength", "is " + std::to_string(minlength), "0 or more");
  if (weights && !same(weights->shape(), input.shape()))
    call.bad(LIBDL_ERROR_SHAPE, "weights", "has shape " + to_string(weights->shape()),
             to_string(input.shape()));
}

// What was added up at each place from 0 to size - 1.
static Tensor summed_at(const Tensor& index, int64_t size, const Tensor& terms) {
  const Tensor table = zeros(Shape{size}, terms.dtype(), index.device());
  return index_add(table, 0, index, terms, nullptr, Into(table));
}

static Tensor sums_at(const Tensor& index, int64_t size, const Tensor& weights) {
  const bool narrow = weights.dtype() == Dtype::kFloat32;
  return summed_at(index, size, narrow ? weights : to(weights, Dtype::kFloat64, {}));
}

static Tensor counts_at(const Tensor& index, int64_t size) {
  const Device device = index.device();
  if (!has_kernel(device, KernelId::bincount))
    return summed_at(index, size, full(index.shape(), number(int64_t{1}), Dtype::kInt64, device));
  const Tensor x = plain(index);
  Tensor counts = empty(Shape{size}, Dtype::kInt64, device);
  launch_bincount(device, {overwrites(counts), reads(x)});
  return counts;
}

Tensor bincount_impl(const Tensor& input, const Tensor* weights, int64_t minlength) {
  Call call("bincount", {}, {});
  check_bincount(call, input, weights, minlength);
  if (is_meta(input.device()))
    fail(LIBDL_ERROR_UNSUPPORTED, call.op(),
         "the largest element is asked for, and a meta tensor has no elements");
  const Device device = input.device();
  if (input.numel() == 0) return zeros(Shape{minlength}, Dtype::kInt64, device);  // as in PyTorch
  const Tensor index = to(input, Dtype::kInt64, {});
  if (item_i64(amin(index)) < 0)
    call.bad(LIBDL_ERROR_VALUE, "input", "holds a negative number", "none");
  const int64_t greatest = item_i64(amax(index));
  if (greatest == std::numeric_limits<int64_t>::max())
    call.bad(LIBDL_ERROR_OVERFLOW, "input", "holds 2^63 - 1", "less");
  const int64_t size = std::max(minlength, greatest + 1);
  return call.done(weights ? sums_at(index, size, *weights) : counts_at(index, size));
}

// -- in parts of equal width ----------------------------------------------------------------------

namespace {
struct Ends {
  double low, high;
};
}  // namespace

static std::string text_of(Ends ends) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g to %.9g", ends.low, ends.high);
  return text;
}

static Ends ends_of(const Tensor& x) { return {item_f64(amin(x)), item_f64(amax(x))}; }

// A number as a dtype holds it.
static double held(double value, Dtype dtype) { return item_f64(to(number(value), dtype, {})); }

// The parts that x, a vector, is counted in; in float64 where its own dtype need not hold them.
static Tensor counted_in_parts(const Call& call, const Tensor& x, int64_t bins, Ends ends) {
  bool exact = is_floating(x.dtype());
  if (ends.low == 0 && ends.high == 0 && x.numel() > 0) ends = ends_of(x);
  if (ends.low == ends.high) ends = {ends.low - 1, ends.high + 1}, exact = false;
  const double width = ends.high - ends.low;
  if (!(width > 0) || !std::isfinite(ends.low) || !std::isfinite(ends.high))
    call.bad(LIBDL_ERROR_VALUE, std::isfinite(ends.low) ? "max" : "min",
             "gives the range " + text_of(ends), "finite ascending numbers");
  const bool fits = exact && static_cast<double>(bins) * width <= largest_finite(x.dtype());
  const Tensor all = fits ? x : to(x, Dtype::kFloat64, {});
  const Tensor low = number(ends.low), high = number(ends.high), most = number(bins - 1);
  const Tensor inside = masked_select(all, logical_and(ge(all, low), le(all, high)));
  const Tensor from = full({}, low, inside.dtype(), x.device());
  const Tensor whole = sub(full({}, high, inside.dtype(), x.device()), from);
  const Tensor part = floor(div(mul(sub(inside, from), number(bins)), whole));
  return bincount(to(clamp(part, nullptr, &most), Dtype::kInt64, {}), nullptr, bins);
}

static void check_histc(const Call& call, const Tensor& input, int64_t bins) {
  if (input.is_complex())
    call.bad(LIBDL_ERROR_UNSUPPORTED, "input", std::string("is ") + name_of(input.dtype()),
             "a real dtype");
  if (bins <= 0) call.bad(LIBDL_ERROR_VALUE, "bins", "is " + std::to_string(bins), "above 0");
  checked_numel(Shape{bins}, Dtype::kInt64, call.op(), "bins");
}

Tensor histc_impl(const Tensor& input, int64_t bins, double min, double max, Into into) {
  const Tensor counted = detach(input);  // counts have no derivative, in a destination as elsewhere
  Call call("histc", into, {&counted});
  check_histc(call, input, bins);
  const Dtype dtype = input.dtype();
  if (is_meta(input.device())) return call.done(empty(Shape{bins}, dtype, input.device()));
  const bool narrow = summed_as(dtype) != dtype;  // does not hold the bins' numbers
  const Tensor x = to(flatten(input), summed_as(dtype), {});
  const Ends ends = narrow ? Ends{held(min, dtype), held(max, dtype)} : Ends{min, max};
  return call.done(to(counted_in_parts(call, x, bins, ends), dtype, {}));
}

// -- between edges --------------------------------------------------------------------------------

static void check_points(const Call& call, const Tensor& input) {
  if (input.dtype() != Dtype::kFloat32 && input.dtype() != Dtype::kFloat64)
    call.bad(LIBDL_ERROR_UNSUPPORTED, "input", std::string("is ") + name_of(input.dtype()),
             "float32 or float64");
}

static void check_edges(const Call& call, const Tensor& bins, Dtype dtype) {
  if (bins.ndim() != 1 || bins.numel() < 2 || bins.dtype() != dtype)
    call.bad(LIBDL_ERROR_SHAPE, "bins",
             std::string("is ") + name_of(bins.dtype()) + " of shape " + to_string(bins.shape()),
             std::string("two or more edges of dtype ") + name_of(dtype));
}

static void check_weight(const Call& call, const Tensor* weight, int64_t count) {
  if (weight && weight->numel() != count)
    call.bad(LIBDL_ERROR_SHAPE, "weight", "has " + std::to_string(weight->numel()) + " elements",
             std::to_string(count));
}

// In which of the bins between edges each of x [n] lies; -1 or their number where in none, as a
// NaN.
static Tensor bins_of(const Tensor& x, const Tensor& edges) {
  const int64_t size = edges.numel() - 1;
  const Tensor above = sub(searchsorted(edges, x, false, true), number(int64_t{1}));
  return where(eq(x, select(edges, 0, size)), number(size - 1), above);  // the last has both edges
}

// How many of points [n, dimensions] lie in each cell.
static Tensor counted(const Tensor& points, TensorSpan edges, const Tensor* weight, bool density) {
  Shape sizes;
  Tensor cell, inside;
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t size = edges[d].numel() - 1;
    const Tensor bin = bins_of(contiguous(select(points, 1, static_cast<int64_t>(d))), edges[d]);
    const Tensor here = logical_and(ge(bin, number(int64_t{0})), lt(bin, number(size)));
    cell = d == 0 ? bin : add(mul(cell, number(size)), bin);
    inside = d == 0 ? here : logical_and(inside, here);
    sizes.push_back(size);
  }
  const int64_t cells = checked_numel(sizes, points.dtype(), nullptr);
  const Tensor places = masked_select(cell, inside);
  const Tensor weights = weight ? masked_select(flatten(*weight), inside) : Tensor();
  const Tensor counts = bincount(places, weight ? &weights : nullptr, cells);
  const Dtype dtype = points.dtype();
  Tensor y = reshape(to(counts, dtype, {}), sizes);
  if (!density) return y;
  for (size_t d = 0; d < edges.size(); ++d) {
    Shape shape(sizes.size(), 1);
    shape[d] = sizes[d];
    const Tensor& edge = edges[d];
    const Tensor width = sub(narrow(edge, 0, 1, sizes[d]), narrow(edge, 0, 0, sizes[d]));
    y = div(y, reshape(width, shape));
  }
  return div(y, to(sum(counts), dtype, {}));
}

static Ends checked_ends(const Call& call, Ends ends, bool low, bool high) {
  if (ends.low == ends.high) ends = {ends.low - 0.5, ends.high + 0.5};
  if (ends.low < ends.high && std::isfinite(ends.low) && std::isfinite(ends.high)) return ends;
  const bool by_low = low && (!high || !std::isfinite(ends.low));
  const char* const name = by_low ? "low" : high ? "high" : "input";
  call.bad(LIBDL_ERROR_VALUE, name, "gives the range " + text_of(ends), "finite ascending numbers");
}

// Edges of bins of equal width.
static Tensor even_edges(const Call& call, const Tensor& x, int64_t bins, std::optional<double> low,
                         std::optional<double> high) {
  if (bins < 1) call.bad(LIBDL_ERROR_VALUE, "bins", "is " + std::to_string(bins), "1 or more");
  checked_numel(Shape{bins}, x.dtype(), call.op(), "bins");
  Ends ends{0, 1};
  if (!(low && high) && x.numel() > 0) ends = ends_of(x);
  ends = {low.value_or(ends.low), high.value_or(ends.high)};
  ends = checked_ends(call, ends, low.has_value(), high.has_value());
  return linspace(number(ends.low), number(ends.high), bins + 1, x.dtype(), x.device());
}

// Elements as points of one coordinate.
static Tensor as_points(const Tensor& x) { return unsqueeze(flatten(x), 1); }

std::tuple<Tensor, Tensor> histogram_impl(const Tensor& input, int64_t bins,
                                          std::optional<double> low, std::optional<double> high,
                                          const Tensor* weight, bool density) {
  const Call call("histogram", {}, {});
  check_points(call, input);
  check_weight(call, weight, input.numel());
  const Tensor edges[] = {even_edges(call, input, bins, low, high)};
  return {counted(as_points(input), edges, weight, density), edges[0]};
}

std::tuple<Tensor, Tensor> histogram_with_edges_impl(const Tensor& input, const Tensor& bins,
                                                     const Tensor* weight, bool density) {
  const Call call("histogram_with_edges", {}, {});
  check_points(call, input);
  check_edges(call, bins, input.dtype());
  check_weight(call, weight, input.numel());
  const Tensor edges[] = {clone(bins)};
  return {counted(as_points(input), edges, weight, density), edges[0]};
}

Tensor histogramdd_impl(const Tensor& input, TensorSpan bins, const Tensor* weight, bool density) {
  const Call call("histogramdd", {}, {});
  check_points(call, input);
  if (input.ndim() < 2 || input.size(input.ndim() - 1) == 0)
    call.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(input.shape()),
             "[.., dimensions]");
  const Tensor points = flatten(input, 0, -2);
  if (static_cast<int64_t>(bins.size()) != points.size(1))
    call.bad(LIBDL_ERROR_VALUE, "bins", "are " + std::to_string(bins.size()) + " vectors",
             "one for each of " + std::to_string(points.size(1)) + " dimensions");
  for (const Tensor& edges : bins) check_edges(call, edges, input.dtype());
  check_weight(call, weight, points.size(0));
  return counted(points, bins, weight, density);
}

}  // namespace libdl
