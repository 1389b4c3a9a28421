// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/innermost.h"

#include <algorithm>

#include "ops/primitive/bytes.h"
#include "ops/primitive/observe.h"
#include "runtime/mechanism.h"

namespace libdl {

static bool has_strides(const Tensor& x, const Shape& strides) {
  for (int d = 0; d < x.ndim(); ++d)
    if (x.size(d) > 1 && x.stride(d) != strides[static_cast<size_t>(d)]) return false;
  return true;
}

static Tensor turned_copy(const Tensor& x, const Shape& strides) {
  LIBDL_OBSERVED_PART("clone", turned_copy(x, strides), x);
  return duplicate(x, x.dtype(), strides);
}

Innermost::Innermost(const Tensor& x, Order order) : tensor_(x) {
  if (order == Order::kWritten) {
    set(kernel_data(x, Access::kOverwrite), Shape(x.strides()));
    return;
  }
  // Devices take any strides.
  const bool turned = order == Order::kInnermost && x.device().is_cpu();
  const Shape innermost = channels_innermost(x.shape());
  if (x.storage().packed_only() || (turned && !has_strides(x, innermost)))
    form_ =
        turned ? keep_form(x, Layout::kChannelsInnermost) : form_of(x, Layout::kChannelsInnermost);
  if (form_.data()) {
    set(const_cast<void*>(form_.data()), innermost);
    return;
  }
  if (turned && !has_strides(x, innermost)) tensor_ = turned_copy(x, innermost);
  set(kernel_data(tensor_, Access::kRead), turned ? innermost : Shape(tensor_.strides()));
}

Innermost::Innermost(const Tensor& x, PackedReader form) : tensor_(x), form_(std::move(form)) {
  set(const_cast<void*>(form_.data()), channels_innermost(x.shape()));
}

Innermost::Innermost(Dims shape, Dtype dtype, Device device) {
  const bool pixel = std::ranges::all_of(shape.subspan(2), [](int64_t size) { return size == 1; });
  if (!device.is_cpu() || shape[1] == 1 || pixel) {
    tensor_ = empty(shape, dtype, device);
    set(kernel_data(tensor_, Access::kOverwrite),
        device.is_cpu() ? channels_innermost(shape) : Shape(tensor_.strides()));
    return;
  }
  void* data;
  tensor_ = empty_packed(shape, dtype, Layout::kChannelsInnermost, data);
  written_ = true;
  set(data, channels_innermost(shape));
}

Innermost::~Innermost() {
  if (written_ && left_out(Mechanism::kForms)) [[unlikely]]
    unpack(tensor_);
}

void Innermost::set(void* data, const Shape& strides) {
  data_ = data;
  const int missing = 5 - tensor_.ndim();
  for (int d = 0; d < 5; ++d) {
    const int from = d < 2 ? d : d - missing;
    const bool there = d < 2 || from >= 2;
    sizes_[d] = there ? tensor_.size(from) : 1;
    strides_[d] = there ? strides[static_cast<size_t>(from)] : 0;
  }
}

}  // namespace libdl
