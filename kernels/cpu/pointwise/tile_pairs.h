// SPDX-License-Identifier: Apache-2.0

// Tile functions for two fused expressions: the first one's result stays in a register as an input
// of the second. The bits are the same as when running one after the other.
#pragma once

#include "kernels/cpu/tiles/tiles.h"

namespace libdl::kernels::cpu {

// in: the inputs of the first, then the second's other input, if it has two. place: which input of
// the second receives the first one's result. NULL for most pairs: the supported ones are sums,
// differences and products of each other, and activations before or after sums and products.
TileFn pair_tile(Class c, Expression first, Expression second, int place);

}  // namespace libdl::kernels::cpu
