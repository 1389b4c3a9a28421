// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

enum class Special : int32_t {
#define SPECIAL(name) name,
#include "kernels/special.def"
};

// out[i] = function(in[0][i], in[1][i]), computed in double, or in complex128 where out is complex.
// All have the same floating or complex dtype and shape; dimensions are as for PointwiseArgs.
struct SpecialArgs {
  Special function;
  int32_t inputs;
  uint32_t host_inputs = 0;  // bit k: in[k] is one element in the host's memory
  int64_t order = 0;         // of polygamma
  View out;
  View in[2];
};

}  // namespace libdl::kernels
