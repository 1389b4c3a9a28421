// SPDX-License-Identifier: Apache-2.0

#include "ops/copy/holds.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "entries/copy.h"
#include "ops/copy/item.h"

namespace libdl {

__int128 wide_integer(const Tensor& x) {
  const int64_t bits = integer_bits(x);
  return x.dtype() == Dtype::kUint64 ? static_cast<__int128>(static_cast<uint64_t>(bits)) : bits;
}

static bool is_unsigned(Dtype t) { return is_integral(t) && !is_signed(t); }

// The bits of an integer's magnitude.
static int digits(Dtype t) { return static_cast<int>(8 * size_of(t)) - (is_unsigned(t) ? 0 : 1); }

// From here on a magnitude becomes infinite; the 16-bit types are rounded to first.
static bool becomes_infinite(Dtype floating, double magnitude) {
  switch (floating) {
    case Dtype::kFloat16: return magnitude >= 65520;
    case Dtype::kBfloat16: return magnitude >= 0x1.FFp127;
    case Dtype::kFloat32: return magnitude > std::numeric_limits<float>::max();
    default: return false;
  }
}

bool holds(Dtype dtype, double x) {
  if (is_inexact(dtype)) return std::isinf(x) || !becomes_infinite(real_of(dtype), std::abs(x));
  const double end = std::ldexp(1.0, digits(dtype));
  return x < end && x >= (is_unsigned(dtype) ? 0.0 : -end);  // not for a NaN
}

static bool holds(Dtype dtype, __int128 x) {
  if (is_inexact(dtype)) return holds(dtype, static_cast<double>(x));
  const __int128 end = static_cast<__int128>(1) << digits(dtype);
  return x < end && (is_unsigned(dtype) ? x > -end : x >= -end);
}

static std::string shortest(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return {text, end};
}

bool in_range_of(Dtype integer, __int128 x) {
  return holds(integer, x) && !(is_unsigned(integer) && x < 0);
}

LIBDL_NORETURN [[gnu::cold]] static void reject(const char* op, const char* name,
                                                const std::string& found, Dtype dtype) {
  fail_argument(LIBDL_ERROR_OVERFLOW, op, name, "is " + found,
                std::string("a number that ") + name_of(dtype) + " holds without overflow");
}

void reject_number(const char* op, const char* name, __int128 found, Dtype dtype) {
  reject(op, name,
         found < 0 ? std::to_string(static_cast<int64_t>(found))
                   : std::to_string(static_cast<uint64_t>(found)),
         dtype);
}

void check_holds(const char* op, const char* name, const Tensor& value, Dtype dtype) {
  if (dtype == Dtype::kBool || dtype == value.dtype()) return;
  if (value.is_number()) {  // read where they lie: these calls are short
    const libdl_tensor& number = *value.get();
    if (value.dtype() == Dtype::kFloat64 && holds(dtype, number.as_double)) return;
    if (value.dtype() == Dtype::kInt64 && holds(dtype, static_cast<__int128>(number.as_int)))
      return;
  }
  if (value.is_complex()) {
    const auto [re, im] = item_c128(value);
    if (im != 0 && !is_complex(dtype))
      fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(value.dtype()),
                    std::string("a real number for ") + name_of(dtype));
    if (!holds(dtype, re)) reject(op, name, shortest(re), dtype);
    if (!holds(dtype, im)) reject(op, name, shortest(im) + "j", dtype);
  } else if (is_inexact(value.dtype())) {
    const double x = item_f64(value);
    if (!holds(dtype, x)) reject(op, name, shortest(x), dtype);
  } else {
    const __int128 x = wide_integer(value);
    if (!holds(dtype, x)) reject_number(op, name, x, dtype);
  }
}

std::optional<Tensor> whole_factor(const Tensor* factor, Dtype dtype) {
  if (!factor || !factor->is_number() || factor->dtype() != Dtype::kFloat64 || !is_integral(dtype))
    return std::nullopt;
  const double value = item_f64(*factor);
  if (value != std::trunc(value) || std::abs(value) >= 0x1p63) return std::nullopt;
  return number(static_cast<int64_t>(value));
}

}  // namespace libdl
