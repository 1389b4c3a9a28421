// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/primitive/summed.h"
#include "runtime/log.h"

namespace libdl {

// Sums of 16 bits need not be finite where a covariance is.
static bool is_narrow(Dtype dtype) { return summed_as(dtype) != dtype; }

static void check_weights(const char* name, const Tensor& weights, int64_t count, bool whole) {
  if (weights.ndim() != 1 || weights.size(0) != count)
    fail_argument(LIBDL_ERROR_SHAPE, "cov", name, "has shape " + to_string(weights.shape()),
                  "[" + std::to_string(count) + "]");
  if (weights.is_complex() || is_floating(weights.dtype()) == whole)
    fail_argument(LIBDL_ERROR_DTYPE, "cov", name, std::string("is ") + name_of(weights.dtype()),
                  whole ? "integers" : "floating numbers");
  if (!is_meta(weights.device()) && item_bool(any(lt(weights, number(int64_t{0})))))
    fail_argument(LIBDL_ERROR_VALUE, "cov", name, "holds a negative number", "none");
}

static void warn_of_too_few() {
  warn("cov: there are no more observations than correction says, so the result is not finite");
}

// x x* / left for centred rows, one column of which counts as often as its weight says.
static Tensor products(const Tensor& centred, const Tensor& weighted, const Tensor& left) {
  return squeeze(div(matmul(centred, conj(transpose(weighted, 0, 1))), left));
}

static Tensor cov_plain(const Tensor& x, int64_t correction) {
  const int64_t columns[] = {1}, left = x.size(1) - correction;
  const Tensor terms = is_inexact(x.dtype()) ? x : mul(x, number(1.0));
  const Tensor centred = sub(x, mean(terms, Dims(columns), true));
  if (left <= 0) warn_of_too_few();
  return products(centred, centred, number(std::max<int64_t>(left, 0)));
}

static Tensor cov_weighted(const Tensor& x, int64_t correction, const Tensor& weights,
                           const Tensor* aweights) {
  const int64_t columns[] = {1};
  const Tensor total = sum(weights);
  if (!is_meta(total.device()) && !item_bool(total))
    fail(LIBDL_ERROR_VALUE, "cov", "the weights are 0 in sum, wanted a sum to divide by");
  Tensor lost = number(correction);
  if (aweights && correction != 0) lost = div(mul(lost, sum(mul(weights, *aweights))), total);
  Tensor left = sub(total, lost);
  if (!is_meta(left.device()) && item_bool(le(left, number(int64_t{0})))) {
    warn_of_too_few();
    left = number(int64_t{0});
  }
  const Tensor centred = sub(x, div(sum(mul(x, weights), Dims(columns), true), total));
  return products(centred, mul(centred, to(weights, centred.dtype(), {})), left);
}

Tensor cov_impl(const Tensor& input, int64_t correction, const Tensor* fweights,
                const Tensor* aweights) {
  if (input.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, "cov", "input", "is bool", "numbers");
  if (input.ndim() > 2)
    fail_argument(LIBDL_ERROR_SHAPE, "cov", "input", "has shape " + to_string(input.shape()),
                  "two dimensions or fewer");
  if (is_narrow(input.dtype()) && (!aweights || aweights->dtype() == input.dtype())) {
    const Tensor wide = aweights ? to(*aweights, Dtype::kFloat32, {}) : Tensor();
    const Tensor y =
        cov_impl(to(input, Dtype::kFloat32, {}), correction, fweights, aweights ? &wide : nullptr);
    return to(y, input.dtype(), {});
  }
  const int64_t row[] = {1, -1};
  const Tensor x = input.ndim() == 2 ? input : reshape(input, Dims(row));
  if (fweights) check_weights("fweights", *fweights, x.size(1), true);
  if (aweights) check_weights("aweights", *aweights, x.size(1), false);
  if (!fweights && !aweights) return cov_plain(x, correction);
  if (!fweights || !aweights)
    return cov_weighted(x, correction, fweights ? *fweights : *aweights, aweights);
  return cov_weighted(x, correction, mul(*fweights, *aweights), aweights);
}

// Each part of a number between -1 and 1, where roundings have led beyond.
static Tensor limited(const Tensor& x) {
  const Tensor least = number(-1.0), most = number(1.0);
  return x.is_complex() ? view_as_complex(clamp(view_as_real(x), &least, &most))
                        : clamp(x, &least, &most);
}

Tensor corrcoef_impl(const Tensor& input) {
  if (is_narrow(input.dtype()))  // a covariance need not be finite there
    return to(corrcoef_impl(to(input, Dtype::kFloat32, {})), input.dtype(), {});
  const Tensor found = cov(input);
  if (found.ndim() == 0) return div(found, found);
  const Tensor variance = diagonal(found.is_complex() ? real(found) : found);
  const Tensor deviation = sqrt(variance);
  return limited(div(div(found, unsqueeze(deviation, 1)), deviation));
}

}  // namespace libdl
