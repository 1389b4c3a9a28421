// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <optional>

#include "entries/arithmetic.h"
#include "entries/calculus.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/linalg/linalg.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {

// The values, and the places or the distance of neighbours, along dim.
struct Samples {
  Tensor y, x;  // x: of y's number of dimensions, or undefined
  const Tensor* dx;
  int dim;
  Dtype narrow = Dtype::kNone;  // the result's, where this is of 16 bits and computed in float32

  Samples(const char* op, const Tensor& values, const Tensor* places, const Tensor* distance,
          int32_t along);

  int64_t size() const { return y.size(dim); }
  Tensor result(const Tensor& made) const {
    return narrow == Dtype::kNone ? made : to(made, narrow, {});
  }
};

// A vector of places lies along dim; other places have ones in front, where y has more dimensions.
Tensor placed(const char* op, const Tensor& x, const Tensor& y, int dim) {
  if (x.ndim() == 1 && x.size(0) != y.size(dim))
    fail_argument(LIBDL_ERROR_SHAPE, op, "x", "has shape " + to_string(x.shape()),
                  "[" + std::to_string(y.size(dim)) + "], a place for each value");
  if (x.ndim() >= y.ndim() && x.ndim() != 1) return x;
  Shape shape(static_cast<size_t>(y.ndim()), 1);
  if (x.ndim() == 1)
    shape[static_cast<size_t>(dim)] = x.size(0);
  else
    std::copy(x.shape().begin(), x.shape().end(), shape.end() - x.ndim());
  return reshape(x, shape);
}

// The distances of neighbours broadcast with what lies between the values.
void check_steps(const char* op, const Tensor& given, const Tensor& x, const Tensor& y, int dim) {
  Shape steps(x.shape()), areas(y.shape());
  for (Shape* each : {&steps, &areas}) {
    int64_t& n = (*each)[static_cast<size_t>(dim)];
    n = std::max<int64_t>(n - 1, 0);
  }
  if (!broadcast_batch(steps, areas))
    fail_argument(LIBDL_ERROR_SHAPE, op, "x", "has shape " + to_string(given.shape()),
                  "places for values of shape " + to_string(y.shape()));
}

Samples::Samples(const char* op, const Tensor& values, const Tensor* places, const Tensor* distance,
                 int32_t along)
    : y(values), dx(places ? nullptr : distance) {
  if (y.ndim() == 0) fail_argument(LIBDL_ERROR_INDEX, op, "y", "has no dimensions", "1 or more");
  for (const Tensor* each : {&values, places})
    if (each && each->dtype() == Dtype::kBool)
      fail_argument(LIBDL_ERROR_UNSUPPORTED, op, each == places ? "x" : "y", "is bool", "numbers");
  dim = checked_axis(op, "dim", along, y.ndim());
  if (distance && distance->numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "dx", "has shape " + to_string(distance->shape()),
                  "a number");
  if (places) {
    x = placed(op, *places, y, dim);
    check_steps(op, *places, x, y, dim);
  }
  // Of 16-bit floats the sums need not be finite where the integral is.
  if (summed_as(y.dtype()) == y.dtype()) return;
  if (places && places->dtype() != y.dtype()) return;
  narrow = y.dtype();
  y = to(y, Dtype::kFloat32, {});
  if (places) x = to(x, Dtype::kFloat32, {});
}

Tensor scaled(const Tensor& areas, const Samples& s) { return s.dx ? mul(areas, *s.dx) : areas; }

// The areas between neighbours.
Tensor areas_of(const Samples& s) {
  const int64_t size = std::max<int64_t>(s.size() - 1, 0);
  const Tensor after = narrow(s.y, s.dim, s.size() - size, size);
  const Tensor means = div(add(after, narrow(s.y, s.dim, 0, size)), number(int64_t{2}));
  return s.x.defined() ? mul(means, diff(s.x, 1, s.dim)) : scaled(means, s);
}

}  // namespace

Tensor trapezoid_impl(const Tensor& y, const Tensor* x, const Tensor* dx, int32_t dim) {
  const Samples s("trapezoid", y, x, dx, dim);
  const std::array<int64_t, 1> along{s.dim};
  if (x || s.size() == 0) return s.result(sum(areas_of(s), Dims(along)));
  const Tensor ends = add(narrow(s.y, s.dim, 0, 1), narrow(s.y, s.dim, s.size() - 1, 1));
  const Tensor half = div(squeeze(ends, Dims(along)), number(int64_t{2}));
  return s.result(scaled(sub(sum(s.y, Dims(along)), half), s));
}

Tensor cumulative_trapezoid_impl(const Tensor& y, const Tensor* x, const Tensor* dx, int32_t dim) {
  const Samples s("cumulative_trapezoid", y, x, dx, dim);
  return s.result(cumsum(areas_of(s), s.dim));
}

}  // namespace libdl
