// SPDX-License-Identifier: Apache-2.0

#include "ops/rnn/sequence.h"

#include <algorithm>

#include "entries/join.h"
#include "entries/view.h"

namespace libdl {

Sequence Sequence::steps_outermost(int64_t steps, int64_t batch) {
  Sequence s;
  s.steps_ = steps, s.batch_ = batch, s.rows_ = steps * batch;
  s.step_stride_ = batch, s.row_stride_ = 1;
  return s;
}

Sequence Sequence::batch_outermost(int64_t batch, int64_t steps) {
  Sequence s;
  s.steps_ = steps, s.batch_ = batch, s.rows_ = steps * batch;
  s.step_stride_ = 1, s.row_stride_ = steps;
  return s;
}

Sequence Sequence::packed(Dims batch_sizes) {
  Sequence s;
  s.steps_ = static_cast<int64_t>(batch_sizes.size());
  s.batch_ = batch_sizes.empty() ? 0 : batch_sizes[0];
  for (const int64_t size : batch_sizes) s.ends_.push_back(s.rows_ += size);
  return s;
}

StepRows Sequence::at(int64_t i, bool reversed) const {
  const int64_t step = reversed ? steps_ - 1 - i : i;
  if (ends_.empty()) return {step * step_stride_, row_stride_, batch_};
  const int64_t first = step == 0 ? 0 : ends_[static_cast<size_t>(step - 1)];
  return {first, 1, ends_[static_cast<size_t>(step)] - first};
}

Tensor Sequence::part(const Tensor& x, int64_t i, bool reversed) const {
  const StepRows rows = at(i, reversed);
  if (rows.stride == 1) return narrow(x, 0, rows.first, rows.count);
  const int64_t shape[] = {batch_, steps_, x.size(1)};
  return select(reshape(x, shape), 1, rows.first);
}

Tensor Sequence::joined(std::vector<Tensor> parts, bool reversed) const {
  if (reversed) std::reverse(parts.begin(), parts.end());
  if (ends_.empty() && row_stride_ != 1) {
    const int64_t shape[] = {rows_, parts[0].size(1)};
    return reshape(stack(parts, 1), shape);
  }
  return cat(parts, 0);
}

}  // namespace libdl
