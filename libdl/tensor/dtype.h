// SPDX-License-Identifier: Apache-2.0

// Element types and how they combine.
#pragma once

#include <libdl/dtype.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>

namespace libdl {

enum class Dtype : int32_t {
  kNone = LIBDL_DTYPE_NONE,
  kBool = LIBDL_DTYPE_BOOL,
  kUint8 = LIBDL_DTYPE_UINT8,
  kUint16 = LIBDL_DTYPE_UINT16,
  kUint32 = LIBDL_DTYPE_UINT32,
  kUint64 = LIBDL_DTYPE_UINT64,
  kInt8 = LIBDL_DTYPE_INT8,
  kInt16 = LIBDL_DTYPE_INT16,
  kInt32 = LIBDL_DTYPE_INT32,
  kInt64 = LIBDL_DTYPE_INT64,
  kFloat16 = LIBDL_DTYPE_FLOAT16,
  kBfloat16 = LIBDL_DTYPE_BFLOAT16,
  kFloat32 = LIBDL_DTYPE_FLOAT32,
  kFloat64 = LIBDL_DTYPE_FLOAT64,
  kComplex64 = LIBDL_DTYPE_COMPLEX64,
  kComplex128 = LIBDL_DTYPE_COMPLEX128,
};
constexpr int kDtypes = 16;

// Bool < integer < float < complex. An operand of a lower class (0-d tensor, host number) only
// counts if its category is higher.
enum class Category : int8_t { kBool, kInteger, kFloat, kComplex };

namespace detail {
constexpr int8_t kSizes[kDtypes] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
}  // namespace detail

constexpr bool is_dtype(int32_t number) { return number > 0 && number < kDtypes; }
constexpr int64_t size_of(Dtype t) { return detail::kSizes[static_cast<int>(t)]; }
constexpr bool is_floating(Dtype t) { return t >= Dtype::kFloat16 && t <= Dtype::kFloat64; }
constexpr bool is_complex(Dtype t) { return t >= Dtype::kComplex64; }
constexpr bool is_inexact(Dtype t) { return t >= Dtype::kFloat16; }
constexpr bool is_integral(Dtype t) { return t >= Dtype::kUint8 && t <= Dtype::kInt64; }
constexpr bool is_signed(Dtype t) { return t >= Dtype::kInt8 && t <= Dtype::kInt64; }
constexpr Category category(Dtype t) {
  return is_complex(t)       ? Category::kComplex
         : is_floating(t)    ? Category::kFloat
         : t == Dtype::kBool ? Category::kBool
                             : Category::kInteger;
}
// float32 for complex64, float64 for complex128, itself for real dtypes.
constexpr Dtype real_of(Dtype t) {
  return t == Dtype::kComplex64 ? Dtype::kFloat32 : t == Dtype::kComplex128 ? Dtype::kFloat64 : t;
}
// complex64 for float32 and the half types, complex128 for float64, itself for complex dtypes.
constexpr Dtype complex_of(Dtype t) {
  return is_complex(t) ? t : t == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
}

constexpr double largest_finite(Dtype floating) {
  switch (floating) {
    case Dtype::kFloat16: return 65504.0;
    case Dtype::kBfloat16: return 0x1.FEp127;
    case Dtype::kFloat32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

const char* name_of(Dtype t);

// The dtype of a result computed from both, from the dtypes alone; PyTorch's lattice. Unsigned 16-,
// 32- and 64-bit integers promote with signed ones to int64.
Dtype promote(Dtype a, Dtype b);

// Whether a value of `from` may be stored into an existing tensor of `to`.
constexpr bool can_cast(Dtype from, Dtype to) { return category(from) <= category(to); }

}  // namespace libdl
