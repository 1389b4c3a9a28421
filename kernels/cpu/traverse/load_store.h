// SPDX-License-Identifier: Apache-2.0

// Elements of any dtype and stride, read and written a tile at a time in the type of the
// computation.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/cpu/traverse/convert.h"

namespace libdl::kernels::cpu {

// tile[i] = element i of `data`, n elements `stride` apart, converted (convert.h) to T: float,
// double, int64_t, uint64_t, complex<double>, or uint8_t, which stands for bool.
template <class T>
void load_tile(T* tile, const void* data, int32_t dtype, int64_t stride, int64_t n);

// The reverse.
template <class T>
void store_tile(void* data, int32_t dtype, int64_t stride, const T* tile, int64_t n);

}  // namespace libdl::kernels::cpu
