// SPDX-License-Identifier: Apache-2.0

// Convolutions whose patches are the pixels themselves: one tap, one step. They are products of
// matrices, which have ways of their own (matmul.h).
#pragma once

#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/kernels.h"

namespace libdl::kernels::cpu {

// Whether they are, and lie in equal steps through memory.
template <class S>
bool is_matrix(const PatchesTimesMatrix<S>& p);
template <class S>
bool is_matrix(const MatrixTimesPatches<S>& p);

// All rows and columns of p, with weights that are not packed.
template <class S>
void multiply_pixels(Context& context, const PatchesTimesMatrix<S>& p, const Taps<S>& taps);
// All rows and columns of p into `out`, dense; p.out is not used.
template <class S>
void multiply_by_pixels(Context& context, const MatrixTimesPatches<S>& p, S* out);

}  // namespace libdl::kernels::cpu
