// SPDX-License-Identifier: Apache-2.0

#include "ops/creation/copy.h"

#include <complex>
#include <cstring>

#include "device/meta.h"
#include "device/transfer.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/core/form_plan.h"
#include "ops/core/holds.h"
#include "ops/core/launch.h"
#include "ops/creation/creation.h"
#include "ops/creation/transfer.h"
#include "ops/pointwise/pointwise.h"
#include "tensor/conversion.h"
#include "tensor/memory_order.h"
#include "tensor/row_major.h"
#include "tensor/sparse_rows.h"

namespace libdl {

// -- inner steps --------------------------------------------------------------------------------

void copy_bytes(const Tensor& dst, const Tensor& src, bool non_blocking) {
  if (memory_elsewhere() && dst.device() != src.device()) [[unlikely]]
    return transfer(dst, src, non_blocking);
  if (dst.numel() == 0) return;
  const Tensor* const in[] = {&src};
  if (memory_is_special()) [[unlikely]] {
    FormPlan plan;
    if (plan.set(dst, in)) return launch_copy(dst.device(), {plan.view(dst, 0), plan.view(src, 1)});
  }
  Plan plan;
  plan.set(dst, in);
  launch_copy(dst.device(), {plan.view(dst, 0), plan.view(src, 1)});
}

void fill_bytes(const Tensor& dst, const Tensor& value) {
  if (dst.numel() == 0) return;
  if (!value.device().is_cpu()) return copy_bytes(dst, value);
  alignas(16) std::byte element[16];
  const int64_t one = 1;
  const kernels::View cell{element, &one, &one, 0, static_cast<int32_t>(dst.dtype())};
  void* const given = value.plain(Access::kRead);
  launch_copy({}, {cell, {given, &one, &one, 0, static_cast<int32_t>(value.dtype())}});
  Plan plan;
  plan.set(dst, {});
  launch_fill(dst.device(), {plan.view(dst, 0), element});
}

Tensor plain(const Tensor& x, Dtype dtype) {
  if (!x.is_number() && x.is_contiguous() && x.dtype() == dtype) return x;
  LIBDL_OBSERVED_PART("to", plain(x, dtype), x);
  Tensor y = empty(x.shape(), dtype, x.device());
  copy_bytes(y, x);
  return y;
}

Tensor on_device(const Tensor& x, Device device) {
  if (x.device() == device) return x;
  LIBDL_OBSERVED_PART("to", on_device(x, device), x);
  check_has_values("to", x.device());
  Tensor y = empty(x.shape(), x.dtype(), device);
  copy_bytes(y, x);
  return y;
}

Tensor zeros(Dims shape, Dtype dtype, Device device) {
  LIBDL_OBSERVED_AS((observe_detail::Name{"zeros"}), zeros(shape, dtype, device), shape, dtype,
                    device);
  Tensor x = empty(shape, dtype, device);
  const auto bytes = static_cast<size_t>(x.numel() * size_of(dtype));
  if (!device.is_cpu()) {
    clear_bytes(device, x.overwrite_plain(), bytes);
  } else if (bytes) {
    std::memset(x.overwrite_plain(), 0, bytes);
  }
  return x;
}

Tensor full(Dims shape, const Tensor& value, Dtype dtype, Device device) {
  LIBDL_OBSERVED_AS((observe_detail::Name{"full"}), full(shape, value, dtype, device), shape, value,
                    dtype, device);
  Tensor x = empty(shape, dtype, device);
  fill_bytes(x, value);
  return x;
}

// -- copies -------------------------------------------------------------------------------------

// The identity up to dtype: the engine casts what comes back.
static void copy_vjp(Backward& b) { b.set_grad(0, b.dy()); }
static const Rule kClone{.name = "clone", .vjp = copy_vjp, .takes_batch = true},
    kCast{.name = "to", .vjp = copy_vjp, .takes_batch = true};

// The operator's end: y has x's elements.
static Tensor copied(Call& call, Tensor y, const Rule& rule) {
  const Dtype dtype = y.dtype();
  y = call.done(std::move(y), rule, NoAttr{});
  if (call.forward()) call.jvp(y, [&] { return cast(clone(call.tangent(0)), dtype); });
  return y;
}

// A copy of a sparse matrix is one, too, unless it is to lie otherwise; undefined.
static Tensor sparse_copy(const Tensor& x, Dtype dtype, std::optional<Dims> strides) {
  if (!memory_is_special() || x.is_number() || dtype != x.dtype() || !is_sparse(x)) return {};
  if (strides && !same(*strides, x.strides())) return {};
  return sparse_matrix(x.shape(), *held_rows(x), held_values(x));
}

// strides: of the copy, a permutation of row-major ones; none: in x's order.
static Tensor copied(const char* op, const Rule& rule, const Tensor& x, Dtype dtype,
                     std::optional<Dims> strides = {}) {
  Call call(op, {}, {&x});
  Tensor y = sparse_copy(x, dtype, strides);
  if (!y.defined()) {
    y = strides ? empty(x.shape(), dtype, x.device()) : empty_as(x, dtype, x.device());
    if (strides) restride(y, *strides);
    copy_bytes(y, x);
  }
  return copied(call, std::move(y), rule);
}

Tensor clone_impl(const Tensor& input) { return copied("clone", kClone, input, input.dtype()); }
Tensor clone_with(const Tensor& x, Dims strides) {
  LIBDL_OBSERVED_PART("clone", clone_with(x, strides), x);
  return copied("clone", kClone, x, x.dtype(), strides);
}
Tensor row_major_clone(const Tensor& x) {
  const Shape strides = contiguous_strides(x.shape());
  return clone_with(x, {strides.data(), strides.size()});
}
Tensor contiguous_impl(const Tensor& input) {
  return input.is_contiguous() && !input.is_number() ? input : row_major_clone(input);
}
Tensor cast(const Tensor& x, Dtype dtype) {
  if (x.dtype() == dtype && !x.is_number()) return x;
  LIBDL_OBSERVED_PART("to", cast(x, dtype), x, dtype);
  return copied("to", kCast, x, dtype);
}

Tensor cast_kept(const Tensor& x, Dtype dtype) {
  LIBDL_OBSERVED_PART("to", cast_kept(x, dtype), x, dtype);
  Call call("to", {}, {&x});
  const auto convert = [](const Tensor& from, Dtype to) {
    Tensor y = empty_as(from, to, from.device());
    copy_bytes(y, from);
    return y;
  };
  return copied(call, kept_conversion(x, dtype, convert), kCast);
}

Tensor to_impl(const Tensor& input, Dtype dtype, std::optional<Device> device, bool non_blocking,
               bool copy) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  if (device) {
    const Device where = device_or_default("to", device);
    if (where != input.device()) return transferred(input, type, where, non_blocking);
  }
  if (copy || input.is_number()) return copied("to", kCast, input, type);
  return cast(input, type);
}

