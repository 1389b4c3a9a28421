// SPDX-License-Identifier: Apache-2.0

// The blocks of tiles_amx.h in vectors, by AVX512_BF16: its instruction multiplies two numbers of
// each of sixteen lines and adds both products to a float32. Sums run from the lowest k up, two
// values at a time; numbers below 2^-126 count as zero. Call this only if bfloat_unit()
// (matrix_unit.h) is kDots.
#pragma once

#include "kernels/cpu/gemm/tile_block.h"

namespace libdl::kernels::cpu::amx {

// The sums of the block, stored in its c.
void multiply_in_vectors(const Block& block);

}  // namespace libdl::kernels::cpu::amx
