// SPDX-License-Identifier: Apache-2.0

#include "optim/addresses.h"

#include "ops/copy/copy.h"
#include "tensor/forms.h"

namespace libdl {

Addresses::Addresses(const Step& s)
    : written_{
          {s.params, {}}, {s.states[0].list, {}}, {s.states[1].list, {}}, {s.states[2].list, {}}} {
  for (size_t i = 0; i < s.params.size(); ++i) {
    if (!s.grads[i].defined()) continue;
    if (memory_is_special() && add_rows_alone(s, i)) continue;
    dtype_.push_back(static_cast<int32_t>(s.params[i].dtype()));
    numel_.push_back(s.params[i].numel());
    if (memory_is_special() && (add_forms(s.grads[i], i) || add_by_rows(s.grads[i], i))) continue;
    add_plain(s.grads[i], i);
  }
  if (!rows_.empty()) rows_.resize(grad_.size());
}

void Addresses::add_written(size_t i) {
  for (auto& [list, addresses] : written_)
    if (!list.empty()) addresses.push_back(kernel_data(list[i], Access::kUpdate));
}

void Addresses::add_plain(const Tensor& gradient, size_t i) {
  add_written(i);
  read_.push_back(plain(gradient));
  grad_.push_back(kernel_data(read_.back(), Access::kRead));
}

// Where the gradient is held by rows.
bool Addresses::add_by_rows(const Tensor& gradient, size_t i) {
  PackedReader form = sparse_rows_of(gradient);
  if (!form.data() || rows_in(form).count == 0) return false;
  add_written(i);
  const SparseRows held = rows_in(form);
  rows_.resize(grad_.size());
  rows_.push_back({held.count, gradient.size(1), held.numbers});
  grad_.push_back(held.elements);
  forms_.push_back(std::move(form));
  return true;
}

// The same where the rows that are not held stay as they are.
bool Addresses::add_rows_alone(const Step& s, size_t i) {
  const Tensor& gradient = s.grads[i];
  const std::vector<int64_t>* const held = held_rows(gradient);
  if (s.still == Still::kNoRow || (s.still == Still::kRowsOfSparse && !held)) return false;
  SparseRows rows;
  if (PackedReader form = sparse_rows_of(gradient); form.data()) {
    rows = rows_in(form);
    forms_.push_back(std::move(form));
  } else if (held) {
    read_.push_back(held_values(gradient));
    rows = {std::ssize(*held), const_cast<int64_t*>(held->data()), read_.back().plain()};
  } else {
    return false;
  }
  has_rows_alone_ = true;
  const int64_t columns = gradient.size(1), bytes = columns * size_of(gradient.dtype());
  for (auto& [list, addresses] : written_) {
    if (list.empty()) continue;
    auto* const first = static_cast<std::byte*>(kernel_data(list[i], Access::kUpdate));
    for (int64_t r = 0; r < rows.count; ++r) addresses.push_back(first + rows.numbers[r] * bytes);
  }
  for (int64_t r = 0; r < rows.count; ++r)
    grad_.push_back(static_cast<const std::byte*>(rows.elements) + r * bytes);
  dtype_.resize(grad_.size(), static_cast<int32_t>(gradient.dtype()));
  numel_.resize(grad_.size(), columns);
  return true;
}

// In the forms of what is written and of the gradient, if all have them.
bool Addresses::add_forms(const Tensor& gradient, size_t i) {
  constexpr Layout layout = Layout::kChannelsInnermost;
  const size_t before = forms_.size();
  bool all = true;
  for (const Written& w : written_) {
    if (w.list.empty() || !all) continue;
    forms_.push_back(writable_form_of(w.list[i], layout));
    all = forms_.back().data();
  }
  if (all) {
    forms_.push_back(form_of(gradient, layout));
    all = forms_.back().data();
  }
  if (!all) {
    forms_.resize(before);
    return false;
  }
  size_t at = before;
  for (auto& [list, addresses] : written_)
    if (!list.empty()) addresses.push_back(const_cast<void*>(forms_[at++].data()));
  grad_.push_back(forms_[at].data());
  return true;
}

kernels::OptimizerArgs Addresses::args(const kernels::OptimizerOptions& options, size_t first,
                                       size_t count) const {
  const auto from = [first](const auto& list) { return list.empty() ? nullptr : &list[first]; };
  kernels::OptimizerArgs a{};
  a.options = options;
  a.count = static_cast<int32_t>(count);
  a.dtype = from(dtype_);
  a.numel = from(numel_);
  a.param = from(written_[0].addresses);
  a.grad = from(grad_);
  a.rows = from(rows_);
  a.state1 = from(written_[1].addresses);
  a.state2 = from(written_[2].addresses);
  a.state3 = from(written_[3].addresses);
  return a;
}

// The kernel looks for a chunk's first entry from the beginning of the list: where there may be
// many short ones they are stepped in parts.
void Addresses::launch_all(Device device, void (*launch)(Device, const kernels::OptimizerArgs&),
                           const kernels::OptimizerOptions& options) const {
  constexpr int64_t kElements = 1 << 18;
  const size_t all = numel_.size();
  for (size_t first = 0, last = 0; first < all; first = last) {
    for (int64_t n = 0; last < all && (n < kElements || !has_rows_alone_); ++last)
      n += numel_[last];
    launch(device, args(options, first, last - first));
  }
}

}  // namespace libdl
