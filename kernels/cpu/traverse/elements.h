// SPDX-License-Identifier: Apache-2.0

// Element types as kernels see them: by size for moving values, by dtype for computing with them.
#pragma once

#include <libdl/dtype.h>

#include <complex>
#include <cstdint>

#include "kernels/half.h"

namespace libdl::kernels::cpu {

// Moving only depends on the size. may_alias: the bytes belong to elements of other types.
template <class Bits>
struct __attribute__((__may_alias__)) Cell {
  Bits bits;
};
struct Sixteen {
  uint64_t low, high;
};

struct Half {
  using Compute = float;
  uint16_t bits;
  static Half store(float value) { return {float16_from_float(value)}; }
  float load() const { return float_from_float16(bits); }
};
struct Bfloat {
  using Compute = float;
  uint16_t bits;
  static Bfloat store(float value) { return {bfloat16_from_float(value)}; }
  float load() const { return float_from_bfloat16(bits); }
};
// bool: addition is or, multiplication is and; bytes other than 0 and 1 count as true.
struct Truth {
  using Compute = bool;
  uint8_t bits;
  static Truth store(bool value) { return {static_cast<uint8_t>(value)}; }
  bool load() const { return bits != 0; }
};
// Signed overflow wraps: integers compute in their unsigned type and compare in their own.
template <class T>
struct Number {
  using Compute = T;
  T value;
  static Number store(T value) { return {value}; }
  T load() const { return value; }
};

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<std::complex<T>> = true;

constexpr int64_t element_size(int32_t dtype) {
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

// Calls f(Cell<...>{}) with the cell of this dtype's size.
template <class F>
void with_cell(int32_t dtype, const F& f) {
  switch (element_size(dtype)) {
    case 1: return f(Cell<uint8_t>{});
    case 2: return f(Cell<uint16_t>{});
    case 4: return f(Cell<uint32_t>{});
    case 8: return f(Cell<uint64_t>{});
    default: return f(Cell<Sixteen>{});
  }
}

// Calls f(Element{}) with the arithmetic element of this dtype.
template <class F>
void with_element(int32_t dtype, const F& f) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL: return f(Truth{});
    case LIBDL_DTYPE_UINT8: return f(Number<uint8_t>{});
    case LIBDL_DTYPE_UINT16: return f(Number<uint16_t>{});
    case LIBDL_DTYPE_UINT32: return f(Number<uint32_t>{});
    case LIBDL_DTYPE_UINT64: return f(Number<uint64_t>{});
    case LIBDL_DTYPE_INT8: return f(Number<int8_t>{});
    case LIBDL_DTYPE_INT16: return f(Number<int16_t>{});
    case LIBDL_DTYPE_INT32: return f(Number<int32_t>{});
    case LIBDL_DTYPE_INT64: return f(Number<int64_t>{});
    case LIBDL_DTYPE_FLOAT16: return f(Half{});
    case LIBDL_DTYPE_BFLOAT16: return f(Bfloat{});
    case LIBDL_DTYPE_FLOAT32: return f(Number<float>{});
    case LIBDL_DTYPE_FLOAT64: return f(Number<double>{});
    case LIBDL_DTYPE_COMPLEX64: return f(Number<std::complex<float>>{});
    case LIBDL_DTYPE_COMPLEX128: return f(Number<std::complex<double>>{});
  }
}

// Calls f(int64_t or int32_t) for an index view's dtype.
template <class F>
void with_index(int32_t dtype, const F& f) {
  if (dtype == LIBDL_DTYPE_INT32) return f(int32_t{});
  f(int64_t{});
}

// Negative indices count from the end.
inline int64_t wrap(int64_t index, int64_t size) { return index + (index < 0 ? size : 0); }

}  // namespace libdl::kernels::cpu
