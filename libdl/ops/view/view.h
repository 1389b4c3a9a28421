// SPDX-License-Identifier: Apache-2.0

// Views: other geometries over the same bytes.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// Turns `view`, of a tensor that an operator made and nobody else has, into an independent tensor.
Tensor own(Tensor view);
// A vector of channels, so that it broadcasts to an image of this shape.
Tensor along_channels(const Tensor& vector, Dims shape);

// -- building blocks of the history of views ----------------------------------------------------

struct Geometry {
  Shape shape, strides;
  int64_t offset = 0;
};
inline Geometry geometry_of(const Tensor& x) {
  return {Shape(x.shape()), Shape(x.strides()), x.offset()};
}

// The windows of `size` elements along dimension `at`, `step` apart, with the window as a new last
// dimension.
Geometry unfolded(const Geometry& from, int at, int64_t size, int64_t step);

// A node without edges that views a value of geometry `from` through `to`, for views whose base was
// written to.
Ref<Node> strided_view_node(const Geometry& from, const Geometry& to);

// A tensor of geometry `from`, zero except for dy at `to` (added where `to` overlaps itself);
// returned with the shape of `from`. And its transpose: h, laid out as `from`, viewed through `to`.
Tensor strided_scatter(const Tensor& dy, const Geometry& from, const Geometry& to);
Tensor strided_gather(const Tensor& h, const Geometry& from, const Geometry& to);

}  // namespace libdl
