// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace libdl::kernels {

// Sums along one dimension, the same for all positions in the others:
//
//   out[..., o, ...] = sum over k of weight[k] in[..., index[k], ...]
//
// for k from first[o] to first[o + 1] - 1, in this order; without any it is 0. Floats have weights
// of their own dtype. Those of uint8 are int32 with `bits` fractional bits; a sum is rounded,
// halves up, and kept between 0 and 255.
struct ResampleArgs {
  View out, in;  // float32, float64 or uint8, of equal sizes but for `axis`
  View first;    // [out.sizes[axis] + 1], int64; this and the next two are dense
  View index;    // int64
  View weight;
  int32_t axis, bits;
};

// The coordinates that a grid gives an image: x, y and z of a place in it, in this order, of which
// -1 and 1 are the outermost pixels' centres (align_corners) or edges.
struct Sampling {
  enum Mode : int32_t { kBilinear, kNearest, kBicubic };
  enum Padding : int32_t { kZeros, kBorder, kReflection };
  Mode mode;
  Padding padding;  // what lies outside of the image
  int32_t dims;     // of the image, 2 or 3. Of two, the images' third size is 1
  int32_t align_corners;
};

// out[n, c, p] is the image in[n, c] at the place grid[n, p]. Where it lies between pixels, their
// weighted mean: of the nearest 2^dims, or of 4^dims by cubic convolution with a = -0.75. All of
// the same dtype, float32 or float64.
struct GridSampleArgs {
  View out;   // [n, c, d, h, w]
  View in;    // [n, c, d', h', w']
  View grid;  // [n, d, h, w, dims]
  Sampling how;
};
// The gradients of sum(dy out); each is not written if its data is NULL.
struct GridSampleBackwardArgs {
  View dy, in, grid;
  View din;    // as in
  View dgrid;  // as grid
  Sampling how;
};

}  // namespace libdl::kernels
