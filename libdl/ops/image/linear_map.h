// SPDX-License-Identifier: Apache-2.0

// Linear functions of one tensor: the gradient of each is its transpose, whose gradient is the
// function itself.
#pragma once

#include "ops/core/call.h"

namespace libdl {

// A Map has
//   const char *op, *backward;  names: the function's and its gradient's
//   Tensor run(const Tensor& x, bool transposed) const;  unrecorded: a new tensor of x's dtype
template <class Map>
struct Directed {
  Map map;
  bool transposed;
};

template <class Map, class F>
Tensor apply_as(const Map& map, const Tensor& x, bool transposed, F run);

template <class Map>
Tensor apply(const Map& map, const Tensor& x, bool transposed = false) {
  return apply_as(map, x, transposed, [&] { return map.run(x, transposed); });
}

template <class Map>
Tensor gradient_of(const Map& map, const Tensor& dy, bool transposed) {
  LIBDL_OBSERVED_PART(map.backward, gradient_of(map, dy, transposed), dy);
  return apply(map, dy, transposed);
}

template <class Map>
void linear_vjp(Backward& b) {
  const auto& a = b.attr<Directed<Map>>();
  b.set_grad(0, gradient_of(a.map, b.dy(), !a.transposed));
}

// The same with a `run` that may add a constant to the map's result.
template <class Map, class F>
Tensor apply_as(const Map& map, const Tensor& x, bool transposed, F run) {
  static const Rule kRule{"linear", linear_vjp<Map>};
  Call call(map.op, {}, {&x});
  Tensor y = run();
  if (call.is_unrecorded()) return call.done(std::move(y));
  y = call.done(std::move(y), renamed(kRule, map.op), Directed<Map>{map, transposed});
  if (call.forward()) call.jvp(y, [&] { return apply(map, call.tangent(0), transposed); });
  return y;
}

// The 16-bit dtypes are computed in float32.
inline Dtype computed_as(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16 ? Dtype::kFloat32 : dtype;
}

}  // namespace libdl
