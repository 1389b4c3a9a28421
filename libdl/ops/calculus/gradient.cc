// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/calculus.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

namespace {

Shape checked_dims(const Tensor& x, std::optional<Dims> dims, int64_t edge_order) {
  Shape each;
  for (int64_t d = 0; !dims && d < x.ndim(); ++d) each.push_back(d);
  for (const int64_t d : dims.value_or(Dims())) {
    const int64_t n = x.ndim(), at = d < 0 ? d + n : d;
    if (at < 0 || at >= n)
      fail_argument(LIBDL_ERROR_INDEX, "gradient", "dims", "names " + std::to_string(d),
                    std::to_string(-n) + " to " + std::to_string(n - 1));
    for (const int64_t other : each)
      if (other == at)
        fail_argument(
            LIBDL_ERROR_VALUE, "gradient", "dims",
            "is " + to_string(*dims) + " and names dimension " + std::to_string(at) + " twice",
            "each once");
    each.push_back(at);
  }
  for (const int64_t d : each)
    if (x.size(static_cast<int>(d)) <= edge_order)
      fail_argument(LIBDL_ERROR_SHAPE, "gradient", "input",
                    "has size " + std::to_string(x.size(static_cast<int>(d))) + " in dimension " +
                        std::to_string(d),
                    std::to_string(edge_order + 1) + " or more");
  return each;
}

// The distances of neighbours along dim: 0-d, or for each pair, with ones for the other dimensions.
Tensor distances(const Tensor& x, int dim, const Tensor* spacing) {
  if (!spacing) return to(number(1.0), x.dtype(), {});
  if (category(spacing->dtype()) > category(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, "gradient", "spacing",
                  std::string("holds ") + name_of(spacing->dtype()), "numbers of input's kind");
  if (spacing->ndim() == 0) return to(*spacing, x.dtype(), {});
  if (spacing->ndim() != 1 || spacing->size(0) != x.size(dim))
    fail_argument(LIBDL_ERROR_SHAPE, "gradient", "spacing",
                  "holds shape " + to_string(spacing->shape()),
                  "[" + std::to_string(x.size(dim)) + "]");
  Shape shape(static_cast<size_t>(x.ndim()), 1);
  shape[static_cast<size_t>(dim)] = x.size(dim) - 1;
  return reshape(diff(*spacing), shape);
}

Tensor derivatives(const Tensor& x, int dim, const Tensor* spacing, bool parabola) {
  const int64_t n = x.size(dim);
  const auto part = [dim](const Tensor& t, int64_t start, int64_t length) {
    return t.ndim() ? narrow(t, dim, start, length) : t;
  };
  const Tensor h = distances(x, dim, spacing);
  const Tensor lines = div(diff(x, 1, dim), h);  // between neighbours
  Tensor first = part(lines, 0, 1), last = part(lines, n - 2, 1);
  if (n == 2) return cat(std::array{first, last}, dim);
  const Tensor before = part(h, 0, n - 2), after = part(h, 1, n - 2);
  const Tensor left = part(lines, 0, n - 2), right = part(lines, 1, n - 2);
  // Over even distances without the place itself, whose value may be infinite.
  const Tensor rise = h.ndim() ? add(mul(after, left), mul(before, right))
                               : sub(part(x, 2, n - 2), part(x, 0, n - 2));
  const Tensor inner = div(rise, add(before, after));
  if (parabola) {  // whose slope changes evenly
    const Tensor two = number(int64_t{2});
    first = sub(mul(first, two), part(inner, 0, 1));
    last = sub(mul(last, two), part(inner, n - 3, 1));
  }
  return cat(std::array{first, inner, last}, dim);
}

}  // namespace

std::vector<Tensor> gradient_impl(const Tensor& input, TensorSpan spacing, std::optional<Dims> dims,
                                  int64_t edge_order) {
  if (edge_order != 1 && edge_order != 2)
    fail_argument(LIBDL_ERROR_VALUE, "gradient", "edge_order", "is " + std::to_string(edge_order),
                  "1 or 2");
  const Shape each = checked_dims(input, dims, edge_order);
  if (!spacing.empty() && spacing.size() != each.size())
    fail_argument(LIBDL_ERROR_VALUE, "gradient", "spacing",
                  "has " + std::to_string(spacing.size()) + " entries",
                  std::to_string(each.size()));
  const Tensor x = is_inexact(input.dtype()) ? input : mul(input, number(1.0));
  std::vector<Tensor> gradients;
  gradients.reserve(each.size());
  for (size_t i = 0; i < each.size(); ++i)
    gradients.push_back(derivatives(x, static_cast<int>(each[i]),
                                    spacing.empty() ? nullptr : &spacing[i], edge_order == 2));
  return gradients;
}

}  // namespace libdl
