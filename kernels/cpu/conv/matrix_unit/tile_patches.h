// SPDX-License-Identifier: Apache-2.0

// Convolutions of bfloat16 on the matrix unit: the products of patches.h, by the tiles of
// tiles_amx.h. Sums are in float32 and rounded once. Call these only if multiplies_bfloat().
#pragma once

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/kernels.h"

namespace libdl::kernels::cpu {

// Whether the tiles are worth filling with such a product: narrow ones would leave them empty.
bool patches_fill_tiles(int64_t rows, int64_t columns, int64_t k);

// All rows and columns of p, whose weights are not packed: it takes them from `taps`.
void multiply_patches_in_tiles(Context& context, const PatchesTimesMatrix<Bfloat>& p,
                               const Taps<Bfloat>& taps);

// All rows and columns of p into `out`, dense; p.out is not used.
void multiply_by_patches_in_tiles(Context& context, const MatrixTimesPatches<Bfloat>& p,
                                  Bfloat* out);

}  // namespace libdl::kernels::cpu
