// SPDX-License-Identifier: Apache-2.0

// Evenly spaced numbers, and powers with such exponents.
#include <cmath>
#include <complex>
#include <tuple>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/sequence.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/copy/item.h"
#include "ops/core/call.h"
#include "ops/creation/creation.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/float_environment.h"

namespace libdl {

// -- by their distance ----------------------------------------------------------------------------

static void require_number(const char* op, const char* name, const Tensor& x) {
  if (x.ndim() != 0 || x.is_complex())
    fail_argument(x.is_complex() ? LIBDL_ERROR_DTYPE : LIBDL_ERROR_SHAPE, op, name,
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

namespace {
// What arange and range take, whose checks are the same but for their order.
struct Steps {
  const char* op;
  const Tensor &start, &end, &step;
  double a = 0, b = 0, s = 0;  // the same numbers

  void check_numbers() const {
    require_number(op, "start", start);
    require_number(op, "end", end);
    require_number(op, "step", step);
  }
  void read() { a = item_f64(start), b = item_f64(end), s = item_f64(step); }
  void check_ends() const {
    if (!std::isfinite(a) || !std::isfinite(b))
      fail_argument(LIBDL_ERROR_VALUE, op, "end", "or start is not finite", "finite bounds");
  }
  void check_step() const {
    if (!(s != 0) || !std::isfinite(s))
      fail_argument(LIBDL_ERROR_VALUE, op, "step", "is " + std::to_string(s), "finite and not 0");
  }
  LIBDL_NORETURN void refuse_direction() const {
    fail_argument(LIBDL_ERROR_VALUE, op, "step",
                  "is " + std::to_string(s) + " and leads away from end", "the other sign");
  }
};
}  // namespace

static Dtype checked_real(const char* op, Dtype dtype) {
  if (is_complex(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, "dtype", std::string("is ") + name_of(dtype),
                  "a real dtype");
  return dtype;
}

// y of `count` numbers, and one more where `more` is 1.
static Tensor filled(const Steps& x, double count, int64_t more, Dtype type,
                     std::optional<Device> device, Into into) {
  if (count >= 9.2e18)
    fail_argument(LIBDL_ERROR_OVERFLOW, x.op, "end", "makes too many elements", "fewer than 2^63");
  const int64_t shape[] = {static_cast<int64_t>(count) + more};
  checked_numel(shape, type, x.op, "end");
  const Tensor y = created_place(x.op, shape, type, device, into);
  if (!is_inexact(type))  // from a whole start by a whole step, as in PyTorch; the count is not cut
    fill_steps<int64_t>(y, whole_bits(x.start), whole_bits(x.step));
  else
    fill_steps<double>(y, x.a, x.s);
  return created(x.op, y, into);
}

// How many steps lead from start to end, which does not belong to the numbers.
static double count_before_end(const Steps& x, bool integers) {
  double count = std::ceil((x.b - x.a) / x.s);
  bool away = (x.b - x.a) * x.s < 0;
  if (integers) {  // exact where doubles are not
    const __int128 distance = wide_integer(x.end) - wide_integer(x.start);
    const __int128 stride = wide_integer(x.step);
    away = distance != 0 && (distance < 0) != (stride < 0);
    const __int128 whole = distance / stride;
    count = static_cast<double>(distance % stride == 0 ? whole : whole + 1);
  }
  if (away) x.refuse_direction();
  return count;
}

Tensor arange_impl(const Tensor* start, const Tensor& end, const Tensor* step, Dtype dtype,
                   std::optional<Device> device, Into into) {
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  Steps x{"arange", start ? *start : zero, end, step ? *step : one};
  x.check_numbers();
  const bool integers =
      !is_inexact(x.start.dtype()) && !is_inexact(end.dtype()) && !is_inexact(x.step.dtype());
  const Dtype own = integers ? Dtype::kInt64 : default_dtype();
  const Dtype type = checked_real(x.op, dtype != Dtype::kNone ? dtype : own);
  const DefaultFloatEnvironment environment;
  x.read();
  x.check_step();
  x.check_ends();
  return filled(x, count_before_end(x, integers), 0, type, device, into);
}

// The end belongs to the numbers, and PyTorch's default dtype is not that of the arguments.
Tensor range_impl(const Tensor* start, const Tensor& end, const Tensor* step, Dtype dtype,
                  std::optional<Device> device, Into into) {
  const Tensor zero = number(int64_t{0}), one = number(int64_t{1});
  Steps x{"range", start ? *start : zero, end, step ? *step : one};
  x.check_numbers();
  const Dtype type = checked_real(x.op, dtype != Dtype::kNone ? dtype : default_dtype());
  const DefaultFloatEnvironment environment;
  x.read();
  x.check_ends();
  if (!is_inexact(type)) x.a = std::trunc(x.a), x.b = std::trunc(x.b), x.s = std::trunc(x.s);
  x.check_step();
  if ((x.b - x.a) * x.s < 0) x.refuse_direction();
  return filled(x, std::floor((x.b - x.a) / x.s), 1, type, device, into);
}

// -- by their number ------------------------------------------------------------------------------

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
      fail_argument(LIBDL_ERROR_SHAPE, op, x == &start ? "start" : "end",
                    "has shape " + to_string(x->shape()), "a number");
  if (dtype == Dtype::kNone) return plane ? complex_of(default_dtype()) : default_dtype();
  if (plane && !is_complex(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, "dtype", std::string("is ") + name_of(dtype),
                  "a complex dtype for complex bounds");
  return dtype;
}

static Dtype exact_for(Dtype type) {
  return is_complex(type) ? Dtype::kComplex128 : Dtype::kFloat64;
}

static void check_steps(const char* op, int64_t steps, Dtype type) {
  if (steps < 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "steps", "is " + std::to_string(steps), "0 or more");
  const int64_t shape[] = {steps};
  checked_numel(shape, exact_for(type), op, "steps");
}

// For numbers of the type, with all digits.
static Tensor numbers_between(const Tensor& start, const Tensor& end, int64_t steps, Dtype type) {
  const int64_t shape[] = {steps};
  const Tensor wide = empty(shape, exact_for(type));
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
  return wide;
}

Tensor linspace_impl(const Tensor& start, const Tensor& end, int64_t steps, Dtype dtype,
                     std::optional<Device> device, Into into) {
  const char* const op = "linspace";
  const Dtype type = dtype_between(op, start, end, dtype);
  check_steps(op, steps, type);
  check_holds(op, "start", start, type);
  check_holds(op, "end", end, type);
  const int64_t shape[] = {steps};
  const Tensor y = created_place(op, shape, type, device, into);
  if (!is_meta(y.device())) copy_bytes(y, numbers_between(start, end, steps, type));
  return created(op, y, into);
}

// Of integers the ends are cut before, and the powers after.
Tensor logspace_impl(const Tensor& start, const Tensor& end, int64_t steps, double base,
                     Dtype dtype, std::optional<Device> device, Into into) {
  const char* const op = "logspace";
  const Dtype type = dtype_between(op, start, end, dtype);
  check_steps(op, steps, type);
  if (!is_inexact(type)) {
    check_holds(op, "start", start, type);
    check_holds(op, "end", end, type);
  }
  const int64_t shape[] = {steps};
  const Tensor y = created_place(op, shape, type, device, into);
  if (!is_meta(y.device()))
    copy_bytes(y, pow(number(base), numbers_between(start, end, steps, type)));
  return created(op, y, into);
}

}  // namespace libdl
