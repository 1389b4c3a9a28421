// SPDX-License-Identifier: Apache-2.0

// Conversions between the dtypes of memory and the compute classes, over contiguous elements.
//   anything -> bool         is != 0 (a NaN is true)
//   float -> integer         truncates, saturates, NaN gives 0
//   integer -> integer       wraps
//   real -> complex          +0 imaginary part; complex -> real takes the real part
//   -> float16, bfloat16     round to nearest even
#pragma once

#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cpu {

constexpr int kDtypes = LIBDL_DTYPE_COMPLEX128 + 1;

// Converts n elements; the two memories do not overlap.
using ConvertFn = void (*)(const void* from, void* to, int64_t n);

// The dtype in which the class's values are stored unchanged.
constexpr int32_t class_dtype(Class c) {
  switch (c) {
    case Class::kBool: return LIBDL_DTYPE_BOOL;
    case Class::kI64: return LIBDL_DTYPE_INT64;
    case Class::kU64: return LIBDL_DTYPE_UINT64;
    case Class::kF32: return LIBDL_DTYPE_FLOAT32;
    case Class::kF64: return LIBDL_DTYPE_FLOAT64;
    case Class::kC128: return LIBDL_DTYPE_COMPLEX128;
  }
  return LIBDL_DTYPE_NONE;
}

// The class that holds every value of a dtype.
constexpr Class dtype_class(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL: return Class::kBool;
    case LIBDL_DTYPE_UINT64: return Class::kU64;
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32: return Class::kF32;
    case LIBDL_DTYPE_FLOAT64: return Class::kF64;
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: return Class::kC128;
    default: return Class::kI64;
  }
}

// NULL if no conversion is needed: the dtype is the class's own.
ConvertFn convert_to_class(int32_t from, Class to);
ConvertFn convert_from_class(Class from, int32_t to);

}  // namespace libdl::kernels::cpu
