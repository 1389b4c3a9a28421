// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/rescaled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

template <class T>
static bool leaves_range(const Tensor& variance) {
  constexpr T tiny = sizeof(T) == 4 ? T(0x1p-80) : T(0x1p-900);
  const Tensor held = plain(variance);
  const T* const v = held.read_plain<T>();
  return std::any_of(v, v + held.numel(),
                     [](T x) { return x < tiny || x == std::numeric_limits<T>::infinity(); });
}

// 2^-exponent of each largest magnitude; but no more than makes eps, scaled with it, about 1.
template <class T>
static Tensor scales(const Tensor& largest, double eps) {
  const int most = eps > 0 ? -std::ilogb(eps) / 2 : std::numeric_limits<T>::max_exponent - 2;
  const Tensor from = plain(largest);
  Tensor made = empty(largest.shape(), largest.dtype());
  const T* const x = from.read_plain<T>();
  T* const to = made.overwrite_plain<T>();
  for (int64_t i = 0; i < from.numel(); ++i)
    to[i] = x[i] > 0 && std::isfinite(x[i]) ? std::ldexp(T(1), std::min(-std::ilogb(x[i]), most))
                                            : T(1);
  return made;
}

std::optional<Rescaled> rescaled(const Tensor& x, const Tensor& variance, Dims dims, double eps) {
  const bool wide = x.dtype() == Dtype::kFloat64;
  if (!x.device().is_cpu() || x.numel() == 0 || !(wide || x.dtype() == Dtype::kFloat32)) return {};
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor seen = detach(variance);
  if (!(wide ? leaves_range<double>(seen) : leaves_range<float>(seen))) return {};
  const Tensor largest = amax(abs(detach(x)), dims, true);
  const Tensor scale = wide ? scales<double>(largest, eps) : scales<float>(largest, eps);
  const Tensor once = cast(scale, Dtype::kFloat64);
  return Rescaled{scale, cast(once * eps * once, x.dtype())};
}

Rooted rooted(const Tensor& x, Dims dims, double eps) {
  const Tensor variance = add(mean(square(x), dims, true), number(eps));
  const auto r = rescaled(x, variance, dims, eps);
  if (!r) return {x, rsqrt(variance), Tensor()};
  const Tensor z = x * r->scale;
  return {z, rsqrt(add(mean(square(z), dims, true), r->eps)), r->scale};
}

}  // namespace libdl
