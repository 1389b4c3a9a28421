// SPDX-License-Identifier: Apache-2.0

// Single elements of tensors, for gradient checks: each is moved along one axis (real) or two
// (complex).
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace libdl {

using Complex = std::complex<double>;
using Column = std::vector<Complex>;  // the elements of one tensor, row-major

// The axes along which an element of the dtype can move.
std::span<const Complex> axes_of(Dtype dtype);

// The component of value along axis: Re(conj(axis) value).
inline double part(Complex value, Complex axis) {
  return axis.imag() == 0 ? value.real() : value.imag();
}

Column elements(const Tensor& x);

// A copy of x as a leaf, laid out as x is, with element i moved by `step`. x is float64 or
// complex128.
Tensor moved(const Tensor& x, int64_t i = 0, Complex step = 0);

// A row-major tensor of zeros with `value` at element i.
Tensor unit(const Tensor& like, int64_t i, Complex value);

}  // namespace libdl
