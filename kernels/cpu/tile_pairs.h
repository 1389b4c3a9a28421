// SPDX-License-Identifier: Apache-2.0

// Tile functions of two expressions, of which the second takes the first one's result: it stays in
// a register. Bits are those of one after the other.
#pragma once

#include "kernels/cpu/tiles/tiles.h"

namespace libdl::kernels::cpu {

// in: the inputs of the first, then the second's other one, if it has two. place: which input of
// the second the result of the first is. NULL for most pairs: there are sums, differences and
// products of such, and activations before or after sums and products.
TileFn pair_tile(Class c, Expression first, Expression second, int place);

}  // namespace libdl::kernels::cpu
