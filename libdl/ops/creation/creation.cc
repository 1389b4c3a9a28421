// SPDX-License-Identifier: Apache-2.0

#include "ops/creation/creation.h"

#include <cmath>
#include <complex>
#include <tuple>

#include "device/meta.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/core/call.h"
#include "ops/core/holds.h"
#include "ops/creation/copy.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/float_environment.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- defaults ---------------------------------------------------------------------------------

Device device_or_default(const char* op, int argument, std::optional<Device> device) {
  const Device wanted = device.value_or(state().default_device);
  if (wanted.is_cpu() && wanted.index == 0) return wanted;
  try {
    check_device(op, wanted);
  } catch (const Error& error) {
    const std::string& why = error.message();
    const std::string own = std::string(op) + ": ";
    fail_argument(error.code(), op, argument, "device", "is " + device_name(wanted),
                  "a device that exists: " + (why.starts_with(own) ? why.substr(own.size()) : why));
  }
  return wanted;
}

Device device_or_default(const char* op, int argument, std::optional<Device> device, Into into) {
  return !device && into ? into.tensor().device() : device_or_default(op, argument, device);
}

static Dtype or_default(Dtype dtype) { return dtype == Dtype::kNone ? default_dtype() : dtype; }

// The result, or the destination after its checks.
static Tensor target(const char* op, Dims shape, Dtype dtype, std::optional<Device> device,
                     int device_argument, Into into) {
  const Device where = device_or_default(op, device_argument, device, into);
  checked_numel(shape, dtype, op, 1, "shape");  // errors in the operator's own name
  if (!into) return empty(shape, dtype, where);
  Call call(op, into, {});
  call.check_result(shape, dtype, where);
  return into.tensor();
}
static Tensor finish(const char* op, Tensor y, Into into) {
  if (!into) return y;
  written(y, op);
  if (visible_level()) Retangent(y, {}).commit();
  return y;
}

// -- one value --------------------------------------------------------------------------------

Tensor empty_impl(Dims shape, Dtype dtype, std::optional<Device> device) {
  checked_numel(shape, or_default(dtype), "empty", 1, "shape");
  return empty(shape, or_default(dtype), device_or_default("empty", 3, device));
}

Tensor empty_strided_impl(Dims shape, Dims strides, Dtype dtype, std::optional<Device> device) {
  const char* const op = "empty_strided";
  if (shape.size() != strides.size())
    fail_argument(LIBDL_ERROR_SHAPE, op, 2, "strides",
                  "has " + std::to_string(strides.size()) + " entries",
                  std::to_string(shape.size()) + ", one a dimension");
  const Dtype type = or_default(dtype);
  checked_numel(shape, type, op, 1, "shape");
  for (const int64_t s : strides)
    if (s < 0)
      fail_argument(LIBDL_ERROR_VALUE, op, 2, "strides", "is " + to_string(strides),
                    "strides of 0 or more");
  const Extent reach = extent(shape, strides, op, 2, "strides");
  int64_t bytes;
  if (__builtin_add_overflow(reach.high, 1, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(type), &bytes))
    fail_argument(LIBDL_ERROR_OVERFLOW, op, 2, "strides", "is " + to_string(strides),
                  "a reach of fewer than 2^63 bytes");
  const int64_t length[] = {reach.high + 1};
  const Tensor buffer = empty(length, type, device_or_default(op, 4, device));
  return alias(buffer, shape, strides, 0, type);
}

static Tensor filled(const char* op, Dims shape, const Tensor& value, Dtype dtype,
                     std::optional<Device> device, int device_argument, Into into) {
  const Tensor y = target(op, shape, dtype, device, device_argument, into);
  fill_bytes(y, value);
  return finish(op, y, into);
}

Tensor zeros_impl(Dims shape, Dtype dtype, std::optional<Device> device, Into into) {
  return filled("zeros", shape, number(int64_t{0}), or_default(dtype), device, 3, into);
}
Tensor ones_impl(Dims shape, Dtype dtype, std::optional<Device> device, Into into) {
  return filled("ones", shape, number(int64_t{1}), or_default(dtype), device, 3, into);
}

static void check_value(const char* op, const Tensor& fill_value, Dtype type) {
  if (fill_value.ndim() != 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, 2, "fill_value",
                  "has shape " + to_string(fill_value.shape()), "a number");
  check_holds(op, 2, "fill_value", fill_value, type);
}

