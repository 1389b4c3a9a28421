// SPDX-License-Identifier: Apache-2.0

// The same as depthwise_rows.h for groups of a few channels, as many of the input as of the output:
// a channel has weights for each channel i of its group. Those for all channels lie i
// w_group_stride further; so do the sums of their gradients.
#pragma once

#include "kernels/cpu/conv/depthwise/depthwise_rows.h"

namespace libdl::kernels::cpu {

// Whether there are such vectors of Wide<S> on this processor, which hold whole groups.
template <class S>
bool vectors_hold_groups(int64_t group);

// out[q, c] = (bias[c] +) sum over the rows of the source, the taps along each and the channels i
// of c's group, in this order, of source[i] w[i, c].
template <class S>
void compute_grouped_row(const DepthwiseRow<S>& row);

// sums[row, tap, i, c] += sum over q of y[q, c] source[i], for each channel i of c's group.
template <class S>
void add_grouped_sums(const DepthwiseSums<S>& row);

}  // namespace libdl::kernels::cpu
