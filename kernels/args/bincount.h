// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// How often each integer occurs.
// counts: int64, [k], contiguous. in: int64, contiguous, from 0 to k - 1.
struct BincountArgs {
  View counts, in;
};

}  // namespace libdl::kernels
