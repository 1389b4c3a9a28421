// SPDX-License-Identifier: Apache-2.0

// Elements of images and weights as they lie in memory. The 16-bit floats are computed as float and
// rounded once, so their results are those of float32, rounded.
#pragma once

#include <libdl/dtype.h>

#include <cstdint>
#include <type_traits>

#include "kernels/convert_value.h"
#include "kernels/cpu/traverse/stored.h"

namespace libdl::kernels::cpu {

template <class S>
constexpr bool kNarrow = sizeof(S) == 2;
// What S is computed as.
template <class S>
using Wide = std::conditional_t<kNarrow<S>, float, S>;

template <class S>
constexpr int32_t kStoredDtype = LIBDL_DTYPE_FLOAT32;
template <>
inline constexpr int32_t kStoredDtype<double> = LIBDL_DTYPE_FLOAT64;
template <>
inline constexpr int32_t kStoredDtype<Bfloat> = LIBDL_DTYPE_BFLOAT16;
template <>
inline constexpr int32_t kStoredDtype<Half> = LIBDL_DTYPE_FLOAT16;

template <class S>
S narrowed(Wide<S> x) {
  if constexpr (std::is_same_v<S, Bfloat>) return to_bfloat(x);
  if constexpr (std::is_same_v<S, Half>) return to_half(x);
  if constexpr (!kNarrow<S>) return x;
}

// Calls f with a value of the dtype's type.
template <class F>
void as_stored(int32_t dtype, F f) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT64: return f(double());
    case LIBDL_DTYPE_BFLOAT16: return f(Bfloat());
    case LIBDL_DTYPE_FLOAT16: return f(Half());
    default: return f(float());
  }
}

}  // namespace libdl::kernels::cpu