// dst = src, broadcast: dst's old value no longer matters, src's gradient is summed down.
namespace {
struct CopyAttr {
  Shape shape;
  Device from;
};
}  // namespace
static void copy_into_vjp(Backward& b) {
  const auto& a = b.attr<CopyAttr>();
  if (b.needs(1))
    b.set_grad(1, to(sum_to(b.dy(), a.shape, b.lead()), Dtype::kNone, a.from, false, false));
  if (b.needs(0)) b.set_grad(0, zeros(b.dy().shape(), b.dy().dtype(), b.dy().device()));
}
static const Rule kCopyInto{.name = "copy_", .vjp = copy_into_vjp, .takes_batch = true};

// dst's dtype decides; complex numbers are not cut to their real part.
static void check_part(const char* op, const char* name, const Tensor& src, Dtype dtype) {
  if (src.is_number()) return check_holds(op, name, src, dtype);
  if (src.is_complex() && !is_complex(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(src.dtype()),
                  std::string("a real dtype, as dst is ") + name_of(dtype));
}

static void require_destination(const char* op, Into into) {
  if (!into) fail_argument(LIBDL_ERROR_NULL, op, "dst", "is absent", "a tensor");
}

bool broadcasts_to(Dims shape, Dims wanted) {
  if (shape.size() > wanted.size()) return false;
  const size_t lead = wanted.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != wanted[lead + d] && shape[d] != 1) return false;
  return true;
}

// copy_, fill_ and zero_, each under its own name.
static Tensor overwrite(const char* op, const char* name, const Tensor& src, Into into,
                        bool non_blocking = false) {
  require_destination(op, into);
  const Tensor& dst = into.tensor();
  // Writing is in place by nature: dst counts as an operand of its own.
  const bool ends_history = has_history(dst) && (state().mode & kModeGrad);
  if (!src.is(dst) && overlap(dst, src) == Overlap::kFull && !has_history(src) && !ends_history &&
      !visible_level())
    return dst;
  const Tensor* const operands[] = {&dst, &src};
  Call call(op, into, std::span(operands));
  if (!broadcasts_to(src.shape(), dst.shape()))
    call.bad(LIBDL_ERROR_SHAPE, name, "has shape " + to_string(src.shape()),
             "one that broadcasts to " + to_string(dst.shape()));
  check_part(op, name, src, dst.dtype());
  Tensor y = alias(dst);
  if (call.forward())
    call.ready_jvp(y, [&] {
      const Tensor& tangent = call.tangent(1);
      Tensor t = zeros(dst.shape(), dst.dtype(), dst.device());
      if (!tangent.defined()) return t;
      return pointwise(k_add, t, to(tangent, dst.dtype(), dst.device(), false, false));
    });
  call.ready(y, kCopyInto, CopyAttr{Shape(src.shape()), src.device()});
  if (src.ndim() == 0 && dst.numel() > 1) {
    fill_bytes(dst, src);  // converts the value once
  } else {
    copy_bytes(dst, src, non_blocking);
  }
  return call.finish(std::move(y));
}

