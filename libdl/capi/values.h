// SPDX-License-Identifier: Apache-2.0

// Converts the values of generic calls to C parameters, and results to values.
#pragma once

#include "capi/door.h"
#include "ops/primitive/values.h"

namespace libdl::capi {

inline const int64_t* int_or_null(const libdl_value& value) {
  return value.type == LIBDL_VALUE_NONE ? nullptr : &value.held.integer;
}
inline const double* float_or_null(const libdl_value& value) {
  return value.type == LIBDL_VALUE_NONE ? nullptr : &value.held.number;
}
inline const libdl_device* device_or_null(const libdl_value& value) {
  return value.type == LIBDL_VALUE_NONE ? nullptr : &value.held.device;
}

// A count of integers in the parameter's type; converted() in op.cc makes sure that it fits.
struct Count {
  int64_t given;
  operator int64_t() const { return given; }
  operator int32_t() const { return static_cast<int32_t>(given); }
};

// Results of the C functions; their references are moved into the values.
inline void put(libdl_value& value, libdl_tensor* tensor) {
  value = typed(LIBDL_VALUE_TENSOR);
  value.held.tensor = tensor;
}
inline void put(libdl_value& value, libdl_tensor_list* list) {
  value = typed(LIBDL_VALUE_TENSOR_LIST);
  value.held.list = list;
}
template <class T>
  requires std::is_arithmetic_v<T>
void put(libdl_value& value, T number) {
  value = value_of(number);
}

// Releases unused results. A handle of another kind, which a callback may have left, is not ours to
// release.
inline void release_results(std::span<libdl_value> results) {
  for (libdl_value& result : results) {
    if (result.type == LIBDL_VALUE_TENSOR && result.held.tensor &&
        has_tag(result.held.tensor, Tag::kTensor))
      Tensor::take(result.held.tensor);
    if (result.type == LIBDL_VALUE_TENSOR_LIST && result.held.list &&
        has_tag(result.held.list, Tag::kTensorList))
      Ref<libdl_tensor_list>::take(result.held.list);
    result = absent();
  }
}

}  // namespace libdl::capi
