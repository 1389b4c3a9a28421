// SPDX-License-Identifier: Apache-2.0

// The values of generic calls as C parameters, and results as values.
#pragma once

#include "capi/door.h"
#include "ops/values.h"

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

inline void put(libdl_value& value, Tensor tensor) {
  born(tensor);
  value = typed(LIBDL_VALUE_TENSOR);
  value.held.tensor = tensor.release();
}
inline void put(libdl_value& value, std::vector<Tensor> tensors) {
  libdl_tensor_list* const list = make_tensor_list(std::move(tensors));
  value = typed(LIBDL_VALUE_TENSOR_LIST);
  value.held.list = list;
}
template <class T>
void put(libdl_value& value, T number) {
  value = value_of(number);
}

}  // namespace libdl::capi
