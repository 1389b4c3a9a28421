// SPDX-License-Identifier: Apache-2.0

#include "tensor/shape.h"

#include <algorithm>

namespace libdl {

Shape contiguous_strides(Dims shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

bool same(Dims a, Dims b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string to_string(Dims shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace libdl
