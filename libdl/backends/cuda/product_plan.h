// SPDX-License-Identifier: Apache-2.0

// What cuBLASLt's heuristics chose for a product, cached by its geometry. cuBLASLt is column-major.
// A product that was seen before on its thread takes no lock.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "backends/cuda/driver.h"
#include "backends/cuda/libraries.h"

namespace libdl::cuda {

struct Types {
  cudaDataType_t element, scale;
  cublasComputeType_t compute;
};
// A column-major matrix: the `rows` elements of a column are adjacent, columns are `step` apart.
struct Columns {
  int64_t rows = 0, cols = 0, step = 0, batch_step = 0;
  bool transposed = false;
};

// Everything that the choice depends on, as numbers.
using Key = std::array<int64_t, 20>;

struct Problem {
  int32_t device;
  Types types;
  int64_t batch, m, n, k;
  Columns a, b, out;  // as cuBLASLt calls them: its a is our b
  int bias;
  const void *a_data, *b_data, *bias_data;
  void* out_data;

  static int64_t alignment(const void* data) {
    const auto bits = reinterpret_cast<uintptr_t>(data) | 256;
    return int64_t{1} << std::countr_zero(bits);
  }
  Key key() const;
};

// What the heuristics said; shared by all threads.
struct Choice {
  bool serves = false;
  cublasLtMatmulAlgo_t algo{};
  size_t workspace = 0;  // bytes
};

// A thread's own: the description holds the bias's address, which is another in every call.
struct Plan {
  Choice choice;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan();
};

// NULL if the library does not support the device or the product. A plan lasts until the thread's
// next call.
cublasLtHandle_t handle_of(int32_t device);
const Plan* plan_for(const Problem& problem);

}  // namespace libdl::cuda
