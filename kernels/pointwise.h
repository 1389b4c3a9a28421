// SPDX-License-Identifier: Apache-2.0

// kernels/pointwise.def as constants: the expressions' numbers, arities and classes.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels {

enum class Expression : int32_t {
#define POINTWISE(name, inputs, classes, result) name,
#include "kernels/pointwise.def"
#undef POINTWISE
};

struct ExpressionInfo {
  const char* name;
  int32_t inputs;
  const char* classes;
  bool truth;  // the result is bool, whatever the compute class
};

inline constexpr ExpressionInfo kExpressionInfo[] = {
#define LIBDL_RESULT_same false
#define LIBDL_RESULT_truth true
#define POINTWISE(name, inputs, classes, result) {#name, inputs, classes, LIBDL_RESULT_##result},
#include "kernels/pointwise.def"
#undef POINTWISE
#undef LIBDL_RESULT_same
#undef LIBDL_RESULT_truth
};
inline constexpr int kExpressions = sizeof(kExpressionInfo) / sizeof(kExpressionInfo[0]);

// The letter of a class in pointwise.def.
constexpr char class_letter(Class c) {
  switch (c) {
    case Class::kBool: return 'B';
    case Class::kI64: return 'I';
    case Class::kU64: return 'U';
    case Class::kC128: return 'C';
    default: return 'F';
  }
}

constexpr bool has_letter(const char* letters, char letter) {
  for (; *letters != '\0'; ++letters) {
    if (*letters == letter) return true;
  }
  return false;
}

constexpr bool expression_exists(int32_t expression, Class c) {
  return has_letter(kExpressionInfo[expression].classes, class_letter(c));
}

}  // namespace libdl::kernels
