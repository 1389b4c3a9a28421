// SPDX-License-Identifier: Apache-2.0

// One element of a tensor at a time, as a check of gradients sees it: it moves along one or two
// axes of the complex plane.
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

// What moves along `axis` counts in that part: Re(conj(axis) value).
inline double part(Complex value, Complex axis) {
  return axis.imag() == 0 ? value.real() : value.imag();
}

Column elements(const Tensor& x);

// A leaf over bytes of its own, laid out as x is, with element i moved by `step`. x is float64 or
// complex128.
Tensor moved(const Tensor& x, int64_t i = 0, Complex step = 0);

// Zeros laid out row by row, and `value` at element i.
Tensor unit(const Tensor& like, int64_t i, Complex value);

}  // namespace libdl
