// SPDX-License-Identifier: Apache-2.0

// A batch normalisation that is computed by what stands behind it (tensor/deferred.h): an addition
// waits with it, a relu computes it in its own pass, and the gradient of that relu waits for the
// normalisation's. The bits are those of one operator after the other.
#pragma once

#include "ops/primitive/innermost.h"
#include "tensor/forms.h"

namespace libdl {

// In LIBDL_DISABLE: "fusion". The dtypes are those in which the kernels compute.
bool norm_may_be_deferred(Dtype dtype);

// What belongs to a channel: [c] each, of the image's dtype. Nobody writes to them.
struct NormVectors {
  Tensor mean, rstd;
  Tensor weight, bias;  // undefined: 1 and 0
};

// x, which is read in a form, normalised. serial becomes the number of this normalisation, which no
// other has.
Tensor normalised_later(const Innermost& x, NormVectors vectors, uint64_t& serial);

// If dy is the gradient of the relu behind the normalisation of that number, and waits: the
// gradient that arrived at the relu, with the channels innermost. Empty otherwise.
PackedReader gradient_behind_relu(const Tensor& dy, uint64_t serial);

}  // namespace libdl
