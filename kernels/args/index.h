// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

constexpr int kMaxIndices = 16;

// Advanced indexing. `base` is viewed as [indexed dims..., rest...]; the indices have one broadcast
// shape. out = base[indices] has shape [index shape..., rest...].
struct IndexArgs {
  View base;    // the rest dimensions only, data at the start
  View values;  // [index shape..., rest...]
  int32_t indices;
  View index[kMaxIndices];  // int64 or int32, all of the index shape (stride 0 where broadcast)
  const int64_t* indexed_sizes;
  const int64_t* indexed_strides;
  bool accumulate;  // index_put only
};
// *bad = the first linear position whose value is not in [-size, size), or -1. An asynchronous
// device leaves *bad unchanged, and its next synchronisation reports the error under the operator's
// name, a static string; kernels that read the index there skip bad values.
struct CheckIndexArgs {
  View index;
  int64_t size;
  int64_t* bad;
  const char* op;
  const char* finding = nullptr;  // what it says of a value out of range, if these are no indices
};

}  // namespace libdl::kernels
