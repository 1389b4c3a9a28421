// SPDX-License-Identifier: Apache-2.0

// One element from memory that holds float, double or a 16-bit float; vectors: stored-inl.h.
#pragma once

#include "kernels/convert_value.h"

namespace libdl::kernels::cpu {

inline float widened(float x) { return x; }
inline double widened(double x) { return x; }
inline float widened(Bfloat x) { return to_float(x); }
inline float widened(Half x) { return to_float(x); }

}  // namespace libdl::kernels::cpu
