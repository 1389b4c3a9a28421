// SPDX-License-Identifier: Apache-2.0

#include "ops/pool/avg_pool.h"

#include <cmath>

#include "ops/creation/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pool/averaged.h"
#include "ops/pool/max_pool.h"
#include "ops/view/view.h"

namespace libdl {

// -- of windows -----------------------------------------------------------------------------------

static Tensor avg_pool(const Pooled& a, const GivenWindows& given, bool count_include_pad,
                       std::optional<int64_t> divisor) {
  check_real(a);
  check_image(a);
  if (divisor && *divisor == 0)
    a.bad(LIBDL_ERROR_VALUE, 7, "divisor_override", "is 0", "any other number");
  return averaged(a.input,
                  {a.op, a.dims, windows_of(a, given), divisor.value_or(0), count_include_pad});
}

Tensor avg_pool1d(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,
                  std::optional<Dims> padding, bool ceil_mode, bool count_include_pad) {
  LIBDL_OBSERVED(avg_pool1d, input, kernel_size, stride, padding, ceil_mode, count_include_pad);
  return avg_pool({"avg_pool1d", 1, input}, {2, kernel_size, stride, padding, {}, ceil_mode},
                  count_include_pad, {});
}

#define LIBDL_AVG_POOL(name, dims)                                                          \
  Tensor name(const Tensor& input, Dims kernel_size, std::optional<Dims> stride,            \
              std::optional<Dims> padding, bool ceil_mode, bool count_include_pad,          \
              std::optional<int64_t> divisor_override) {                                    \
    LIBDL_OBSERVED(name, input, kernel_size, stride, padding, ceil_mode, count_include_pad, \
                   divisor_override);                                                       \
    return avg_pool({#name, dims, input}, {2, kernel_size, stride, padding, {}, ceil_mode}, \
                    count_include_pad, divisor_override);                                   \
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
    a.bad(LIBDL_ERROR_DTYPE, 1, "input", std::string("is ") + name_of(a.input.dtype()),
          "a floating or complex dtype");
  check_image(a, MayBeEmpty::kBatchAndChannels);
  const Averaged how{a.op, a.dims, adaptive_windows(a, output_size)};
  return a.input.is_complex() ? averaged_parts(a.input, how) : averaged(a.input, how);
}

#define LIBDL_ADAPTIVE_AVG_POOL(name, dims)                      \
  Tensor name(const Tensor& input, Dims output_size) {           \
    LIBDL_OBSERVED(name, input, output_size);                    \
    return adaptive_avg_pool({#name, dims, input}, output_size); \
  }
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool1d, 1)
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool2d, 2)
LIBDL_ADAPTIVE_AVG_POOL(adaptive_avg_pool3d, 3)
#undef LIBDL_ADAPTIVE_AVG_POOL

// -- of powers ------------------------------------------------------------------------------------

// The root of the sum of powers; windows that reach beyond the input have as many elements as all
// others, of the mean's size.
static Tensor lp_pool(const Pooled& a, double norm_type, const GivenWindows& given,
                      decltype(&max_pool2d) max_pool) {
  check_real(a);
  if (norm_type == 0) a.bad(LIBDL_ERROR_VALUE, 2, "norm_type", "is 0", "any other number");
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
  const bool narrow = is_floating(a.input.dtype()) && size_of(a.input.dtype()) < 4;
  const Tensor powers = pow(narrow ? cast(a.input, Dtype::kFloat32) : a.input, number(norm_type));
  const Tensor roots = pow(averaged(powers, how) * elements, number(1 / norm_type));
  return named(narrow ? cast(roots, a.input.dtype()) : roots);
}

#define LIBDL_LP_POOL(name, dims)                                                                  \
  Tensor name(const Tensor& input, double norm_type, Dims kernel_size, std::optional<Dims> stride, \
              bool ceil_mode) {                                                                    \
    LIBDL_OBSERVED(name, input, norm_type, kernel_size, stride, ceil_mode);                        \
    return lp_pool({#name, dims, input}, norm_type, {3, kernel_size, stride, {}, {}, ceil_mode},   \
                   max_pool##dims##d);                                                             \
  }
LIBDL_LP_POOL(lp_pool1d, 1)
LIBDL_LP_POOL(lp_pool2d, 2)
LIBDL_LP_POOL(lp_pool3d, 3)
#undef LIBDL_LP_POOL

}  // namespace libdl
