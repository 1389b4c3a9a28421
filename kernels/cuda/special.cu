// SPDX-License-Identifier: Apache-2.0

// The special functions: kernels for one real operand, for two and for a complex one. Elements
// of any floating dtype are computed in double.

#include "kernels/cuda/device.h"
#include "kernels/cuda/floating.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/plan.h"

#ifdef LIBDL_KERNELS
#include "kernels/complex_inverse.h"
#include "kernels/cuda/math.h"
#include "kernels/special.h"
#endif

namespace libdl::kernels::cuda {

namespace {

struct SpecialParams {
  Special function;
  int32_t dtype;
  uint32_t constants;  // bit k: in[k] is constant[k]
  int64_t order;
  Element constant[2];
  void* out;
  const void* in[2];
  Geometry<3> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

// Of the floating dtypes or the complex ones only, unlike with_type.
template <class V, class F>
LIBDL_DEVICE void with_inexact_type(int32_t dtype, F&& f) {
  if constexpr (is_complex<V>) {
    return dtype == 14 ? f(static_cast<Complex64*>(nullptr)) : f(static_cast<Complex*>(nullptr));
  } else {
    with_floating(dtype, static_cast<F&&>(f));
  }
}

template <class V>
LIBDL_DEVICE V load_inexact(const void* data, int64_t i, int32_t dtype) {
  V value{};
  with_inexact_type<V>(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    value = value_of<V>(static_cast<const T*>(data)[i]);
  });
  return value;
}

// out = f(in[0], in[1]); a function of one operand is given 0 as the second.
template <class V, int kInputs, class F>
LIBDL_DEVICE void each_element(const SpecialParams& p, F&& f) {
  V x[2] = {};
  LIBDL_UNROLL
  for (int k = 0; k < kInputs; ++k)
    if (p.constants >> k & 1) x[k] = load_inexact<V>(&p.constant[k], 0, p.dtype);
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[3];
    offsets_of(p.geometry, i, offset);
    LIBDL_UNROLL
    for (int k = 0; k < kInputs; ++k)
      if (!(p.constants >> k & 1)) x[k] = load_inexact<V>(p.in[k], offset[k + 1], p.dtype);
    const V y = f(x[0], x[1]);
    with_inexact_type<V>(p.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      static_cast<T*>(p.out)[offset[0]] = element_of<T>(y);
    });
  }
}

// All threads choose the same function, so the branch costs little.
LIBDL_KERNEL(special_real, SpecialParams) {
  each_element<double, 1>(p, [&](double x, double) {
    switch (p.function) {
#define SPECIAL_REAL(name) \
  case Special::name: return special::name(x);
#define SPECIAL_PLANE(name) SPECIAL_REAL(name)
#include "kernels/special.def"
      default: return x;
    }
  });
}

// On its own: it takes more registers than those above.
LIBDL_KERNEL(special_of_order, SpecialParams) {
  each_element<double, 1>(p, [&](double x, double) { return special::polygamma(p.order, x); });
}

LIBDL_KERNEL(special_pair, SpecialParams) {
  each_element<double, 2>(p, [&](double x, double y) {
    switch (p.function) {
#define SPECIAL_PAIR(name) \
  case Special::name: return special::name(x, y);
#include "kernels/special.def"
      default: return x;
    }
  });
}

// The inverse functions of libcu++ lose the digits of small results, so only infinities and NaN go
// there.
namespace plane {
using M = Math<Complex>;
LIBDL_DEVICE Complex sinh(Complex z) { return M::own(::cuda::std::sinh(M::of(z))); }
LIBDL_DEVICE Complex cosh(Complex z) { return M::own(::cuda::std::cosh(M::of(z))); }
#define LIBDL_INVERSE(name)                                                                 \
  LIBDL_DEVICE Complex name(Complex z) {                                                    \
    return M::isfinite(z) ? complex_inverse::name(z) : M::own(::cuda::std::name(M::of(z))); \
  }
LIBDL_INVERSE(asin)
LIBDL_INVERSE(acos)
LIBDL_INVERSE(atan)
LIBDL_INVERSE(asinh)
LIBDL_INVERSE(acosh)
LIBDL_INVERSE(atanh)
#undef LIBDL_INVERSE
}  // namespace plane

LIBDL_KERNEL(special_plane, SpecialParams) {
  each_element<Complex, 1>(p, [&](Complex z, Complex) {
    switch (p.function) {
#define SPECIAL_PLANE(name) \
  case Special::name: return plane::name(z);
#include "kernels/special.def"
      default: return z;
    }
  });
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

const char* kernel_for(const SpecialArgs& a) {
  if (a.out.dtype == LIBDL_DTYPE_COMPLEX64 || a.out.dtype == LIBDL_DTYPE_COMPLEX128)
    return "special_plane";
  if (a.function == Special::polygamma) return "special_of_order";
  return a.inputs == 2 ? "special_pair" : "special_real";
}

}  // namespace

void special(Context& context, const SpecialArgs& a) {
  if (numel(a.out) == 0) return;
  SpecialParams p{};
  p.function = a.function;
  p.dtype = a.out.dtype;
  p.order = a.order;
  launch_each_part(context, kernel_for(a), a, p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
