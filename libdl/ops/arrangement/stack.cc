// SPDX-License-Identifier: Apache-2.0

// Tensors of few dimensions given more of them, and joined.
#include "entries/arrangement.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/image.h"
#include "entries/join.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

// -- dimensions -----------------------------------------------------------------------------------

Tensor atleast_1d_impl(const Tensor& input) {
  return input.ndim() >= 1 ? input : reshape(input, Shape{1});
}

Tensor atleast_2d_impl(const Tensor& input) {
  return input.ndim() >= 2 ? input : reshape(input, Shape{1, input.numel()});
}

Tensor atleast_3d_impl(const Tensor& input) {
  if (input.ndim() >= 3) return input;
  return input.ndim() == 2 ? unsqueeze(input, 2) : reshape(input, Shape{1, input.numel(), 1});
}

static Tensor as_column(const Tensor& x) {
  return x.ndim() >= 2 ? x : reshape(x, Shape{x.numel(), 1});
}

static std::vector<Tensor> each(Tensor (*raised)(const Tensor&), TensorSpan tensors) {
  std::vector<Tensor> results;
  results.reserve(tensors.size());
  for (const Tensor& x : tensors) results.push_back(raised(x));
  return results;
}

// -- joined ---------------------------------------------------------------------------------------

Tensor hstack_impl(TensorSpan tensors) {
  const std::vector<Tensor> parts = each(atleast_1d, tensors);
  return cat(parts, !parts.empty() && parts[0].ndim() > 1 ? 1 : 0);
}

Tensor vstack_impl(TensorSpan tensors) { return cat(each(atleast_2d, tensors), 0); }

Tensor dstack_impl(TensorSpan tensors) { return cat(each(atleast_3d, tensors), 2); }

Tensor column_stack_impl(TensorSpan tensors) { return cat(each(as_column, tensors), 1); }

// -- one after the other in both dimensions -------------------------------------------------------

Tensor block_diag_impl(TensorSpan tensors) {
  if (tensors.empty()) return empty(Shape{1, 0}, Dtype::kNone, std::nullopt);
  std::vector<Tensor> blocks = each(atleast_2d, tensors);
  std::vector<const Tensor*> operands;  // of which 0-d ones do not count as [1, 1] for the dtype
  for (const Tensor& x : tensors) operands.push_back(&x);
  const Dtype dtype = result_dtype(operands);
  int64_t columns = 0;
  for (const Tensor& x : blocks) {
    if (x.ndim() > 2)
      fail_argument(LIBDL_ERROR_SHAPE, "block_diag", "tensors",
                    "holds shape " + to_string(x.shape()) + " at position " +
                        std::to_string(&x - blocks.data()),
                    "matrices, vectors or 0-d tensors");
    if (__builtin_add_overflow(columns, x.size(1), &columns))
      fail_argument(LIBDL_ERROR_OVERFLOW, "block_diag", "tensors", "have too many columns",
                    "fewer than 2^63");
  }
  int64_t left = 0;
  for (Tensor& x : blocks) {
    const int64_t width = x.size(1), beside[] = {left, columns - left - width};
    x = pad(to(x, dtype, std::nullopt), beside, "constant");
    left += width;
  }
  return cat(blocks, 0);
}

}  // namespace libdl
