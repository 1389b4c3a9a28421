// SPDX-License-Identifier: Apache-2.0

// A number of MPFR with so many bits, as the tests of elementary functions use it.
#pragma once

#include <mpfr.h>

namespace libdl::test {

template <mpfr_prec_t bits>
struct MpfrNumber {
  mpfr_t m;
  MpfrNumber() { mpfr_init2(m, bits); }
  explicit MpfrNumber(double x) : MpfrNumber() { mpfr_set_d(m, x, MPFR_RNDN); }
  ~MpfrNumber() { mpfr_clear(m); }
  MpfrNumber(const MpfrNumber&) = delete;
  MpfrNumber& operator=(const MpfrNumber&) = delete;
};

}  // namespace libdl::test
