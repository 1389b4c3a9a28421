// SPDX-License-Identifier: Apache-2.0

// How views are recorded: each remembers its call, which can be replayed on another tensor.
#pragma once

#include "ops/view.h"

namespace libdl {

struct ViewCall {
  enum Kind : int32_t {
    kPermute, kReshape, kExpand, kSelect, kSlice, kDiagonal, kUnfold, kStrided, kReal, kComplex
  } kind;
  Shape dims;  // kPermute: the order
  int32_t dim = 0, dim2 = 0;
  int64_t start = 0, length = 0, step = 1;

  explicit ViewCall(Kind k, Shape d = {}) : kind(k), dims(std::move(d)) {}
};

// y, an alias of input, becomes a view of it: tracked, and recorded as the call.
void become_view(const char* op, const Tensor& input, const Tensor& y, const ViewCall& call,
                 ViewKind kind = ViewKind::kPlain, ViewOrigin origin = ViewOrigin::kRecorded);

// dim in [-ndim, ndim) as [0, ndim); a 0-d tensor counts as one dimension.
int view_axis(const char* op, int argument, const char* name, int64_t dim, int64_t ndim);

// Throws where a view of input cannot be.
inline void check_viewed(const char* op, const Tensor& input) {
  if (input.is_number()) [[unlikely]]
    fail_argument(LIBDL_ERROR_VALUE, op, 1, "input", "is a host number", "a tensor");
}

// The view of input with this geometry.
Tensor make_view(const char* op, const Tensor& input, const Geometry& to, const ViewCall& call,
                 ViewKind kind = ViewKind::kPlain, Dtype dtype = Dtype::kNone);

Tensor select_view(const char* op, const Tensor& input, int at, int64_t index,
                   ViewOrigin origin = ViewOrigin::kRecorded);

}  // namespace libdl
