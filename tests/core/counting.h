// SPDX-License-Identifier: Apache-2.0

// Tensors [2, 3, 5, 7] whose element i, counted in rows, is i.
#pragma once

#include <numeric>
#include <vector>

#include "tensor/forms.h"

namespace libdl {

constexpr int64_t kN = 2, kC = 3, kH = 5, kW = 7, kAll = kN * kC * kH * kW;
constexpr int64_t kShape[] = {kN, kC, kH, kW};

// With the channels innermost, and no plain bytes.
inline Tensor counting() {
  void* form;
  Tensor x = empty_packed(kShape, Dtype::kFloat32, Layout::kChannelsInnermost, form);
  auto* const out = static_cast<float*>(form);
  const Shape strides = channels_innermost(kShape);
  float next = 0;
  for (int64_t n = 0; n < kN; ++n)
    for (int64_t c = 0; c < kC; ++c)
      for (int64_t h = 0; h < kH; ++h)
        for (int64_t w = 0; w < kW; ++w)
          out[n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3]] = next++;
  return x;
}
inline Tensor plain_counting() {
  Tensor x = empty(kShape, Dtype::kFloat32);
  auto* const out = x.overwrite_plain<float>();
  std::iota(out, out + kAll, 0.0f);
  return x;
}

inline std::vector<float> values(const Tensor& x) {
  const float* const first = x.read_plain<float>();
  return {first, first + x.numel()};
}
inline std::vector<float> counted() {
  std::vector<float> all(kAll);
  std::iota(all.begin(), all.end(), 0.0f);
  return all;
}
inline bool is_counting(const Tensor& x) {
  const float* const all = x.read_plain<float>();
  for (int64_t i = 0; i < kAll; ++i)
    if (all[i] != static_cast<float>(i)) return false;
  return true;
}
inline bool has_form(const Tensor& x) {
  return form_of(x, Layout::kChannelsInnermost).data() != nullptr;
}

}  // namespace libdl