Tensor copy_impl(const Tensor& src, bool non_blocking, Into into) {
  return overwrite("copy_", "src", src, into, non_blocking);
}

Tensor write_result(const char* op, const Tensor& y, Into into,
                    std::span<const Tensor* const> operands) {
  if (!into) return y;
  Call call(op, into, operands);
  return call.done(y);
}

Tensor fill_impl(const Tensor& value, Into into) {
  require_destination("fill_", into);
  if (value.ndim() != 0)
    fail_argument(LIBDL_ERROR_SHAPE, "fill_", "value", "has shape " + to_string(value.shape()),
                  "a number or a 0-d tensor");
  return overwrite("fill_", "value", value, into);
}
// A sparse matrix then holds no rows, as a new gradient that is added expects.
static bool zero_rows(Into into) {
  if (!into || !memory_is_special() || !is_sparse(into.tensor())) return false;
  const Tensor& x = into.tensor();
  const Call call("zero_", into, {&x});
  if (!call.plain()) return false;
  const int64_t none[] = {0, x.size(1)};
  take_rows(x, sparse_matrix(x.shape(), {}, empty(none, x.dtype())), "zero_");
  return true;
}

Tensor zero_impl(Into into) {
  if (zero_rows(into)) return into.tensor();
  return overwrite("zero_", "value", number(int64_t{0}), into);
}

// -- items --------------------------------------------------------------------------------------

// The only element, converted.
template <class T>
static T item_as(const Tensor& x, const char* op, Dtype dtype) {
  if (x.numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has " + std::to_string(x.numel()) + " elements",
                  "exactly one");
  if (!can_cast(x.dtype(), dtype) && is_complex(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  "a real dtype");
  T value;
  const int64_t one = 1;
  alignas(16) std::byte element[16];
  void* from = x.plain(Access::kRead);
  if (!x.device().is_cpu()) {
    if (is_meta(x.device()))
      fail(LIBDL_ERROR_UNSUPPORTED, op, "Tensor.item() cannot be called on meta tensors");
    note_use(x);
    read_bytes(element, x.device(), from, static_cast<size_t>(size_of(x.dtype())));
    from = element;
  }
  launch_copy({}, {{&value, &one, &one, 0, static_cast<int32_t>(dtype)},
                   {from, &one, &one, 0, static_cast<int32_t>(x.dtype())}});
  return value;
}

bool item_bool_impl(const Tensor& input) {
  // Complex numbers are true unless both parts are 0, which the conversion to bool knows.
  if (input.is_complex()) {
    const auto [re, im] =
        rename_error("item_bool", {{"input", "input"}}, [&] { return item_c128(input); });
    return re != 0 || im != 0;
  }
  return item_as<uint8_t>(input, "item_bool", Dtype::kBool) != 0;
}
int64_t integer_bits(const Tensor& input) {
  return item_as<int64_t>(input, "item_i64", Dtype::kInt64);
}
// The bits as another sign reads them, if that is the same number.
static int64_t whole_item(const Tensor& x, const char* op, bool is_unsigned) {
  if (is_inexact(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  "integers or bool");
  const int64_t bits = item_as<int64_t>(x, op, Dtype::kInt64);
  if (bits < 0 && is_unsigned != (x.dtype() == Dtype::kUint64))
    fail_argument(
        LIBDL_ERROR_OVERFLOW, op, "input",
        "is " + (is_unsigned ? std::to_string(bits) : std::to_string(static_cast<uint64_t>(bits))),
        is_unsigned ? "0 or more" : "at most 2^63 - 1");
  return bits;
}
int64_t item_i64_impl(const Tensor& input) { return whole_item(input, "item_i64", false); }
uint64_t item_u64_impl(const Tensor& input) {
  return static_cast<uint64_t>(whole_item(input, "item_u64", true));
}
double item_f64_impl(const Tensor& input) {
  return item_as<double>(input, "item_f64", Dtype::kFloat64);
}
std::tuple<double, double> item_c128_impl(const Tensor& input) {
  const auto z = item_as<std::complex<double>>(input, "item_c128", Dtype::kComplex128);
  return {z.real(), z.imag()};
}

}  // namespace libdl
