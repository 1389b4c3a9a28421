// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/statistics.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

// From here on tests are searched in order; fewer are compared one by one.
constexpr int64_t kMany = 9;

static Tensor among_sorted(const Tensor& x, const Tensor& tests) {
  Tensor keys = std::get<0>(sort(tests));
  if (is_floating(keys.dtype()))  // a NaN is among none
    keys = std::get<0>(sort(where(isnan(keys), narrow(keys, 0, 0, 1), keys)));
  const Tensor most = number(keys.numel() - 1);
  const Tensor at = clamp(searchsorted(keys, x), nullptr, &most);
  return eq(reshape(index_select(keys, 0, flatten(at)), x.shape()), x);
}

// A number as a tensor beside `other`, whose elements it is then compared with as any tensor is.
static Tensor beside(const Tensor& x, const Tensor& other) {
  const Tensor* const operands[] = {&x};
  return x.is_number() ? full({}, x, result_dtype(operands), other.device()) : x;
}

static Tensor among(const Tensor& x, const Tensor& tests) {
  if (tests.numel() == 0) return full(x.shape(), number(false), Dtype::kBool, x.device());
  if (tests.numel() >= kMany && x.dtype() == tests.dtype() && !x.is_complex())
    return among_sorted(x, tests);
  const int64_t last[] = {-1};
  return any(eq(unsqueeze(x, -1), tests), Dims(last));
}

Tensor isin_impl(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/,
                 bool invert) {
  if (elements.is_number() && test_elements.is_number())
    fail_argument(LIBDL_ERROR_TYPE, "isin", "test_elements", "is a number, as elements is",
                  "a tensor in one of them");
  const Tensor x = beside(elements, test_elements), tests = beside(test_elements, elements);
  const Tensor found = among(x, flatten(tests));
  return invert ? logical_not(found) : found;
}

}  // namespace libdl
