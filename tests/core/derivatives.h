// SPDX-License-Identifier: Apache-2.0

// Checks an operator's rules against differences in double: reverse mode, forward mode, and the
// reverse of the reverse.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "engine/backward.h"
#include "engine/forward.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/tangent.h"

namespace libdl::testing {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

inline Tensor doubles(Dims shape, unsigned seed) {
  std::mt19937_64 random(seed);
  const Tensor x = empty(shape, Dtype::kFloat64);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.update_plain<double>()[i] =
        static_cast<double>(static_cast<int64_t>(random() >> 12)) * 0x1p-51 - 1;
  return x;
}

inline double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = plain(a, Dtype::kFloat64), y = plain(b, Dtype::kFloat64);
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i)
    sum += x.read_plain<double>()[i] * y.read_plain<double>()[i];
  return sum;
}

inline std::vector<Tensor> leaves(const std::vector<Tensor>& values) {
  std::vector<Tensor> made;
  for (const Tensor& x : values) {
    made.push_back(clone(x));
    set_requires_grad(made.back(), true);
  }
  return made;
}

// w · f at x, moved by h along v.
inline double moved(const Function& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v,
                    double h, const Tensor& w) {
  std::vector<Tensor> at;
  for (size_t i = 0; i < x.size(); ++i) {
    at.push_back(clone(x[i]));
    for (int64_t k = 0; k < x[i].numel(); ++k)
      at[i].update_plain<double>()[k] += h * v[i].read_plain<double>()[k];
    written(at[i], "moved");
  }
  return dot(w, f(at));
}

inline void expect_reverse(const Function& f, const std::vector<Tensor>& x, unsigned seed,
                           bool twice) {
  const std::vector<Tensor> at = leaves(x);
  const Tensor y = f(at);
  ASSERT_TRUE(requires_grad(y));
  Tensor w = doubles(y.shape(), seed);
  BackwardOptions options;
  options.create_graph = twice;
  options.materialize = options.allow_unused = true;
  if (twice) set_requires_grad(w, true);
  const Tensor outputs[] = {y}, weights[] = {w};
  const std::vector<Tensor> dx = grad(outputs, at, weights, options);

  for (unsigned trial = 0; trial < 3; ++trial) {
    std::vector<Tensor> v;
    double reverse = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      v.push_back(doubles(x[i].shape(), seed + 10 * trial + static_cast<unsigned>(i) + 1));
      reverse += dot(dx[i], v[i]);
    }
    const double h = 1e-5;
    const double difference = (moved(f, x, v, h, w) - moved(f, x, v, -h, w)) / (2 * h);
    EXPECT_NEAR(reverse, difference, 1e-6 * (1 + std::fabs(difference)));
  }
}

// <w, J v> by forward mode equals <J' w, v> by reverse mode.
inline void expect_forward(const Function& f, const std::vector<Tensor>& x, unsigned seed) {
  std::vector<Tensor> v, at = leaves(x);
  const Tensor y = f(at);
  const Tensor w = doubles(y.shape(), seed);
  BackwardOptions options;
  options.materialize = options.allow_unused = true;
  const Tensor outputs[] = {y}, weights[] = {w};
  const std::vector<Tensor> dx = grad(outputs, at, weights, options);

  const ForwardLevel open;
  double reverse = 0;
  std::vector<Tensor> dual;
  for (size_t i = 0; i < x.size(); ++i) {
    v.push_back(doubles(x[i].shape(), seed + 5 + static_cast<unsigned>(i)));
    reverse += dot(dx[i], v[i]);
    dual.push_back(make_dual(clone(x[i]), v[i], open.level(), "make_dual"));
  }
  const Tensor moved = f(dual);
  const Tensor tangent = tangent_of(moved);
  ASSERT_TRUE(tangent.defined());
  EXPECT_NEAR(dot(w, tangent), reverse, 1e-9 * (1 + std::fabs(reverse)));
}

inline void expect_derivatives(const Function& f, const std::vector<Tensor>& x, unsigned seed = 1) {
  expect_reverse(f, x, seed, false);
  expect_forward(f, x, seed);
  // The gradient as a function of inputs and weights, differentiated again.
  const Shape out(f(x).shape());
  std::vector<Tensor> more = x;
  more.push_back(doubles(out, seed + 77));
  const Function gradient = [&](const std::vector<Tensor>& all) {
    const std::vector<Tensor> at(all.begin(), all.end() - 1);
    std::vector<Tensor> own;
    for (const Tensor& a : at) own.push_back(requires_grad(a) ? a : leaves({a})[0]);
    BackwardOptions options;
    options.create_graph = true;
    const Tensor outputs[] = {f(own)}, weights[] = {all.back()}, inputs[] = {own[0]};
    return grad(outputs, inputs, weights, options)[0];
  };
  expect_reverse(gradient, more, seed + 3, false);
}

}  // namespace libdl::testing
