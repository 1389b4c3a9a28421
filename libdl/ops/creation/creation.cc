// SPDX-License-Identifier: Apache-2.0

#include "ops/creation/creation.h"

#include <algorithm>

#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- defaults ---------------------------------------------------------------------------------

static Dtype or_default(Dtype dtype) { return dtype == Dtype::kNone ? default_dtype() : dtype; }

Tensor created_place(const char* op, Dims shape, Dtype dtype, std::optional<Device> device,
                     Into into) {
  const Device where = device_or_default(op, device, into);
  checked_numel(shape, dtype, op, "shape");  // errors in the operator's own name
  if (!into) return empty(shape, dtype, where);
  Call call(op, into, {});
  call.check_result(shape, dtype, where);
  return into.tensor();
}
Tensor created(const char* op, Tensor y, Into into) {
  if (!into) return y;
  written(y, op);
  if (visible_level()) Retangent(y, {}).commit();
  return y;
}

// -- one value --------------------------------------------------------------------------------

Tensor empty_impl(Dims shape, Dtype dtype, std::optional<Device> device) {
  checked_numel(shape, or_default(dtype), "empty", "shape");
  return empty(shape, or_default(dtype), device_or_default("empty", device));
}

Tensor empty_strided_impl(Dims shape, Dims strides, Dtype dtype, std::optional<Device> device) {
  const char* const op = "empty_strided";
  if (shape.size() != strides.size())
    fail_argument(LIBDL_ERROR_SHAPE, op, "strides",
                  "has " + std::to_string(strides.size()) + " entries",
                  std::to_string(shape.size()) + ", one a dimension");
  const Dtype type = or_default(dtype);
  checked_numel(shape, type, op, "shape");
  for (const int64_t s : strides)
    if (s < 0)
      fail_argument(LIBDL_ERROR_VALUE, op, "strides", "is " + to_string(strides),
                    "strides of 0 or more");
  const Extent reach = extent(shape, strides, op, "strides");
  int64_t bytes;
  if (__builtin_add_overflow(reach.high, 1, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(type), &bytes))
    fail_argument(LIBDL_ERROR_OVERFLOW, op, "strides", "is " + to_string(strides),
                  "a reach of fewer than 2^63 bytes");
  const int64_t length[] = {reach.high + 1};
  const Tensor buffer = empty(length, type, device_or_default(op, device));
  return alias(buffer, shape, strides, 0, type);
}

static Tensor filled(const char* op, Dims shape, const Tensor& value, Dtype dtype,
                     std::optional<Device> device, Into into) {
  const Tensor y = created_place(op, shape, dtype, device, into);
  fill_bytes(y, value);
  return created(op, y, into);
}

Tensor zeros_impl(Dims shape, Dtype dtype, std::optional<Device> device, Into into) {
  return filled("zeros", shape, number(int64_t{0}), or_default(dtype), device, into);
}
Tensor ones_impl(Dims shape, Dtype dtype, std::optional<Device> device, Into into) {
  return filled("ones", shape, number(int64_t{1}), or_default(dtype), device, into);
}

static void check_value(const char* op, const Tensor& fill_value, Dtype type) {
  if (fill_value.ndim() != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "fill_value", "has shape " + to_string(fill_value.shape()),
                  "a number");
  check_holds(op, "fill_value", fill_value, type);
}

Tensor full_impl(Dims shape, const Tensor& fill_value, Dtype dtype, std::optional<Device> device,
                 Into into) {
  const Tensor* const operand[] = {&fill_value};
  const Dtype type = dtype == Dtype::kNone ? result_dtype(operand) : dtype;
  check_value("full", fill_value, type);
  return filled("full", shape, fill_value, type, device, into);
}

// -- likes ------------------------------------------------------------------------------------

static Tensor like(const char* op, const Tensor& input, const Tensor* value, Dtype dtype,
                   std::optional<Device> device) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  const Tensor y = empty_as(input, type, device_or_default(op, device ? device : input.device()));
  if (value) fill_bytes(y, *value);
  return y;
}
Tensor empty_like_impl(const Tensor& input, Dtype dtype, std::optional<Device> device) {
  return like("empty_like", input, nullptr, dtype, device);
}
Tensor zeros_like_impl(const Tensor& input, Dtype dtype, std::optional<Device> device) {
  const Tensor zero = number(int64_t{0});
  return like("zeros_like", input, &zero, dtype, device);
}
Tensor ones_like_impl(const Tensor& input, Dtype dtype, std::optional<Device> device) {
  const Tensor one = number(int64_t{1});
  return like("ones_like", input, &one, dtype, device);
}
Tensor full_like_impl(const Tensor& input, const Tensor& fill_value, Dtype dtype,
                      std::optional<Device> device) {
  check_value("full_like", fill_value, dtype == Dtype::kNone ? input.dtype() : dtype);
  return like("full_like", input, &fill_value, dtype, device);
}

// -- the identity ------------------------------------------------------------------------------

Tensor eye_impl(int64_t n, std::optional<int64_t> m, Dtype dtype, std::optional<Device> device,
                Into into) {
  const int64_t shape[] = {n, m.value_or(n)};
  if (n < 0 || shape[1] < 0)
    fail_argument(LIBDL_ERROR_VALUE, "eye", n < 0 ? "n" : "m",
                  "is " + std::to_string(n < 0 ? n : shape[1]), "0 or more");
  const Dtype type = or_default(dtype);
  checked_numel(shape, type, "eye", n < shape[1] ? "m" : "n");
  const Tensor y = created_place("eye", shape, type, device, into);
  const int64_t size[] = {std::min(n, shape[1])};
  // Beside an empty dimension, one may be so large that the sum of strides overflows.
  const int64_t stride[] = {size[0] ? y.stride(0) + y.stride(1) : 1};
  const Tensor diagonal = alias(y, size, stride, y.offset(), y.dtype());
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  fill_bytes(y, zero);
  fill_bytes(diagonal, one);
  return created("eye", y, into);
}

}  // namespace libdl
