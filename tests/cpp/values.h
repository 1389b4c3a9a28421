// SPDX-License-Identifier: Apache-2.0

// Vectors of double as tensors, and back.
#pragma once

#include <cstdint>
#include <libdl.hpp>
#include <vector>

using Values = std::vector<double>;

inline libdl::Tensor tensor(const Values& values) {
  return libdl::Tensor::from(values, {static_cast<int64_t>(values.size())});
}
inline Values values(const libdl::Tensor& x) { return x.to_vector<double>(); }
