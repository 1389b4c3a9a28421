// SPDX-License-Identifier: Apache-2.0

// Views: other geometries over the same bytes. Meaning and errors: include/libdl/view.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

Tensor view(const Tensor& input, Dims shape);
Tensor view_dtype(const Tensor& input, Dtype dtype);
Tensor reshape(const Tensor& input, Dims shape);
// Turns `view`, of a tensor that an operator made and nobody else has, into an independent tensor.
Tensor own(Tensor view);
Tensor transpose(const Tensor& input, int32_t dim0, int32_t dim1);
Tensor permute(const Tensor& input, Dims dims);
Tensor movedim(const Tensor& input, Dims source, Dims destination);
Tensor t(const Tensor& input);
Tensor squeeze(const Tensor& input, std::optional<Dims> dims);
Tensor unsqueeze(const Tensor& input, int32_t dim);
Tensor expand(const Tensor& input, Dims shape);
// A vector of channels, so that it broadcasts to an image of this shape.
Tensor along_channels(const Tensor& vector, Dims shape);
Tensor select(const Tensor& input, int32_t dim, int64_t index);
Tensor narrow(const Tensor& input, int32_t dim, int64_t start, int64_t length);
Tensor slice(const Tensor& input, int32_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step);
Tensor diagonal(const Tensor& input, int64_t offset, int32_t dim1, int32_t dim2);
Tensor unfold(const Tensor& input, int32_t dimension, int64_t size, int64_t step);
Tensor flatten(const Tensor& input, int32_t start_dim, int32_t end_dim);
Tensor unflatten(const Tensor& input, int32_t dim, Dims sizes);
Tensor as_strided(const Tensor& input, Dims shape, Dims stride,
                  std::optional<int64_t> storage_offset);
Tensor view_as_real(const Tensor& input);
Tensor view_as_complex(const Tensor& input);
Tensor real(const Tensor& input);
Tensor imag(const Tensor& input);
Tensor detach(const Tensor& input);

std::vector<Tensor> split(const Tensor& input, int64_t split_size, int32_t dim);
std::vector<Tensor> split_with_sizes(const Tensor& input, Dims split_sizes, int32_t dim);
std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int32_t dim);
std::vector<Tensor> unbind(const Tensor& input, int32_t dim);

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

// A node that views `base` (a value of geometry `from`) through `to`, for views whose base was
// written to. Takes over base's reference once it returns.
Node* strided_view_node(Edge base, const Geometry& from, const Geometry& to);

// A tensor of geometry `from`, zero except for dy at `to` (added where `to` overlaps itself);
// returned with the shape of `from`. And its transpose: h, laid out as `from`, viewed through `to`.
Tensor strided_scatter(const Tensor& dy, const Geometry& from, const Geometry& to);
Tensor strided_gather(const Tensor& h, const Geometry& from, const Geometry& to);

}  // namespace libdl
