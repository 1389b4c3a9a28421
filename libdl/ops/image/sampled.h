// SPDX-License-Identifier: Apache-2.0

// grid_sample as a composition of operators, which derivatives of any order and forward mode need.
#pragma once

#include <array>

#include "kernels/args/image.h"
#include "ops/core/call.h"

namespace libdl {

class Sampled {
 public:
  Sampled(const Tensor& input, const Tensor& grid, const kernels::Sampling& how);

  Tensor value() const;
  Tensor image_gradient(const Tensor& dy) const;
  Tensor grid_gradient(const Tensor& dy) const;
  Tensor tangent(const Tensor& of_grid) const;  // as the grid moves

 private:
  // What one dimension's coordinates say; tensors of [n, places].
  struct Line {
    std::vector<Tensor> pixel, inside;  // of each tap; inside: in the image along this dimension
    std::vector<Tensor> weight, derivative;  // functions of the grid; derivative: by the coordinate
  };
  struct Tap {
    Tensor pixel, inside;  // [n, 1, places] expanded to all channels
    Tensor weight;         // [n, 1, places]
    std::vector<Tensor> derivatives;
  };
  Line line_of(const Tensor& positions, int d) const;
  Tap tap(int t) const;
  template <class F>
  void each_tap(F f) const;
  Tensor taken(const Tap& tap) const;  // the image's values, 0 outside
  Tensor flat(const Tensor& dy) const;

  kernels::Sampling how_;
  Dtype dtype_;
  Shape in_, out_, grid_;  // shapes
  Tensor image_;           // [n, c, pixels]
  std::vector<Line> lines_;
};

}  // namespace libdl
