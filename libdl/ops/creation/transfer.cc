// SPDX-License-Identifier: Apache-2.0

#include "ops/creation/transfer.h"

#include "base/error.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/pinned.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/core/call.h"
#include "ops/core/launch.h"
#include "ops/creation/copy.h"
#include "ops/creation/creation.h"
#include "tensor/memory_order.h"
#include "tensor/pinned.h"
#include "tensor/row_major.h"

namespace libdl {

// -- inner steps ----------------------------------------------------------------------------------

// The elements of a dense tensor in the order of their addresses.
static Tensor as_it_lies(const Tensor& x) {
  const int64_t count[] = {x.numel()}, one[] = {1};
  return alias(x, count, one, x.offset(), x.dtype());
}

// Between two devices of a kind: on the stream of the one that is read, after what the other has
// queued, and before what it will queue.
static void copy_across(const Tensor& to, const Tensor& from, size_t bytes) {
  const Stream source = current_stream(from.device()), target = current_stream(to.device());
  const Event free = make_event(to.device(), false), done = make_event(from.device(), false);
  record(*free, *target);
  wait(*source, *free);
  copy_bytes(to.overwrite_plain(), to.device(), from.read_plain(), from.device(), bytes,
             source->native);
  record(*done, *source);
  wait(*target, *done);
}

// Both are contiguous and of one dtype.
static void copy_dense(const Tensor& to, const Tensor& from, bool non_blocking) {
  note_use(from);
  note_use(to);
  const auto bytes = static_cast<size_t>(byte_count(from));
  const Device device = to.device().is_cpu() ? from.device() : to.device();
  if (!to.device().is_cpu() && !from.device().is_cpu()) return copy_across(to, from, bytes);
  const Tensor& host = to.device().is_cpu() ? to : from;
  if (non_blocking && is_pinned_for(host.storage(), device)) {
    used_by_copy(host.storage(), device);
    copy_bytes(to.overwrite_plain(), to.device(), from.read_plain(), from.device(), bytes,
               native_stream(device));
  } else if (to.device().is_cpu()) {
    read_bytes(to.overwrite_plain(), device, from.read_plain(), bytes);
  } else {
    write_bytes(device, to.overwrite_plain(), from.read_plain(), bytes);
  }
}

// Between devices the bytes go as they are: what has gaps is packed on its own side before, and
// dst's dtype is made on src's.
void transfer(const Tensor& dst, const Tensor& src, bool non_blocking) {
  if (is_meta(dst.device())) return;
  check_has_values("copy_", src.device());
  if (dst.numel() == 0) return;
  if (!dst.is_contiguous() && is_dense(dst) && src.dtype() == dst.dtype() &&
      same(src.shape(), dst.shape()) && same(src.strides(), dst.strides()))
    return transfer(as_it_lies(dst), as_it_lies(src), non_blocking);
  if (src.is_number() || (src.ndim() == 0 && src.device().is_cpu())) return fill_bytes(dst, src);
  const bool both_elsewhere = !src.device().is_cpu() && !dst.device().is_cpu();
  if (both_elsewhere && src.device().type != dst.device().type)
    return transfer(dst, on_host(src), false);
  const Tensor from = plain(src, dst.dtype());
  if (dst.is_contiguous() && dst.numel() == from.numel())
    return copy_dense(dst, from, non_blocking);
  const Tensor to = empty(from.shape(), dst.dtype(), dst.device());
  copy_dense(to, from, non_blocking);
  copy_bytes(dst, to);
}

// An uninitialised copy on the CPU, in x's order of dimensions.
static Tensor pinned_as(const Tensor& x, Dtype dtype, Device device) {
  const Shape strides = x.is_contiguous() ? contiguous_strides(x.shape()) : strides_as(x);
  const auto bytes = static_cast<size_t>(x.numel() * size_of(dtype));
  return over_storage(allocate_pinned(bytes, device), x.shape(), {strides.data(), strides.size()},
                      0, dtype, "pin_memory");
}

// -- to another device; the gradient goes the way back --------------------------------------------

namespace {
struct TransferAttr {
  Device from;
};
}  // namespace
static void transfer_vjp(Backward& b) {
  b.set_grad(0, to(b.dy(), Dtype::kNone, b.attr<TransferAttr>().from, false, false));
}
static const Rule kTransfer{"to", transfer_vjp};

Tensor transferred(const Tensor& x, Dtype dtype, Device device, bool non_blocking) {
  check_has_values("to", x.device());
  Call call("to", {}, {&x});
  const bool stays_queued = non_blocking && device.is_cpu() && pins_memory(x.device());
  Tensor y = stays_queued ? pinned_as(x, dtype, x.device()) : empty_as(x, dtype, device);
  copy_bytes(y, x, non_blocking);
  y = call.done(std::move(y), kTransfer, TransferAttr{x.device()});
  if (call.forward())
    call.jvp(y, [&] { return to(call.tangent(0), dtype, device, non_blocking, true); });
  return y;
}

// -- pinned memory --------------------------------------------------------------------------------

static void pin_vjp(Backward& b) { b.set_grad(0, b.dy()); }
static const Rule kPin{"pin_memory", pin_vjp};

Tensor pin_memory_impl(const Tensor& input, std::optional<Device> device) {
  const char* const op = "pin_memory";
  if (!input.device().is_cpu())
    fail_argument(LIBDL_ERROR_DEVICE, op, "input", "is on " + device_name(input.device()),
                  "a tensor on the cpu");
  const Device where = device ? device_or_default(op, device) : Device{LIBDL_DEVICE_CUDA, 0};
  if (where.is_cpu() || (!device && device_count(where.type) == 0)) return input;
  if (!input.is_number() && is_pinned_for(input.storage(), where)) return input;
  Call call(op, {}, {&input});
  Tensor y = pinned_as(input, input.dtype(), where);
  copy_bytes(y, input);
  y = call.done(std::move(y), kPin, NoAttr{});
  if (call.forward()) call.jvp(y, [&] { return clone(call.tangent(0)); });
  return y;
}

}  // namespace libdl
