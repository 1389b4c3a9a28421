// SPDX-License-Identifier: Apache-2.0

// Between C parameters and the values of generic calls.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

inline libdl_value none() { return libdl_value{}; }

inline libdl_value typed(libdl_value_type type) {
  libdl_value value{};
  value.type = type;
  return value;
}

// Absent only where the parameter may be: a NULL that must not be stays a TENSOR, and is refused
// with the argument's name by whoever reads it.
inline libdl_value pack_tensor(const libdl_tensor* handle, bool nullable) {
  libdl_value value = typed(handle || !nullable ? LIBDL_VALUE_TENSOR : LIBDL_VALUE_NONE);
  value.held.tensor = const_cast<libdl_tensor*>(handle);
  return value;
}

inline libdl_value pack_tensors(const libdl_tensor* const* items, int64_t count) {
  libdl_value value = typed(LIBDL_VALUE_TENSORS);
  value.held.tensors.items = items;
  value.held.tensors.count = count;
  return value;
}

inline libdl_value pack_ints(const int64_t* items, int64_t count, bool nullable) {
  libdl_value value = typed(items || !nullable ? LIBDL_VALUE_INTS : LIBDL_VALUE_NONE);
  value.held.integers.items = items;
  value.held.integers.count = items || !nullable ? count : 0;
  return value;
}

inline libdl_value pack_string(const char* text, int64_t length, bool nullable) {
  libdl_value value = typed(text || !nullable ? LIBDL_VALUE_STRING : LIBDL_VALUE_NONE);
  value.held.string.text = text;
  value.held.string.length = text || !nullable ? length : 0;
  return value;
}

inline libdl_value pack_int(int64_t number) {
  libdl_value value = typed(LIBDL_VALUE_INT);
  value.held.integer = number;
  return value;
}
inline libdl_value pack_optional_int(const int64_t* number) {
  return number ? pack_int(*number) : none();
}

inline libdl_value pack_float(double number) {
  libdl_value value = typed(LIBDL_VALUE_FLOAT);
  value.held.number = number;
  return value;
}
inline libdl_value pack_optional_float(const double* number) {
  return number ? pack_float(*number) : none();
}

inline libdl_value pack_bool(libdl_bool truth) {
  libdl_value value = typed(LIBDL_VALUE_BOOL);
  value.held.boolean = truth;
  return value;
}

inline libdl_value pack_dtype(libdl_dtype dtype) {
  libdl_value value = typed(dtype == LIBDL_DTYPE_NONE ? LIBDL_VALUE_NONE : LIBDL_VALUE_DTYPE);
  value.held.dtype = dtype;
  return value;
}

inline libdl_value pack_device(const libdl_device* device) {
  libdl_value value = typed(device ? LIBDL_VALUE_DEVICE : LIBDL_VALUE_NONE);
  if (device) value.held.device = *device;
  return value;
}

inline libdl_value pack_generator(libdl_generator* generator) {
  libdl_value value = typed(generator ? LIBDL_VALUE_GENERATOR : LIBDL_VALUE_NONE);
  value.held.generator = generator;
  return value;
}

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
inline void put(libdl_value& value, bool truth) { value = pack_bool(truth); }
inline void put(libdl_value& value, int64_t number) { value = pack_int(number); }
inline void put(libdl_value& value, double number) { value = pack_float(number); }
inline void put(libdl_value& value, uint64_t number) {
  value = typed(LIBDL_VALUE_UINT);
  value.held.unsigned_integer = number;
}

}  // namespace libdl::capi
