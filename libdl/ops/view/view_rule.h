// SPDX-License-Identifier: Apache-2.0

// How views are recorded: each remembers its call, which can be replayed on another tensor.
#pragma once

#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/view/view.h"

namespace libdl {

struct ViewCall {
  enum Kind : int32_t {
    kPermute,
    kReshape,
    kExpand,
    kSelect,
    kSlice,
    kDiagonal,
    kUnfold,
    kStrided,
    kReal,
    kComplex
  } kind;
  Shape dims;  // kPermute: the order
  int32_t dim = 0, dim2 = 0;
  int64_t start = 0, length = 0, step = 1;

  explicit ViewCall(Kind k, Shape d = {}) : kind(k), dims(std::move(d)) {}
};

// Makes y, an alias of input, a view of it: tracks it, and records it as the call.
void become_view(const char* op, const Tensor& input, const Tensor& y, const ViewCall& call,
                 ViewKind kind = ViewKind::kElements);
// As become_view, without recording; true if the view should be recorded.
bool follow_view(const Tensor& input, const Tensor& y, const ViewCall& call, ViewKind kind,
                 ViewOrigin origin);

// Throws INDEX for a 0-d tensor.
void require_dim(const char* op, const Tensor& input);

// Throws if input cannot have views.
inline void check_viewed(const char* op, const Tensor& input) {
  if (input.is_number()) [[unlikely]]
    fail_argument(LIBDL_ERROR_VALUE, op, "input", "is a host number", "a tensor");
}

// The view of input with this geometry.
Tensor make_view(const char* op, const Tensor& input, const Geometry& to, const ViewCall& call,
                 ViewKind kind = ViewKind::kElements, Dtype dtype = Dtype::kNone);

// These return aliases that are not views yet, and the calls to turn them into views.
[[gnu::always_inline]] inline Tensor selected(const char* op, const Tensor& input, int at,
                                              int64_t index, ViewCall& call) {
  check_viewed(op, input);
  const int ndim = input.ndim();
  Tensor y = unsealed_alias(input, ndim - 1, input.dtype());
  libdl_tensor& to = *y.get();
  to.offset += index * input.stride(at);
  for (int d = 0, k = 0; d < ndim; ++d) {
    if (d == at) continue;
    to.sizes()[k] = input.size(d);
    to.strides()[k++] = input.stride(d);
  }
  seal(to);
  call.dim = at;
  call.start = index;
  return y;
}
Tensor part(const char* op, const Tensor& input, int at, int64_t start, int64_t length,
            int64_t step, ViewCall& call);

}  // namespace libdl
