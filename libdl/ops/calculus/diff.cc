// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/calculus.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

// Whether the shapes differ along dim alone.
static void check_beside(const char* name, const Tensor& part, const Tensor& x, int dim) {
  bool fits = part.ndim() == x.ndim();
  for (int d = 0; fits && d < x.ndim(); ++d) fits = d == dim || part.size(d) == x.size(d);
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, "diff", name, "has shape " + to_string(part.shape()),
                  "that of input, " + to_string(x.shape()) + ", except along dimension " +
                      std::to_string(dim));
}

Tensor diff_impl(const Tensor& input, int64_t n, int32_t dim, const Tensor* prepend,
                 const Tensor* append) {
  if (input.ndim() == 0) fail_argument(LIBDL_ERROR_VALUE, "diff", "input", "is 0-d", "dimensions");
  if (n < 0) fail_argument(LIBDL_ERROR_VALUE, "diff", "n", "is " + std::to_string(n), "0 or more");
  if (n == 0 && !prepend && !append) return clone(input);
  const int at = checked_axis("diff", "dim", dim, input.ndim());
  if (prepend) check_beside("prepend", *prepend, input, at);
  if (append) check_beside("append", *append, input, at);
  if (n == 0) return clone(input);
  std::vector<Tensor> parts;
  for (const Tensor* part : {prepend, &input, append})
    if (part) parts.push_back(*part);
  Tensor x = parts.size() > 1 ? cat(parts, at) : input;
  const int64_t times = std::min(n, x.size(at));
  if (times == 0) return clone(x);
  for (int64_t i = 0; i < times; ++i) {
    const int64_t size = x.size(at) - 1;
    const Tensor after = narrow(x, at, 1, size), before = narrow(x, at, 0, size);
    x = x.dtype() == Dtype::kBool ? logical_xor(after, before) : sub(after, before);
  }
  return x;
}

}  // namespace libdl
