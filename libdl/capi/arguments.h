// SPDX-License-Identifier: Apache-2.0

// Argument checks of the C functions that take pointers other than handles.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

inline void not_null(const char* function, int argument, const char* name, const void* pointer,
                     const char* wanted) {
  if (!pointer) fail_argument(LIBDL_ERROR_NULL, function, argument, name, "is NULL", wanted);
}

inline void output(const char* function, int argument, const char* name, const void* pointer) {
  not_null(function, argument, name, pointer, "a place for the result");
}

inline const Tensor& live_tensor(const char* function, int argument, const char* name,
                                 const libdl_tensor* const& handle) {
  check_tensor(function, argument, name, handle);
  return borrow(handle);
}

// An array of handles with 0 to `most` entries, not copied.
TensorSpan live_tensors(const char* function, int argument, const char* name,
                        const libdl_tensor* const* items, int64_t count,
                        int64_t most = kMostEntries, bool entries_may_be_null = false);

}  // namespace libdl::capi
