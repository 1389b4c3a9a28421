// SPDX-License-Identifier: Apache-2.0

// What depthwise convolutions (depthwise.h) do with one row of pixels: along it, tap t of pixel q
// lies over position q step + start + t dilation of each row of the source. The channels of both
// are adjacent; strides are in elements.
#pragma once

#include "kernels/cpu/conv/depthwise/depthwise_row.h"

namespace libdl::kernels::cpu {

// A range [first, last).
struct Span {
  int64_t first, last;
};
// The pixels of which every tap lies inside the source, and the taps of a pixel that do.
template <class S>
Span whole_pixels(const DepthwiseSource<S>& in, int64_t pixels);
template <class S>
Span taps_inside(const DepthwiseSource<S>& in, int64_t q);

template <class S>
void compute_depthwise_row(const DepthwiseRow<S>& row);

template <class S>
void add_depthwise_sums(const DepthwiseSums<S>& row);

}  // namespace libdl::kernels::cpu
