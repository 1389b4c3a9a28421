// SPDX-License-Identifier: Apache-2.0

// The steps of a batch of sequences, which all lie in one matrix.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace libdl {

// The rows of one step: of every sequence that is long enough, in the order of the batch.
struct StepRows {
  int64_t first, stride, count;
};

class Sequence {
 public:
  // [steps, batch, ...] or [batch, steps, ...] as a matrix.
  static Sequence steps_outermost(int64_t steps, int64_t batch);
  static Sequence batch_outermost(int64_t batch, int64_t steps);
  // How many rows each step has, none more than the step before.
  static Sequence packed(Dims batch_sizes);

  int64_t steps() const { return steps_; }
  int64_t batch() const { return batch_; }
  int64_t rows() const { return rows_; }
  // The i-th step in a direction.
  StepRows at(int64_t i, bool reversed) const;

  // By operators: the rows of that step of x [rows, columns]; and a matrix of all steps.
  Tensor part(const Tensor& x, int64_t i, bool reversed) const;
  Tensor joined(std::vector<Tensor> parts, bool reversed) const;

 private:
  int64_t steps_ = 0, batch_ = 0, rows_ = 0;
  int64_t step_stride_ = 0, row_stride_ = 0;
  std::vector<int64_t> ends_;  // packed: of each step's rows
};

}  // namespace libdl
