// SPDX-License-Identifier: Apache-2.0

// Row-major copies of what views show.
#include "entries/copy.h"
#include "entries/view.h"
#include "entries/view_copy.h"

namespace libdl {

// One copy, where clone would keep the memory order of a view that has no gaps.
static Tensor copy_of(const Tensor& view) {
  return view.is_contiguous() ? clone(view) : contiguous(view);
}

static std::vector<Tensor> copies_of(std::vector<Tensor> views) {
  for (Tensor& x : views) x = copy_of(x);
  return views;
}

Tensor alias_copy_impl(const Tensor& input) { return copy_of(input); }
Tensor detach_copy_impl(const Tensor& input) { return copy_of(detach(input)); }

// -- in another shape -----------------------------------------------------------------------------

Tensor view_copy_impl(const Tensor& input, Dims shape) { return copy_of(view(input, shape)); }

Tensor view_dtype_copy_impl(const Tensor& input, Dtype dtype) {
  return copy_of(view_dtype(input, dtype));
}

Tensor squeeze_copy_impl(const Tensor& input, std::optional<Dims> dims) {
  return copy_of(squeeze(input, dims));
}

Tensor unsqueeze_copy_impl(const Tensor& input, int32_t dim) {
  return copy_of(unsqueeze(input, dim));
}

Tensor expand_copy_impl(const Tensor& input, Dims shape) { return copy_of(expand(input, shape)); }

Tensor view_as_real_copy_impl(const Tensor& input) { return copy_of(view_as_real(input)); }
Tensor view_as_complex_copy_impl(const Tensor& input) { return copy_of(view_as_complex(input)); }

// -- in another order -----------------------------------------------------------------------------

Tensor transpose_copy_impl(const Tensor& input, int32_t dim0, int32_t dim1) {
  return copy_of(transpose(input, dim0, dim1));
}

Tensor permute_copy_impl(const Tensor& input, Dims dims) { return copy_of(permute(input, dims)); }
Tensor t_copy_impl(const Tensor& input) { return copy_of(t(input)); }

// -- parts ----------------------------------------------------------------------------------------

Tensor select_copy_impl(const Tensor& input, int32_t dim, int64_t index) {
  return copy_of(select(input, dim, index));
}

Tensor narrow_copy_impl(const Tensor& input, int32_t dim, int64_t start, int64_t length) {
  return copy_of(narrow(input, dim, start, length));
}

Tensor slice_copy_impl(const Tensor& input, int32_t dim, std::optional<int64_t> start,
                       std::optional<int64_t> end, int64_t step) {
  return copy_of(slice(input, dim, start, end, step));
}

Tensor diagonal_copy_impl(const Tensor& input, int64_t offset, int32_t dim1, int32_t dim2) {
  return copy_of(diagonal(input, offset, dim1, dim2));
}

Tensor unfold_copy_impl(const Tensor& input, int32_t dimension, int64_t size, int64_t step) {
  return copy_of(unfold(input, dimension, size, step));
}

Tensor as_strided_copy_impl(const Tensor& input, Dims shape, Dims stride,
                            std::optional<int64_t> storage_offset) {
  return copy_of(as_strided(input, shape, stride, storage_offset));
}

// -- lists of parts -------------------------------------------------------------------------------

std::vector<Tensor> split_copy_impl(const Tensor& input, int64_t split_size, int32_t dim) {
  return copies_of(split(input, split_size, dim));
}

std::vector<Tensor> split_with_sizes_copy_impl(const Tensor& input, Dims split_sizes, int32_t dim) {
  return copies_of(split_with_sizes(input, split_sizes, dim));
}

std::vector<Tensor> unbind_copy_impl(const Tensor& input, int32_t dim) {
  return copies_of(unbind(input, dim));
}

}  // namespace libdl
