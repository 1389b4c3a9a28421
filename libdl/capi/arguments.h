// SPDX-License-Identifier: Apache-2.0

// Argument checks of the C functions that take pointers other than handles.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

inline void not_null(const char* function, const char* name, const void* pointer,
                     const char* wanted) {
  if (!pointer) fail_argument(LIBDL_ERROR_NULL, function, name, "is NULL", wanted);
}

inline void output(const char* function, const char* name, const void* pointer) {
  not_null(function, name, pointer, "a place for the result");
}

inline const Tensor& live_tensor(const char* function, const char* name,
                                 const libdl_tensor* const& handle) {
  check_tensor(function, name, handle);
  return borrow(handle);
}

// An array of handles with 0 to `most` entries, not copied.
TensorSpan live_tensors(const char* function, const char* name, const libdl_tensor* const* items,
                        int64_t count, int64_t most = kMostEntries,
                        bool entries_may_be_null = false);

// The handles of a generic call of a registered operator.
void check_handles(const OpEntry& entry, const libdl_value* arguments);

}  // namespace libdl::capi
