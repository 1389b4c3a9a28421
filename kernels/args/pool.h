// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/scalars.h"
#include "kernels/view.h"

namespace libdl::kernels {

// Windows over the last three dimensions of images [n, c, d, h, w]; in dimensions that an image
// lacks, one window of one element. Window o of a dimension holds the positions
//
//   o stride - padding + k dilation for k < window,
//
// of which those outside of the input do not count; if they are adaptive, floor(o in / out) up to,
// but not including, ceil((o + 1) in / out). Every window has at least one position inside.
struct PoolWindows {
  int64_t in[3], out[3];                                  // sizes
  int64_t window[3], stride[3], padding[3], dilation[3];  // not used if adaptive
  bool adaptive;
};

// The largest element of each window. Of equal elements the first is taken; if there are NaNs, the
// last of them. Positions count through d, h and w of the input.
struct MaxPoolArgs {
  View out;
  View indices;  // int64 or int32: the elements' positions; or data NULL
  View in;
  PoolWindows windows;
};
// in's gradient: of each element the sum of dy, in order, over the windows that took it.
struct MaxPoolBackwardArgs {
  View dx, dy, indices;
  PoolWindows windows;
};

// The sum of each window, divided by `divisor` or, if that is 0, by the number of its positions:
// inside of the input, or also of the padding. There is no dilation. Integers are divided towards
// 0.
struct AvgPoolArgs {
  View out, in;
  PoolWindows windows;
  int64_t divisor;
  bool count_include_pad;
};
// in's gradient: of each element the sum of dy, divided as in AvgPoolArgs, over its windows in
// order.
struct AvgPoolBackwardArgs {
  View dx, dy;
  PoolWindows windows;
  int64_t divisor;
  bool count_include_pad;
};

// -- one dimension, numbered from 0 to 2 ----------------------------------------------------------

struct PoolRange {
  int64_t begin, end;  // the end is not included
};

// The positions of window o inside of the input; every dilation-th one if not adaptive.
LIBDL_DEVICE PoolRange pool_positions(const PoolWindows& w, int d, int64_t o) {
  if (w.adaptive) return {o * w.in[d] / w.out[d], ((o + 1) * w.in[d] + w.out[d] - 1) / w.out[d]};
  const int64_t step = w.dilation[d], first = o * w.stride[d] - w.padding[d];
  const int64_t end = first + (w.window[d] - 1) * step + 1;
  return {first < 0 ? first + (-first + step - 1) / step * step : first,
          end < w.in[d] ? end : w.in[d]};
}
LIBDL_DEVICE int64_t pool_step(const PoolWindows& w, int d) {
  return w.adaptive ? 1 : w.dilation[d];
}

// The windows that reach over position i. With a dilation some of them may leave it out.
LIBDL_DEVICE PoolRange pool_windows_over(const PoolWindows& w, int d, int64_t i) {
  if (w.adaptive) return {i * w.out[d] / w.in[d], ((i + 1) * w.out[d] - 1) / w.in[d] + 1};
  const int64_t reach = (w.window[d] - 1) * w.dilation[d], at = i + w.padding[d];
  const int64_t end = at / w.stride[d] + 1;
  return {at <= reach ? 0 : (at - reach + w.stride[d] - 1) / w.stride[d],
          end < w.out[d] ? end : w.out[d]};
}

// How many positions of window o count in a mean.
LIBDL_DEVICE int64_t pool_counted(const PoolWindows& w, int d, int64_t o, bool with_padding) {
  const PoolRange inside = pool_positions(w, d, o);
  if (w.adaptive || !with_padding) return inside.end - inside.begin;
  const int64_t first = o * w.stride[d] - w.padding[d], end = first + w.window[d];
  const int64_t last = w.in[d] + w.padding[d];
  return (end < last ? end : last) - first;
}

}  // namespace libdl::kernels
