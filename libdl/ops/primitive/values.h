// SPDX-License-Identifier: Apache-2.0

// Arguments and results of operators as the values of generic calls (libdl_value).
#pragma once

#include <libdl/op.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"
#include "tensor/tensor_list.h"

namespace libdl {

inline libdl_value typed(libdl_value_type type) {
  libdl_value value{};
  value.type = type;
  return value;
}
inline libdl_value absent() { return libdl_value{}; }

// -- arguments: borrowed ------------------------------------------------------------------------

inline libdl_value value_of(const Tensor& x) {
  libdl_value value = typed(LIBDL_VALUE_TENSOR);
  value.held.tensor = x.get();
  return value;
}
inline libdl_value value_of(const Tensor* x) { return x && x->defined() ? value_of(*x) : absent(); }
inline libdl_value value_of(TensorSpan list) {
  libdl_value value = typed(LIBDL_VALUE_TENSORS);
  value.held.tensors.items = reinterpret_cast<const libdl_tensor* const*>(list.data());
  value.held.tensors.count = static_cast<int64_t>(list.size());
  return value;
}
inline libdl_value value_of(Dims numbers) {
  libdl_value value = typed(LIBDL_VALUE_INTS);
  value.held.integers.items = numbers.data();
  value.held.integers.count = static_cast<int64_t>(numbers.size());
  return value;
}
inline libdl_value value_of(bool truth) {
  libdl_value value = typed(LIBDL_VALUE_BOOL);
  value.held.boolean = truth;
  return value;
}
inline libdl_value value_of(int64_t number) {
  libdl_value value = typed(LIBDL_VALUE_INT);
  value.held.integer = number;
  return value;
}
inline libdl_value value_of(int32_t number) { return value_of(int64_t{number}); }
inline libdl_value value_of(uint64_t number) {
  libdl_value value = typed(LIBDL_VALUE_UINT);
  value.held.unsigned_integer = number;
  return value;
}
inline libdl_value value_of(double number) {
  libdl_value value = typed(LIBDL_VALUE_FLOAT);
  value.held.number = number;
  return value;
}
inline libdl_value value_of(Dtype dtype) {
  libdl_value value = typed(dtype == Dtype::kNone ? LIBDL_VALUE_NONE : LIBDL_VALUE_DTYPE);
  value.held.dtype = static_cast<libdl_dtype>(dtype);
  return value;
}
inline libdl_value value_of(Device device) {
  libdl_value value = typed(LIBDL_VALUE_DEVICE);
  value.held.device = {device.type, device.index};
  return value;
}
inline libdl_value value_of(std::string_view text) {
  libdl_value value = typed(LIBDL_VALUE_STRING);
  value.held.string.text = text.data();
  value.held.string.length = static_cast<int64_t>(text.size());
  return value;
}
inline libdl_value value_of(libdl_generator* generator) {
  libdl_value value = typed(generator ? LIBDL_VALUE_GENERATOR : LIBDL_VALUE_NONE);
  value.held.generator = generator;
  return value;
}
libdl_value value_of(const void*) = delete;  // other pointers are no bool
template <class T>
libdl_value value_of(const std::optional<T>& argument) {
  return argument ? value_of(*argument) : absent();
}

// -- results --------------------------------------------------------------------------------------

// How a result of type T is stored in a value: to be shown to an interceptor, or taken from one.
template <class T>
struct ResultValue;

template <>
struct ResultValue<Tensor> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_TENSOR;
  static libdl_value shown(const Tensor& x) { return x.defined() ? value_of(x) : absent(); }
  static Tensor taken(const libdl_value& value) {
    return value.type == LIBDL_VALUE_NONE ? Tensor() : Tensor::take(value.held.tensor);
  }
};
template <>
struct ResultValue<std::vector<Tensor>> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_TENSOR_LIST;
  static std::vector<Tensor> taken(const libdl_value& value) {
    return Ref<libdl_tensor_list>::take(value.held.list)->tensors;
  }
};
template <>
struct ResultValue<bool> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_BOOL;
  static libdl_value shown(bool truth) { return value_of(truth); }
  static bool taken(const libdl_value& value) { return value.held.boolean != 0; }
};
template <>
struct ResultValue<int64_t> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_INT;
  static libdl_value shown(int64_t number) { return value_of(number); }
  static int64_t taken(const libdl_value& value) { return value.held.integer; }
};
template <>
struct ResultValue<uint64_t> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_UINT;
  static libdl_value shown(uint64_t number) { return value_of(number); }
  static uint64_t taken(const libdl_value& value) { return value.held.unsigned_integer; }
};
template <>
struct ResultValue<double> {
  static constexpr libdl_value_type kType = LIBDL_VALUE_FLOAT;
  static libdl_value shown(double number) { return value_of(number); }
  static double taken(const libdl_value& value) { return value.held.number; }
};

}  // namespace libdl
