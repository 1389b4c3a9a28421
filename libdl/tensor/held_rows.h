// SPDX-License-Identifier: Apache-2.0

// Which rows a sparse matrix (sparse_rows.h) holds, beside its elements.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace libdl {

// The numbers of the rows that a storage's matrix holds.
struct HeldRows {
  uint64_t version;  // of the storage: a write ends it
  int64_t sizes[2];
  Dtype dtype;
  std::vector<int64_t> numbers;  // ascending, each once
};

}  // namespace libdl
