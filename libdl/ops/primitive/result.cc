// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/result.h"

#include "base/error.h"
#include "device/state.h"

namespace libdl {

// -- dtypes -----------------------------------------------------------------------------------

Dtype default_dtype() { return static_cast<Dtype>(state().default_dtype); }

// One operand class joins a result of higher classes: it counts if its category is higher.
static Dtype join(Dtype result, Dtype lower) {
  if (result == Dtype::kNone) return lower;
  if (lower == Dtype::kNone || category(lower) <= category(result)) return result;
  if (is_complex(lower) && is_floating(result)) return complex_of(result);
  return lower;
}

Dtype result_dtype(std::span<const Tensor* const> operands) {
  Dtype dimensioned = Dtype::kNone, scalar = Dtype::kNone, number = Dtype::kNone;
  for (const Tensor* x : operands) {
    Dtype& of_class = x->is_number() ? number : x->ndim() ? dimensioned : scalar;
    of_class = of_class == Dtype::kNone ? x->dtype() : promote(of_class, x->dtype());
  }
  if (number == Dtype::kFloat64) number = default_dtype();
  if (number == Dtype::kComplex128) number = complex_of(default_dtype());
  return join(join(dimensioned, scalar), number);
}

// -- shapes -----------------------------------------------------------------------------------

Shape broadcast_shape(const char* op, const char* const* names,
                      std::span<const Tensor* const> operands) {
  Shape shape(operands[0]->shape());
  for (size_t i = 1; i < operands.size(); ++i) {
    const Dims other = operands[i]->shape();
    while (shape.size() < other.size()) shape.insert(0, 1);
    const size_t lead = shape.size() - other.size();
    for (size_t d = 0; d < other.size(); ++d) {
      int64_t& size = shape[lead + d];
      if (size == other[d] || other[d] == 1) continue;
      if (size != 1)
        fail_argument(LIBDL_ERROR_SHAPE, op, names[i],
                      "has shape " + to_string(other) + ", which does not broadcast with " +
                          to_string(operands[0]->shape()),
                      "");
      size = other[d];
    }
  }
  return shape;
}

// -- devices ----------------------------------------------------------------------------------

Device device_among(std::span<const Tensor* const> operands) {
  for (const Tensor* x : operands)
    if (!x->device().is_cpu()) return x->device();
  return {};
}

Device device_or_default(const char* op, std::optional<Device> device) {
  const Device wanted = device.value_or(state().default_device);
  if (wanted.is_cpu() && wanted.index == 0) return wanted;
  try {
    check_device(op, wanted);
  } catch (const Error& error) {
    const std::string& why = error.message();
    const std::string own = std::string(op) + ": ";
    fail_argument(error.code(), op, "device", "is " + device_name(wanted),
                  "a device that exists: " + (why.starts_with(own) ? why.substr(own.size()) : why));
  }
  return wanted;
}

Device device_or_default(const char* op, std::optional<Device> device, Into into) {
  return !device && into ? into.tensor().device() : device_or_default(op, device);
}

}  // namespace libdl
