// SPDX-License-Identifier: Apache-2.0

#include "tensor/dtype.h"

#include <utility>

namespace libdl {

const char* name_of(Dtype t) {
  static constexpr const char* kNames[kDtypes] = {
      "none",  "bool",  "uint8",   "uint16",   "uint32",  "uint64",  "int8",      "int16",
      "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  const auto number = static_cast<int32_t>(t);
  return is_dtype(number) ? kNames[number] : "?";
}

static bool is_unsigned(Dtype t) { return t >= Dtype::kUint8 && t <= Dtype::kUint64; }

static Dtype promote_integers(Dtype a, Dtype b) {
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) >= size_of(b) ? a : b;
  if (is_unsigned(b)) std::swap(a, b);  // a is unsigned, b signed
  if (a != Dtype::kUint8) return Dtype::kInt64;
  return size_of(b) > 1 ? b : Dtype::kInt16;
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (category(a) < category(b)) std::swap(a, b);
  if (category(b) == Category::kBool) return a;
  switch (category(a)) {
    case Category::kInteger: return promote_integers(a, b);
    case Category::kFloat:
      if (category(b) != Category::kFloat) return a;
      if (size_of(a) == size_of(b)) return Dtype::kFloat32;  // float16 with bfloat16
      return size_of(a) > size_of(b) ? a : b;
    default:
      return a == Dtype::kComplex128 || b == Dtype::kComplex128 || b == Dtype::kFloat64
                 ? Dtype::kComplex128
                 : Dtype::kComplex64;
  }
}

}  // namespace libdl
