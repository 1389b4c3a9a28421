// SPDX-License-Identifier: Apache-2.0

// Normalisations of images together with what stands behind them: the operators of
// kernels/args/batch_norm.h in the pass of the next one (tensor/deferred.h). The bits are those of
// one operator after the other.
#pragma once

#include "kernels/args.h"

namespace libdl::kernels::cpu {

// (x - mean) scale + shift, by channel; [c] each, contiguous, of the dtype of computation.
struct Normalisation {
  const void *mean, *scale, *shift;
};

// out = relu(normalised in + added), the latter two where wanted. out may be `added`.
struct NormaliseArgs {
  View out, in;
  View added;  // data NULL: nothing
  Normalisation by;
  bool relu;
};
void normalise(Context& context, const NormaliseArgs& args);

// scale = rstd weight and shift = bias, as batch_norm has them; arrays of args.in's channels.
void fill_normalisation(const BatchNormArgs& args, void* scale, void* shift);

// batch_norm_backward where dy is the gradient of relu(normalised in): it counts only where that is
// above 0. dx may be dy.
void batch_norm_relu_backward(Context& context, const BatchNormBackwardArgs& args,
                              const Normalisation& by);

// to[i] = y[i] <= 0 ? 0 : dy[i], of float32 or float64.
void gate(Context& context, void* to, const void* dy, const void* y, int64_t count, int32_t dtype);

}  // namespace libdl::kernels::cpu
