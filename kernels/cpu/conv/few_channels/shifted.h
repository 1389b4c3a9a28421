// SPDX-License-Identifier: Apache-2.0

// Convolutions to few channels, such as the three of a picture: products with patches would leave
// most of a panel (gemm.h) empty. Instead the image is multiplied by the weights of all taps at
// once, [(tap, channel)] by [pixel], and each of these rows is added where its tap lies.
#pragma once

#include "kernels/context.h"
#include "kernels/cpu/conv/patches/patches.h"

namespace libdl::kernels::cpu {

// Whether it is faster: the windows follow each other closely, so that no product is in vain.
template <class S>
bool shifted_is_faster(const Patches<S>& patches, int64_t columns);

// All rows and columns of p; p.packed and the range are not read.
template <class S>
void multiply_shifted(Context& context, const PatchesTimesMatrix<S>& p, const Taps<S>& taps);

}  // namespace libdl::kernels::cpu
