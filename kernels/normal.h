// SPDX-License-Identifier: Apache-2.0

// Standard normal numbers from random words, as scalars.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/half.h"

namespace libdl::kernels {

// Scalar doubles.
struct ScalarMath {
  using Real = double;
  using Truth = bool;
  static LIBDL_EVERYWHERE Real set(double x) { return x; }
  static LIBDL_EVERYWHERE Real square_root(Real x) { return ::sqrt(x); }
  static LIBDL_EVERYWHERE Real magnitude(Real x) { return ::fabs(x); }
  static LIBDL_EVERYWHERE Real with_sign(Real x, Real sign) { return ::copysign(x, sign); }
  static LIBDL_EVERYWHERE Truth greater(Real a, Real b) { return a > b; }
  static LIBDL_EVERYWHERE Real choose(Truth c, Real a, Real b) { return c ? a : b; }
  static LIBDL_EVERYWHERE bool none(Truth c) { return !c; }
  // x = mantissa * 2^exponent with mantissa in [1, 2), for positive normal x.
  static LIBDL_EVERYWHERE void split(Real x, Real* mantissa, Real* exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *exponent = static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023);
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(mantissa, &bits, sizeof bits);
  }
};

#include "kernels/normal.inc"

// The z with P(Z < z) = 0.5 + q, for |q| < 0.5.
LIBDL_EVERYWHERE double normal_quantile(double q) {
  return fabs(q) > kNormalMiddle ? normal_tail<ScalarMath>(q) : normal_middle<ScalarMath>(q);
}

// The middle of the interval that a word selects, of 2^32 or 2^53, shifted to (-0.5, 0.5). Exact in
// double, never +-0.5.
LIBDL_EVERYWHERE double centred(uint32_t word) {
  return (static_cast<double>(static_cast<int32_t>(word ^ 0x80000000u)) + 0.5) *
         2.3283064365386962891e-10;
}
LIBDL_EVERYWHERE double centred(uint64_t bits) {
  return (static_cast<double>(static_cast<int64_t>(bits >> 11) - (int64_t{1} << 52)) + 0.5) *
         1.1102230246251565404e-16;
}

}  // namespace libdl::kernels
