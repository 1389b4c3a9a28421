// SPDX-License-Identifier: Apache-2.0

// The three bilinear functions that convolutions and all their derivatives are made of. With
//
//   f(x, w, y) = sum over n, k, o, c, t of y[n, k, o] w[k, c, t] x[n, c, i],
//   i = o stride - before + t dilation,
//
// each is the derivative of f by one of its arguments as a function of the other two: by y it is a
// convolution, by x a transposed one.
#pragma once

#include "ops/core/call.h"

namespace libdl {

enum class Role : int32_t { kInput, kWeight, kOutput };  // x, w, y

// The role that a and b leave.
constexpr Role third(Role a, Role b) {
  return static_cast<Role>(3 - static_cast<int32_t>(a) - static_cast<int32_t>(b));
}

// The shapes have a batch, channels and up to three further dimensions, and fit each other.
struct Correlation {
  const char* op = nullptr;  // that was called
  int64_t groups = 1;
  std::array<int64_t, 3> stride{1, 1, 1}, before{}, dilation{1, 1, 1};
  Shape x{}, w{}, y{};

  const Shape& shape(Role role) const {
    return role == Role::kInput ? x : role == Role::kWeight ? w : y;
  }
};

struct RoleTensor {  // an argument of f
  const Tensor& tensor;
  Role role;
};

// The third function of two tensors of equal dtype; bias, if given, is added along dimension 1. Not
// recorded. For the weight, `bias_grad`, if given, gets the sums of y over all but dimension 1.
Tensor correlate(const Correlation& c, RoleTensor a, RoleTensor b, const Tensor* bias = nullptr,
                 Tensor* bias_grad = nullptr);

// The sums over all but dimension 1: the gradient of a bias.
Tensor sum_of_pixels(const Tensor& y);

}  // namespace libdl
