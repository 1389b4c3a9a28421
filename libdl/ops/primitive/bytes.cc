// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/bytes.h"

#include <cstring>

#include "base/error.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/pinned.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "ops/primitive/form_plan.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/observe.h"
#include "tensor/memory_order.h"
#include "tensor/pinned.h"
#include "tensor/row_major.h"
#include "tensor/sparse_rows.h"

namespace libdl {

// -- between devices ------------------------------------------------------------------------------

// The elements of a dense tensor in the order of their addresses.
static Tensor in_memory_order(const Tensor& x) {
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
static void transfer(const Tensor& dst, const Tensor& src, bool non_blocking) {
  if (is_meta(dst.device())) return;
  check_has_values("copy_", src.device());
  if (dst.numel() == 0) return;
  if (!dst.is_contiguous() && is_dense(dst) && src.dtype() == dst.dtype() &&
      same(src.shape(), dst.shape()) && same(src.strides(), dst.strides()))
    return transfer(in_memory_order(dst), in_memory_order(src), non_blocking);
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

// -- copies and fills -----------------------------------------------------------------------------

bool broadcasts_to(Dims shape, Dims expected) {
  if (shape.size() > expected.size()) return false;
  const size_t lead = expected.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != expected[lead + d] && shape[d] != 1) return false;
  return true;
}

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
  void* const passed = value.plain(Access::kRead);
  launch_copy({}, {cell, {passed, &one, &one, 0, static_cast<int32_t>(value.dtype())}});
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

// -- new tensors ----------------------------------------------------------------------------------

// A copy of a sparse matrix is one, too, unless it is to lie otherwise; undefined.
static Tensor sparse_copy(const Tensor& x, Dtype dtype, std::optional<Dims> strides) {
  if (!memory_is_special() || x.is_number() || dtype != x.dtype() || !is_sparse(x)) return {};
  if (strides && !same(*strides, x.strides())) return {};
  return sparse_matrix(x.shape(), *held_rows(x), held_values(x));
}

Tensor duplicate(const Tensor& x, Dtype dtype, std::optional<Dims> strides) {
  if (Tensor y = sparse_copy(x, dtype, strides); y.defined()) return y;
  Tensor y = strides ? empty(x.shape(), dtype, x.device()) : empty_as(x, dtype, x.device());
  if (strides) restride(y, *strides);
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

}  // namespace libdl
