// SPDX-License-Identifier: Apache-2.0

// Views of the same bytes as another dtype.
#include <algorithm>

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view.h"
#include "ops/view/view_rule.h"

namespace libdl {

Tensor view_as_real_impl(const Tensor& input) {
  if (!input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, "view_as_real", "input",
                  std::string("is ") + name_of(input.dtype()), "a complex dtype");
  if (input.is_number()) return view_as_real(clone(input));
  if (input.ndim() == kMaxDims)
    fail_argument(LIBDL_ERROR_SHAPE, "view_as_real", "input", "has 64 dimensions", "at most 63");
  Geometry to = geometry_of(input);
  to.offset *= 2;
  for (int64_t& s : to.strides) s *= 2;
  to.shape.push_back(2);
  to.strides.push_back(1);
  return make_view("view_as_real", input, to, ViewCall{ViewCall::kReal}, ViewKind::kReal,
                   real_of(input.dtype()));
}

Tensor view_as_complex_impl(const Tensor& input) {
  const auto bad = [&](libdl_error_code code, const std::string& found,
                       const char* wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(code, "view_as_complex", "input", found, wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (input.dtype() != Dtype::kFloat32 && input.dtype() != Dtype::kFloat64)
    bad(LIBDL_ERROR_DTYPE, std::string("is ") + name_of(input.dtype()), "float32 or float64");
  const int last = input.ndim() - 1;
  if (last < 0 || input.size(last) != 2)
    bad(LIBDL_ERROR_SHAPE, "has shape " + to_string(input.shape()), "a last dimension of 2");
  bool even = input.stride(last) == 1 && input.offset() % 2 == 0;
  for (int d = 0; d < last; ++d) even &= input.stride(d) % 2 == 0 || input.size(d) == 1;
  if (!even && input.numel() > 0)
    bad(LIBDL_ERROR_SHAPE, "has strides " + to_string(input.strides()),
        "a last stride of 1 and even others, at an even offset");
  Geometry to = geometry_of(input);
  to.offset /= 2;
  to.shape.pop_back();
  to.strides.pop_back();
  for (int64_t& s : to.strides) s /= 2;
  return make_view("view_as_complex", input, to, ViewCall{ViewCall::kComplex}, ViewKind::kComplex,
                   complex_of(input.dtype()));
}

Tensor real_impl(const Tensor& input) {
  return input.is_complex() ? select(view_as_real(input), -1, 0) : input;
}
Tensor imag_impl(const Tensor& input) {
  if (!input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, "imag", "input", std::string("is ") + name_of(input.dtype()),
                  "a complex dtype");
  return select(view_as_real(input), -1, 1);
}

Tensor view_dtype_impl(const Tensor& input, Dtype dtype) {
  const char* const op = "view_dtype";
  if (dtype == Dtype::kNone) fail_argument(LIBDL_ERROR_DTYPE, op, "dtype", "is absent", "a dtype");
  if (input.is_number()) return view_dtype(clone(input), dtype);
  if (dtype == input.dtype())
    return make_view(op, input, geometry_of(input), ViewCall{ViewCall::kReshape});
  if ((state().mode & kModeGrad) && has_history(input))
    fail_argument(
        LIBDL_ERROR_AUTOGRAD, op, "input",
        "requires grad, which bytes seen as " + std::string(name_of(dtype)) + " cannot have",
        "detach() of it");
  Geometry to = geometry_of(input);
  const int64_t from = size_of(input.dtype()), into = size_of(dtype);
  const auto bad = [&](const std::string& found, const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", found, wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (from != into) {
    const int last = input.ndim() - 1;
    if (last < 0) bad("is 0-d", "a last dimension to stretch or fold");
    if (input.size(last) > 1 && input.stride(last) != 1 && input.numel() > 0)
      bad("has last stride " + std::to_string(input.stride(last)), "1");
    to.strides[last] = 1;
    const int64_t fold = into / std::max<int64_t>(from, 1), stretch = from / into;
    if (into > from) {
      bool even = input.size(last) % fold == 0 && input.offset() % fold == 0;
      for (int d = 0; d < last; ++d) even &= input.stride(d) % fold == 0 || input.size(d) == 1;
      if (!even)
        bad("has shape " + to_string(input.shape()) + " and strides " + to_string(input.strides()),
            "sizes, strides and an offset divisible by " + std::to_string(fold));
      to.shape[last] /= fold;
      to.offset /= fold;
      for (int d = 0; d < last; ++d) to.strides[d] /= fold;
    } else {
      to.shape[last] *= stretch;
      to.offset *= stretch;
      for (int d = 0; d < last; ++d) to.strides[d] *= stretch;
    }
  }
  Tensor y = alias(input, to.shape, to.strides, to.offset, dtype);
  track_view(y, input, ViewKind::kBytes);
  return y;
}

Tensor detach_impl(const Tensor& input) { return alias(input); }

}  // namespace libdl
