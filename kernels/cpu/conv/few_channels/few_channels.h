// SPDX-License-Identifier: Apache-2.0

// Convolutions with one tap to few channels, such as the last of a network that tells masks apart:
// the weights times the image, [channel, pixel], which is read as it lies. Products with its pixels
// as rows would leave most of a panel (gemm.h) empty.
#pragma once

#include "kernels/cpu/conv/few_channels/few_channels_pay.h"
#include "kernels/cpu/conv/patches/patches.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/kernels.h"

namespace libdl::kernels::cpu {

// Whether that is so, the output is wanted, and each of its pixels is computed of one of the input.
// The image may then have any strides of which its pixels' are one.
bool few_channels_serve(const ConvolutionArgs& args);
void few_channels(Context& context, const ConvolutionArgs& args);

// -- for these alone ------------------------------------------------------------------------------

constexpr int64_t kFewPixels = 256;  // at most, at once

template <class S>
struct FewPixels {
  GemmOperand x;  // [channel, pixel]
  GemmOperand w;  // [output channel, channel]
  int64_t outputs, channels, count;
};
// sums[k][i] of output channel k and pixel i: over the channels in sequence with fma, in blocks of
// kKBlock (gemm.h), which are added in order.
template <class S>
void sum_pixels(Wide<S> (*sums)[kFewPixels], const FewPixels<S>& p);

}  // namespace libdl::kernels::cpu
