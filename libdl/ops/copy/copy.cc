// SPDX-License-Identifier: Apache-2.0

#include "ops/copy/copy.h"

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/copy/holds.h"
#include "ops/copy/transfer.h"
#include "ops/core/call.h"
#include "ops/core/sum_to.h"
#include "ops/primitive/result.h"
#include "tensor/conversion.h"
#include "tensor/memory_order.h"
#include "tensor/sparse_rows.h"

namespace libdl {

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

// strides: of the copy, a permutation of row-major ones; none: in x's order.
static Tensor copied(const char* op, const Rule& rule, const Tensor& x, Dtype dtype,
                     std::optional<Dims> strides = {}) {
  Call call(op, {}, {&x});
  return copied(call, duplicate(x, dtype, strides), rule);
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
  const auto convert = [](const Tensor& from, Dtype to) { return duplicate(from, to); };
  return copied(call, kept_conversion(x, dtype, convert), kCast);
}

Tensor held(const char* op, const char* name, const Tensor& value, Dtype dtype) {
  check_holds(op, name, value, dtype);
  return cast(value, dtype);
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
      return add(t, to(tangent, dst.dtype(), dst.device(), false, false));
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

}  // namespace libdl
