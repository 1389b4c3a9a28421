// SPDX-License-Identifier: Apache-2.0

#include "ops/indexing/indices.h"

#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/primitive/launch.h"

namespace libdl {

Tensor as_index(const Call& call, const char* name, const Tensor& index) {
  const Dtype type = index.dtype();
  if (!is_integral(type))
    call.bad(LIBDL_ERROR_DTYPE, name, std::string("is ") + name_of(type), "int64 or int32");
  if (index.is_number() || (type != Dtype::kInt64 && type != Dtype::kInt32))
    return plain(index, Dtype::kInt64);
  return index;
}

static int64_t value_at(const Tensor& index, Dims position) {
  int64_t offset = 0;
  for (int d = 0; d < index.ndim(); ++d) offset += position[d] * index.stride(d);
  return index.dtype() == Dtype::kInt32 ? index.read_plain<int32_t>()[offset]
                                        : index.read_plain<int64_t>()[offset];
}

LIBDL_NORETURN [[gnu::cold]] static void reject_value(const Call& call, const char* name,
                                                      const Tensor& index, int64_t size,
                                                      int64_t bad) {
  Shape position(static_cast<size_t>(index.ndim()), 0);
  for (int d = index.ndim() - 1; d >= 0; --d) {
    position[d] = bad % index.size(d);
    bad /= index.size(d);
  }
  std::string found = "holds " + std::to_string(value_at(index, position));
  if (index.ndim() > 0) found += " at position " + to_string(position);
  call.bad(LIBDL_ERROR_INDEX, name, found,
           size == 0 ? "no index into a dimension of size 0"
                     : std::to_string(-size) + " to " + std::to_string(size - 1));
}

Tensor checked_index(const Call& call, Into into, const char* name, const Tensor& index,
                     int64_t size) {
  Tensor checked = as_index(call, name, index);
  if (into && overlap(into.tensor(), checked) != Overlap::kNone) {
    const Tensor own = empty(checked.shape(), checked.dtype(), checked.device());
    copy_bytes(own, checked);
    checked = own;
  }
  int64_t bad = -1;
  if (checked.numel() > 0)
    launch_check_index(checked.device(), {reads(checked), size, &bad, call.op()});
  if (bad >= 0) reject_value(call, name, checked, size, bad);
  return on_device(checked, call.device());
}

static bool apart(const Tensor& dst, std::span<const Tensor* const> read) {
  for (const Tensor* x : read)
    if (x && x->defined() && !x->is_number() && overlap(dst, *x) != Overlap::kNone) return false;
  return true;
}

Tensor result_place(const Call& call, Into into, Dims shape, Dtype dtype, Device device,
                    std::span<const Tensor* const> read) {
  if (!into) return empty(shape, dtype, device);
  call.check_result(shape, dtype, device);
  const Tensor& dst = into.tensor();
  return dst.dtype() == dtype && apart(dst, read) ? alias(dst) : empty(shape, dtype, device);
}

Tensor changed_place(const Call& call, Into into, const Tensor& input,
                     std::initializer_list<const Tensor*> read) {
  if (into) {
    const Tensor& dst = into.tensor();
    call.check_result(input.shape(), input.dtype(), input.device());
    if (dst.dtype() == input.dtype() && apart(dst, std::span(read.begin(), read.size()))) {
      if (overlap(dst, input) != Overlap::kPartial) return alias(dst);
    }
  }
  return empty(input.shape(), input.dtype(), input.device());
}

void begin_change(const Tensor& y, const Tensor& input) {
  if (overlap(y, input) != Overlap::kFull) copy_bytes(y, input);
}

Tensor at_least_1d(const Tensor& x) {
  if (x.ndim() > 0) return x;
  static constexpr int64_t one[] = {1};
  return alias(x.is_number() ? plain(x) : x, one, one, x.offset(), x.dtype());
}

Tensor moved(const Tensor& x, int from, int to) {
  if (from == to) return x;
  Shape sizes(x.shape()), strides(x.strides());
  const int64_t size = sizes[from], stride = strides[from];
  const int step = from < to ? 1 : -1;
  for (int d = from; d != to; d += step) {
    sizes[d] = sizes[d + step];
    strides[d] = strides[d + step];
  }
  sizes[to] = size;
  strides[to] = stride;
  return alias(x, sizes, strides, x.offset(), x.dtype());
}

Tensor expanded(const Tensor& x, Dims shape) {
  if (same(x.shape(), shape)) return x;
  Shape strides(shape.size(), 0);
  const int lead = static_cast<int>(shape.size()) - x.ndim();
  for (int d = 0; d < x.ndim(); ++d)
    if (x.size(d) != 1) strides[lead + d] = x.stride(d);
  return alias(x, shape, strides, x.offset(), x.dtype());
}

Tensor value_like(const Call& call, const char* name, const Tensor& x, Dtype dtype) {
  if (x.is_number()) {
    check_holds(call.op(), name, x, dtype);
  } else if (x.ndim() == 0 ? !can_cast(x.dtype(), dtype) : x.dtype() != dtype)
    call.bad(LIBDL_ERROR_DTYPE, name, std::string("is ") + name_of(x.dtype()), name_of(dtype));
  return to(x, dtype, call.device(), false, false);
}

}  // namespace libdl
