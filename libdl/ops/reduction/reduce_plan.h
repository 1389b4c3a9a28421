// SPDX-License-Identifier: Apache-2.0

// Which dimensions a reduction removes, and how its kernel is called.
#pragma once

#include "kernels/args.h"
#include "tape/node.h"
#include "tape/saved.h"

namespace libdl {

struct ReducedDims {
  Shape shape;                // of the input
  SmallVector<bool, 8> mask;  // true where a dimension is reduced

  ReducedDims(Dims input, SmallVector<bool, 8> reduced) : shape(input), mask(std::move(reduced)) {
    mask.resize(shape.size());  // a 0-d tensor has none
  }
  Shape kept_shape() const;  // reduced sizes are 1
  Shape result_shape(bool keepdim) const;
  int64_t count() const;  // elements reduced to one result
  // y, which has the result's shape with or without the reduced dimensions, reshaped so that it
  // broadcasts to the input's shape; recorded.
  Tensor kept(const Tensor& y) const;
  // The same of a gradient of the result, which may have the pass's batch in front.
  Tensor kept(const Tensor& dy, const Backward& b) const;
  Shape reduced() const;  // the reduced dimensions
};

// The reduction of x, computed in the class of `dtype` and stored as it.
Tensor reduce(kernels::Reduction op, const Tensor& x, const ReducedDims& dims, bool keepdim,
              Dtype dtype, double number = 0, bool root = false);
// As reduce, with the int64 positions of the extremum in the one reduced dimension.
std::pair<Tensor, Tensor> reduce_with_index(kernels::Reduction op, const Tensor& x,
                                            const ReducedDims& dims, bool keepdim);

}  // namespace libdl