Tensor full_impl(Dims shape, const Tensor& fill_value, Dtype dtype, std::optional<Device> device,
                 Into into) {
  const Tensor* const operand[] = {&fill_value};
  const Dtype type = dtype == Dtype::kNone ? result_dtype(operand) : dtype;
  check_value("full", fill_value, type);
  return filled("full", shape, fill_value, type, device, 4, into);
}

// -- likes ------------------------------------------------------------------------------------

static Tensor like(const char* op, const Tensor& input, const Tensor* value, Dtype dtype,
                   std::optional<Device> device, int device_argument = 3) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  const Tensor y = empty_as(
      input, type, device_or_default(op, device_argument, device ? device : input.device()));
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
  return like("full_like", input, &fill_value, dtype, device, 4);
}

// -- sequences --------------------------------------------------------------------------------

static void require_number(const char* op, int argument, const char* name, const Tensor& x) {
  if (x.ndim() != 0 || x.is_complex())
    fail_argument(x.is_complex() ? LIBDL_ERROR_DTYPE : LIBDL_ERROR_SHAPE, op, argument, name,
                  x.is_complex() ? "is complex" : "has shape " + to_string(x.shape()),
                  "a real number");
}

// base + i * step as the dtype, computed in the wider of int64 and float64: exact for integers.
template <class T>
static void fill_steps(const Tensor& y, T base, T step) {
  if (is_meta(y.device())) return;
  const bool direct = y.is_contiguous() && y.device().is_cpu() &&
                      y.dtype() == (std::is_same_v<T, double> ? Dtype::kFloat64 : Dtype::kInt64);
  const Tensor wide =
      direct ? y : empty(y.shape(), std::is_same_v<T, double> ? Dtype::kFloat64 : Dtype::kInt64);
  T* const out = wide.template overwrite_plain<T>();
  using Exact = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;  // wraps, no UB
  const Exact from = static_cast<Exact>(base), by = static_cast<Exact>(step);
  constexpr int64_t kBlock = 16;  // of a fixed length, which compilers turn into vectors
  const int64_t n = y.numel();
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    const auto first = static_cast<Exact>(i);  // a place is exact below 2^53
#pragma GCC unroll 16
    for (int64_t k = 0; k < kBlock; ++k)
      out[i + k] = static_cast<T>(from + (first + static_cast<Exact>(k)) * by);
  }
  for (; i < n; ++i) out[i] = static_cast<T>(from + static_cast<Exact>(i) * by);
  if (!direct) copy_bytes(y, wide);
}

// Cut to an integer where it is none.
static int64_t whole_bits(const Tensor& x) {
  return is_inexact(x.dtype()) ? integer_bits(plain(x, Dtype::kInt64)) : integer_bits(x);
}

Tensor arange_impl(const Tensor* start, const Tensor& end, const Tensor* step, Dtype dtype,
                   std::optional<Device> device, Into into) {
  const char* const op = "arange";
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  const Tensor &from = start ? *start : zero, &by = step ? *step : one;
  require_number(op, 1, "start", from);
  require_number(op, 2, "end", end);
  require_number(op, 3, "step", by);
  const bool integers =
      !is_inexact(from.dtype()) && !is_inexact(end.dtype()) && !is_inexact(by.dtype());
  const Dtype type = dtype != Dtype::kNone ? dtype : integers ? Dtype::kInt64 : default_dtype();
  if (is_complex(type))
    fail_argument(LIBDL_ERROR_DTYPE, op, 4, "dtype", std::string("is ") + name_of(type),
                  "a real dtype");
  const DefaultFloatEnvironment environment;
  const double a = item_f64(from), b = item_f64(end), s = item_f64(by);
  if (!(s != 0) || !std::isfinite(s))
    fail_argument(LIBDL_ERROR_VALUE, op, 3, "step", "is " + std::to_string(s), "finite and not 0");
  if (!std::isfinite(a) || !std::isfinite(b))
    fail_argument(LIBDL_ERROR_VALUE, op, 2, "end", "or start is not finite", "finite bounds");
  double count = std::ceil((b - a) / s);
  bool away = (b - a) * s < 0;
  if (integers) {  // exact where doubles are not
    const __int128 distance = wide_integer(end) - wide_integer(from), stride = wide_integer(by);
    away = distance != 0 && (distance < 0) != (stride < 0);
    const __int128 steps = distance / stride + (distance % stride != 0);
    count = static_cast<double>(steps);
  }
  if (away)
    fail_argument(LIBDL_ERROR_VALUE, op, 3, "step",
                  "is " + std::to_string(s) + " and leads away from end", "the other sign");
  if (count >= 9.2e18)
    fail_argument(LIBDL_ERROR_OVERFLOW, op, 2, "end", "makes too many elements", "fewer than 2^63");
  const int64_t shape[] = {static_cast<int64_t>(count)};
  checked_numel(shape, type, op, 2, "end");
  const Tensor y = target(op, shape, type, device, 5, into);
  if (!is_inexact(type))  // from a whole start by a whole step, as in PyTorch; the count is not cut
    fill_steps<int64_t>(y, whole_bits(from), whole_bits(by));
  else
    fill_steps<double>(y, a, s);
  return finish(op, y, into);
}

