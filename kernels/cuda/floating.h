// SPDX-License-Identifier: Apache-2.0

// The real floating dtypes, for kernels that need no others.
#pragma once

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_KERNELS

// Calls f with a pointer of the element type of a real floating dtype.
template <class F>
LIBDL_DEVICE void with_floating(int32_t dtype, F&& f) {
  switch (dtype) {
    case 10: return f(static_cast<Half*>(nullptr));
    case 11: return f(static_cast<Bfloat*>(nullptr));
    case 12: return f(static_cast<float*>(nullptr));
    case 13: return f(static_cast<double*>(nullptr));
  }
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
