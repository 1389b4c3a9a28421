// SPDX-License-Identifier: Apache-2.0

// An operand as kernels see it, and the queries that every kernel needs first.
#pragma once

#include <libdl/dtype.h>

#include <cstdint>

namespace libdl::kernels {

constexpr int kMaxDims = 64;

// Sizes and strides are in elements and are valid during the call.
struct View {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t ndim;
  int32_t dtype;  // libdl_dtype
};

constexpr int dtype_bytes(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL:
    case LIBDL_DTYPE_UINT8:
    case LIBDL_DTYPE_INT8: return 1;
    case LIBDL_DTYPE_UINT16:
    case LIBDL_DTYPE_INT16:
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return 2;
    case LIBDL_DTYPE_UINT32:
    case LIBDL_DTYPE_INT32:
    case LIBDL_DTYPE_FLOAT32: return 4;
    case LIBDL_DTYPE_COMPLEX128: return 16;
    default: return 8;
  }
}

constexpr int64_t numel(const View& view) {
  int64_t n = 1;
  for (int d = 0; d < view.ndim; ++d) n *= view.sizes[d];
  return n;
}

// Row-major without gaps. Out of line, because callers handle the usual shapes themselves first.
[[gnu::noinline]] inline bool is_dense(const View& view) {
  int64_t expected = 1;
  for (int d = view.ndim - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.sizes[d];
  }
  return true;
}

}  // namespace libdl::kernels
