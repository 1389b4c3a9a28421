// SPDX-License-Identifier: Apache-2.0

// What the pooling kernels share: images [n, c, d, h, w], of which a thread computes an element.
// Neighbouring threads take elements that are adjacent in memory.
#pragma once

#include "kernels/cuda/device.h"

namespace libdl::kernels::cuda {

struct PoolImage {
  void* data;
  int32_t dtype;
  int64_t sizes[5], strides[5];
};

#ifdef LIBDL_KERNELS

// The numbers of element i: channels innermost if `deep`.
LIBDL_DEVICE void pool_element(const PoolImage& image, bool deep, int64_t i, int64_t* at) {
  if (deep) at[1] = i % image.sizes[1], i /= image.sizes[1];
  for (int d = 4; d > 1; --d) at[d] = i % image.sizes[d], i /= image.sizes[d];
  if (!deep) at[1] = i % image.sizes[1], i /= image.sizes[1];
  at[0] = i;
}

LIBDL_DEVICE int64_t pool_offset_of(const PoolImage& image, const int64_t* at) {
  int64_t position = 0;
  for (int d = 0; d < 5; ++d) position += at[d] * image.strides[d];
  return position;
}
// The place of [at[0], at[1], i, j, k].
LIBDL_DEVICE int64_t pool_offset_of(const PoolImage& image, const int64_t* at, int64_t i, int64_t j,
                                    int64_t k) {
  return at[0] * image.strides[0] + at[1] * image.strides[1] + i * image.strides[2] +
         j * image.strides[3] + k * image.strides[4];
}

LIBDL_DEVICE int64_t pool_position(const PoolWindows& w, int64_t i, int64_t j, int64_t k) {
  return (i * w.in[1] + j) * w.in[2] + k;
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

inline PoolImage pool_image(const View& view) {
  PoolImage image{view.data, view.dtype, {}, {}};
  for (int d = 0; d < 5 && view.data; ++d)
    image.sizes[d] = view.sizes[d], image.strides[d] = view.strides[d];
  return image;
}
inline bool is_deep(const View& view) { return view.strides[1] == 1 && view.strides[4] != 1; }

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
