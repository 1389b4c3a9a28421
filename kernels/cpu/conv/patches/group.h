// SPDX-License-Identifier: Apache-2.0

// A group's part of a convolution's operands (args/convolution.h), as products with patches read
// it.
#pragma once

#include <algorithm>

#include "kernels/args.h"
#include "kernels/cpu/conv/patches/patches.h"

namespace libdl::kernels::cpu {

template <class S>
S* group_of(const View& image, int64_t group, int64_t groups) {
  return static_cast<S*>(image.data) + group * (image.sizes[1] / groups) * image.strides[1];
}

// All but the windows.
template <class S>
Patches<S> patches_of(const View& image, int64_t group, int64_t groups) {
  Patches<S> p{};
  p.data = group_of<const S>(image, group, groups);
  p.channels = image.sizes[1] / groups;
  p.strides[0] = image.strides[0];
  for (int d = 0; d < 3; ++d) {
    p.strides[d + 1] = image.strides[d + 2];
    p.sizes[d] = image.sizes[d + 2];
  }
  return p;
}
template <class S>
Patches<S> input_patches(const ConvolutionArgs& a, int64_t group) {
  Patches<S> p = patches_of<S>(a.x, group, a.groups);
  for (int d = 0; d < 3; ++d) {
    p.lattice.sizes[d] = a.y.sizes[d + 2];
    p.step[d] = a.stride[d], p.start[d] = -a.before[d];
    p.taps[d] = a.w.sizes[d + 2], p.dilation[d] = a.dilation[d];
  }
  return p;
}

}  // namespace libdl::kernels::cpu
