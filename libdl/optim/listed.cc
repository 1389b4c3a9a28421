// SPDX-License-Identifier: Apache-2.0

#include "optim/listed.h"

#include <algorithm>

#include "ops/primitive/launch.h"
#include "tensor/forms.h"
#include "tensor/memory_order.h"
#include "tensor/sparse_rows.h"

namespace libdl {

bool Listed::takes(const Tensor& x) const {
  if (x.is_number() || !is_floating(x.dtype()) || x.device() != device_ || is_sparse(x))
    return false;
  if (!device_.is_cpu()) return is_dense(x);
  return x.is_contiguous() && !(memory_is_special() && may_be_packed(x));
}

void Listed::add(const Tensor& x, Access access) {
  dtype_.push_back(static_cast<int32_t>(x.dtype()));
  numel_.push_back(x.numel());
  data_.push_back(kernel_data(x, access));
}

bool Listed::are_apart() const {
  std::vector<std::pair<const char*, const char*>> ranges;
  for (size_t i = 0; i < data_.size(); ++i) {
    if (numel_[i] == 0) continue;
    const auto* const first = static_cast<const char*>(data_[i]);
    ranges.emplace_back(first, first + numel_[i] * kernels::dtype_bytes(dtype_[i]));
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) return false;
  return true;
}

kernels::TensorList Listed::list() const {
  return {static_cast<int32_t>(data_.size()), dtype_.data(), numel_.data(), data_.data()};
}

}  // namespace libdl