// From both ends to the middle, so that the last element is `end` exactly. Every stride-th double.
static void fill_between(double* out, int64_t stride, int64_t steps, double a, double b) {
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  for (int64_t i = 0; i < steps; ++i)
    out[i * stride] = i < steps / 2 || steps == 1 ? a + static_cast<double>(i) * step
                                                  : b - static_cast<double>(steps - 1 - i) * step;
}

// Complex bounds want a complex dtype.
static Dtype dtype_between(const char* op, const Tensor& start, const Tensor& end, Dtype dtype) {
  const bool plane = start.is_complex() || end.is_complex();
  for (const Tensor* x : {&start, &end})
    if (x->ndim() != 0)
      fail_argument(LIBDL_ERROR_SHAPE, op, x == &start ? 1 : 2, x == &start ? "start" : "end",
                    "has shape " + to_string(x->shape()), "a number");
  if (dtype == Dtype::kNone) return plane ? complex_of(default_dtype()) : default_dtype();
  if (plane && !is_complex(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, 4, "dtype", std::string("is ") + name_of(dtype),
                  "a complex dtype for complex bounds");
  return dtype;
}

Tensor linspace_impl(const Tensor& start, const Tensor& end, int64_t steps, Dtype dtype,
                     std::optional<Device> device, Into into) {
  const char* const op = "linspace";
  const Dtype type = dtype_between(op, start, end, dtype);
  if (steps < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, 3, "steps", "is " + std::to_string(steps), "0 or more");
  const int64_t shape[] = {steps};
  const Dtype exact = is_complex(type) ? Dtype::kComplex128 : Dtype::kFloat64;
  checked_numel(shape, exact, op, 3, "steps");
  check_holds(op, 1, "start", start, type);
  check_holds(op, 2, "end", end, type);
  const Tensor y = target(op, shape, type, device, 5, into);
  if (is_meta(y.device())) return finish(op, y, into);
  const Tensor wide = empty(shape, exact);
  const DefaultFloatEnvironment environment;
  // Integers count from bounds that are integers, as in PyTorch.
  const auto bound = [type](const Tensor& x) {
    return is_inexact(type) ? item_c128(x) : std::tuple(item_f64(plain(x, type)), 0.0);
  };
  const auto [a, a_imag] = bound(start);
  const auto [b, b_imag] = bound(end);
  if (is_complex(type)) {
    auto* const out = wide.overwrite_plain<std::complex<double>>();
    auto* const parts = reinterpret_cast<double*>(out);  // [steps, 2], by the standard
    fill_between(parts, 2, steps, a, b);
    fill_between(parts + 1, 2, steps, a_imag, b_imag);
  } else {
    fill_between(wide.overwrite_plain<double>(), 1, steps, a, b);
  }
  copy_bytes(y, wide);
  return finish(op, y, into);
}

Tensor eye_impl(int64_t n, std::optional<int64_t> m, Dtype dtype, std::optional<Device> device,
                Into into) {
  const int64_t shape[] = {n, m.value_or(n)};
  if (n < 0 || shape[1] < 0)
    fail_argument(LIBDL_ERROR_VALUE, "eye", n < 0 ? 1 : 2, n < 0 ? "n" : "m",
                  "is " + std::to_string(n < 0 ? n : shape[1]), "0 or more");
  const Dtype type = or_default(dtype);
  checked_numel(shape, type, "eye", n < shape[1] ? 2 : 1, n < shape[1] ? "m" : "n");
  const Tensor y = target("eye", shape, type, device, 4, into);
  const int64_t size[] = {std::min(n, shape[1])};
  // Beside an empty dimension, one may be so large that the sum of strides overflows.
  const int64_t stride[] = {size[0] ? y.stride(0) + y.stride(1) : 1};
  const Tensor diagonal = alias(y, size, stride, y.offset(), y.dtype());
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  fill_bytes(y, zero);
  fill_bytes(diagonal, one);
  return finish("eye", y, into);
}

}  // namespace libdl
