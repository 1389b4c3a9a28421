// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/statistics.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/reduction/reduction.h"

namespace libdl {

// -- without NaN ----------------------------------------------------------------------------------

Tensor nansum_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Dtype dtype,
                   Into into) {
  const char* const op = "nansum";
  if (input.is_complex())
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a real dtype");
  const Named named(op);
  return rename_error(op, {{"input", "input"}, {"dims", "dims"}}, [&] {
    const bool inexact = is_floating(input.dtype());
    const Tensor x = inexact ? masked_fill(input, isnan(input), number(int64_t{0})) : input;
    const Dtype own = inexact ? input.dtype() : Dtype::kInt64;
    const Dtype type = dtype == Dtype::kNone ? term_dtype(own, into) : dtype;
    return write_result(op, named(sum(x, dims, keepdim, type)), into, {&input});
  });
}

// The sum need not be finite where the mean is; nor, in 16 bits, need the count.
static Dtype wider(Dtype dtype) { return size_of(dtype) == 2 ? Dtype::kFloat32 : Dtype::kFloat64; }

Tensor nanmean_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Dtype dtype,
                    Into into) {
  const char* const op = "nanmean";
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  const Named named(op);
  return rename_error(op, {{"input", "input"}, {"dims", "dims"}}, [&] {
    const Tensor count = sum(logical_not(isnan(input)), dims, keepdim);
    const bool own = dtype == Dtype::kNone || dtype == input.dtype();
    const Tensor total = nansum(input, dims, keepdim, own ? wider(input.dtype()) : dtype);
    const Tensor mean = div(total, count);
    return write_result(op, named(own ? to(mean, input.dtype(), {}) : mean), into, {&input});
  });
}

// -- both moments ---------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> var_mean_impl(const Tensor& input, std::optional<Dims> dims,
                                         const Tensor* correction, bool keepdim) {
  return {var(input, dims, correction, keepdim), mean(input, dims, keepdim)};
}
std::tuple<Tensor, Tensor> std_mean_impl(const Tensor& input, std::optional<Dims> dims,
                                         const Tensor* correction, bool keepdim) {
  return {std(input, dims, correction, keepdim), mean(input, dims, keepdim)};
}

}  // namespace libdl
