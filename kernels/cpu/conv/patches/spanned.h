// SPDX-License-Identifier: Apache-2.0

// Convolutions of few channels, such as a picture's three: to gather their patches, runs of a few
// numbers, would take as long as to multiply them. Lines of the image are copied, with zeros around
// them, and windows are read there, where they overlap. The sums are those of multiply_patches
// (patches.h).
#pragma once

#include "kernels/context.h"
#include "kernels/cpu/conv/patches/patches.h"

namespace libdl::kernels::cpu {

// Whether it is faster.
template <class S>
bool spans_serve(const Patches<S>& patches);

// All rows and columns of p, whose weights are packed; the range is not read.
template <class S>
void multiply_spans(Context& context, const PatchesTimesMatrix<S>& p, int64_t columns);

// -- for these alone ------------------------------------------------------------------------------

constexpr int64_t kMostTerms = 384;  // of a window: one block of k

// Adjacent pixels of a line of the result.
template <class S>
struct SpannedPixels {
  const Wide<S>* windows;  // the first pixel's; its values lie at windows[offsets[k]]
  int64_t step;            // to the next pixel's
  const int64_t* offsets;
  int64_t terms;
  const Wide<S>* packed;  // weights, as pack_taps wrote them
  S* out;
  int64_t out_step;
  const S* bias;  // or NULL
  int64_t count, columns;
};
template <class S>
void multiply_span(const SpannedPixels<S>& p);

}  // namespace libdl::kernels::cpu
