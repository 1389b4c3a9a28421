// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/pooling.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pool/averaged.h"
#include "ops/view/view.h"

namespace libdl {

// -- of windows -----------------------------------------------------------------------------------

static Tensor avg_pool(const Pooled& a, const GivenWindows& given, bool count_include_pad,
                       std::optional<int64_t> divisor) {
  check_real(a);
  check_image(a);
  if (divisor && *divisor == 0)
    a.bad(LIBDL_ERROR_VALUE, "divisor_override", "is 0", "any other number");
  return averaged(a.input,
                  {a.op, a.dims, windows_of(a, given), divisor.value_or(0), count_include_pad});
}

Tensor avg_pool1d_impl(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,
                       std::optional<Dims> padding, bool ceil_mode, bool count_include_pad) {
  return avg_pool({"avg_pool1d", 1, input}, {kernel_size, stride, padding, {}, ceil_mode},
                  count_include_pad, {});
}

#define LIBDL_AVG_POOL(name, dims)                                                        \
  Tensor name##_impl(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,   \
                     std::optional<Dims> padding, bool ceil_mode, bool count_include_pad, \
                     std::optional<int64_t> divisor_override) {                           \
    return avg_pool({#name, dims, input}, {kernel_size, stride, padding, {}, ceil_mode},  \
                    count_include_pad, divisor_override);                                 \
  }
LIBDL_AVG_POOL(avg_pool2d, 2)
LIBDL_AVG_POOL(avg_pool3d, 3)
#undef LIBDL_AVG_POOL

// -- of windows that divide the input -------------------------------------------------------------

// Real and imaginary parts as images of one batch.
static Tensor averaged_parts(const Tensor& x, const Averaged& how) {
  const Named named(how.op);
  const int64_t first[] = {0}, last[] = {-1};
  const bool batched = x.ndim() == how.dims + 2;
  const Tensor parts = movedim(view_as_real(x), last, first);
  const Tensor y = averaged(batched ? flatten(parts, 0, 1) : parts, how);
  const int64_t pairs[] = {2, x.size(0)};
  const Tensor means = batched ? unflatten(y, 0, pairs) : y;
  return named(own(view_as_complex(contiguous(movedim(means, first, last)))));
}

static Tensor adaptive_avg_pool(const Pooled& a, Dims output_size) {
  if (!is_inexact(a.input.dtype()))
    a.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(a.input.dtype()),
          "a floating or complex dtype");
  check_image(a, MayBeEmpty::kBatchAndChannels);
  const Averaged how{a.op, a.dims, adaptive_windows(a, output_size)};
  return a.input.is_complex() ? averaged_parts(a.input, how) : averaged(a.input, how);
}

#define LIBDL_ADAPTIVE_AVG_POOL(name, dims)                      \
  Tensor name##_impl(const Tensor& input, Dims output_size) {    \
    return adaptive_avg_pool({#name, dims, input}, output_size); \
  }
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool1d, 1)
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool2d, 2)
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool3d, 3)
#undef LIBDL_ADAPTIVE_AVG_POOL

// -- of powers ------------------------------------------------------------------------------------

// x^(1 / p); of 0 it is 0 without a slope, which would be infinite.
static Tensor root(const Tensor& x, double p) {
  const Tensor zero = eq(x, number(0.0)), limit = number(p > 0 ? 0.0 : INFINITY);
  return where(zero, limit, pow(where(zero, number(1.0), x), number(1 / p)));
}

// Whether sums of powers of x in float32 have overflowed or vanished; on another device than the
// CPU nobody waits to learn it.
static bool leaves_range_of_floats(const Tensor& sums, const Tensor& powers, const Tensor& x) {
  if (sums.dtype() != Dtype::kFloat32 || !sums.device().is_cpu()) return false;
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor held = plain(detach(sums)), zero = number(0.0);
  const auto* const begin = held.read_plain<float>();
  const auto is_there = [&](auto test) { return std::any_of(begin, begin + held.numel(), test); };
  if (is_there([](float y) { return std::isinf(y) || (y != 0 && std::abs(y) < 0x1p-80f); }))
    return true;
  return is_there([](float y) { return y == 0; }) &&
         item_bool(any(logical_and(eq(detach(powers), zero), ne(detach(x), zero))));
}

// The root of the sum of powers; windows that reach beyond the input have as many elements as all
// others, of the mean's size.
static Tensor lp_pool(const Pooled& a, double norm_type, const GivenWindows& given,
                      decltype(&max_pool2d) max_pool) {
  check_real(a);
  if (norm_type == 0) a.bad(LIBDL_ERROR_VALUE, "norm_type", "is 0", "any other number");
  check_image(a);
  const Averaged how{a.op, a.dims, windows_of(a, given)};
  const Named named(a.op);
  if (std::isinf(norm_type)) {
    const auto largest = [&](const Tensor& x) {
      return max_pool(x, given.kernel_size, given.stride, {}, {}, given.ceil_mode);
    };
    const Tensor size = abs(a.input);
    return named(norm_type > 0 ? largest(size) : neg(largest(neg(size))));
  }
  const int64_t* const window = how.windows.window;
  const double elements = static_cast<double>(window[0]) * static_cast<double>(window[1]) *
                          static_cast<double>(window[2]);
  const Dtype own = a.input.dtype(), wide = size_of(own) < 4 ? Dtype::kFloat32 : own;
  const auto powers_in = [&](Dtype dtype) {
    return pow(is_floating(own) ? cast(a.input, dtype) : a.input, number(norm_type));
  };
  const Tensor powers = powers_in(wide);
  Tensor total = averaged(powers, how) * elements;
  if (leaves_range_of_floats(total, powers, a.input))
    total = averaged(powers_in(Dtype::kFloat64), how) * elements;
  const Tensor y = root(total, norm_type);
  return named(is_floating(own) ? cast(y, own) : y);
}

#define LIBDL_LP_POOL(name, dims)                                                             \
  Tensor name##_impl(const Tensor& input, double norm_type, Dims kernel_size,                 \
                     std::optional<Dims> stride, bool ceil_mode) {                            \
    return lp_pool({#name, dims, input}, norm_type, {kernel_size, stride, {}, {}, ceil_mode}, \
                   max_pool##dims##d);                                                        \
  }
LIBDL_LP_POOL(lp_pool1d, 1)
LIBDL_LP_POOL(lp_pool2d, 2)
LIBDL_LP_POOL(lp_pool3d, 3)
#undef LIBDL_LP_POOL

}  // namespace libdl
