// SPDX-License-Identifier: Apache-2.0

// The sum of x[i] y[i] for complex numbers, in 64 bytes of real lanes with fma.
#pragma once

#include <complex>
#include <cstdint>

namespace libdl::kernels::cpu {

template <class T>
struct ComplexVector {
  const std::complex<T>* data;
  int64_t stride;
};

template <class T>
std::complex<T> complex_dot(const ComplexVector<T>& x, const ComplexVector<T>& y, int64_t k);

}  // namespace libdl::kernels::cpu
