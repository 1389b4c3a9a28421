// SPDX-License-Identifier: Apache-2.0

// Norms of vectors and of matrices, and slices brought to one.
#include <array>
#include <charconv>
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

static std::string text(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

static void require_inexact(const char* op, const char* name, const Tensor& x) {
  if (!is_inexact(x.dtype()))
    fail_argument(LIBDL_ERROR_UNSUPPORTED, op, name, std::string("is ") + name_of(x.dtype()),
                  "a floating or complex dtype");
}

Tensor linalg_vector_norm_impl(const Tensor& x, double ord, std::optional<Dims> dims, bool keepdim,
                               Dtype dtype) {
  require_inexact("linalg_vector_norm", "x", x);
  const Tensor p = number(ord);
  return rename_error("linalg_vector_norm", {{"input", "x"}, {"p", "ord"}, {"dims", "dims"}},
                      [&] { return norm(x, &p, dims, keepdim, dtype); });
}

// -- of all dimensions but one --------------------------------------------------------------------

Tensor norm_except_dim_impl(const Tensor& v, double pow, int32_t dim) {
  const char* const op = "norm_except_dim";
  if (dim < -1 || dim >= v.ndim())
    fail_argument(LIBDL_ERROR_VALUE, op, "dim", "is " + std::to_string(dim),
                  "-1 to " + std::to_string(v.ndim() - 1));
  Shape others;
  for (int d = 0; d < v.ndim(); ++d)
    if (d != dim) others.push_back(d);
  if (dim >= 0 && others.empty()) return abs(v);
  const Tensor p = number(pow);
  return rename_error(op, {{"input", "v"}, {"p", "pow"}},
                      [&] { return dim < 0 ? norm(v, &p) : norm(v, &p, Dims(others), true); });
}

// -- matrices -------------------------------------------------------------------------------------

namespace {

constexpr const char* kMatrixNorm = "linalg_matrix_norm";

struct Sides {
  int rows, columns;

  Sides(const Tensor& x, std::optional<Dims> dims) : rows(x.ndim() - 2), columns(x.ndim() - 1) {
    if (!dims) return;
    const auto at = [&](int64_t d) { return checked_axis(kMatrixNorm, "dims", d, x.ndim()); };
    if (dims->size() == 2) rows = at((*dims)[0]), columns = at((*dims)[1]);
    if (dims->size() != 2 || rows == columns)
      fail_argument(LIBDL_ERROR_VALUE, kMatrixNorm, "dims", "is " + to_string(*dims),
                    "two dimensions");
  }
};

// The largest or the smallest of the sums of sizes along one side.
Tensor chosen_sum(const Tensor& x, int summed, int chosen, bool largest, Dtype dtype) {
  const std::array<int64_t, 1> along{summed}, across{chosen};
  const Tensor sums = sum(abs(x), Dims(along), true, dtype);
  if (!largest) return amin(sums, Dims(across), true);
  // The largest of no sums, as of sizes, is 0.
  return x.size(chosen) == 0 ? sum(sums, Dims(across), true) : amax(sums, Dims(across), true);
}

}  // namespace

Tensor linalg_matrix_norm_impl(const Tensor& input, std::optional<double> ord,
                               std::optional<Dims> dims, bool keepdim, Dtype dtype) {
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, kMatrixNorm, "input", "has shape " + to_string(input.shape()),
                  "2 dimensions or more");
  require_inexact(kMatrixNorm, "input", input);
  const Sides at(input, dims);
  const std::array<int64_t, 2> both{at.rows, at.columns};
  const bool empty = input.size(at.rows) == 0 || input.size(at.columns) == 0;
  if (!ord) return norm(input, nullptr, Dims(both), keepdim, dtype);
  if (*ord == 2 && empty) return sum(abs(input), Dims(both), keepdim, dtype);
  if (std::abs(*ord) == 2)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, kMatrixNorm, "ord", "is " + text(*ord),
                  "Frobenius's norm, 1, -1, inf or -inf: single singular values are not offered");
  if (std::abs(*ord) != 1 && !std::isinf(*ord))
    fail_argument(LIBDL_ERROR_VALUE, kMatrixNorm, "ord", "is " + text(*ord),
                  "Frobenius's norm, 1, -1, inf or -inf");
  const bool columns = std::abs(*ord) == 1;
  const Tensor y = chosen_sum(input, columns ? at.rows : at.columns, columns ? at.columns : at.rows,
                              *ord > 0, dtype);
  return keepdim ? y : own(squeeze(y, Dims(both)));
}

// -- renorm ---------------------------------------------------------------------------------------

Tensor renorm_impl(const Tensor& input, double p, int32_t dim, double maxnorm) {
  if (input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, "renorm", "input", "has shape " + to_string(input.shape()),
                  "two dimensions or more");
  if (!(p > 0)) fail_argument(LIBDL_ERROR_VALUE, "renorm", "p", "is " + text(p), "above 0");
  if (!(maxnorm >= 0))
    fail_argument(LIBDL_ERROR_VALUE, "renorm", "maxnorm", "is " + text(maxnorm), "0 or more");
  const int at = checked_axis("renorm", "dim", dim, input.ndim());
  Shape others;
  for (int d = 0; d < input.ndim(); ++d)
    if (d != at) others.push_back(d);
  const Tensor order = number(p), norms = norm(input, &order, Dims(others), true);
  // 1e-7 is PyTorch's guard against norms close to 0. Where nothing is scaled, neither is a
  // gradient; the quotient's would hold the square of a norm, which may overflow.
  const Tensor scaled = mul(div(input, add(norms, number(1e-7))), number(maxnorm));
  return where(gt(norms, number(maxnorm)), scaled, input);
}

}  // namespace libdl
