// SPDX-License-Identifier: Apache-2.0

#include "ops/copy/transfer.h"

#include "base/error.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/pinned.h"
#include "entries/copy.h"
#include "ops/core/call.h"
#include "ops/primitive/bytes.h"
#include "ops/primitive/result.h"
#include "tensor/memory_order.h"
#include "tensor/pinned.h"
#include "tensor/row_major.h"

namespace libdl {

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
