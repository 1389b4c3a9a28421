// SPDX-License-Identifier: Apache-2.0

// Shared by index_get and index_put: where the positions of the index shape are in memory.
#pragma once

#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

constexpr int64_t kPositions = 256;  // positions looked up at a time, on the stack

class Indexed {
 public:
  explicit Indexed(const IndexArgs& args) : args_(args) {
    const int32_t index_dims = args.values.ndim - args.base.ndim;
    for (int32_t d = 0; d < index_dims; ++d) {
      const int64_t size = args.values.sizes[d];
      count_ *= size;
      values_.push(size, {args.values.strides[d]});
      for (int32_t m = 0; m < args.indices; ++m) index_[m].push(size, {args.index[m].strides[d]});
    }
    for (int32_t d = 0; d < args.base.ndim; ++d) {
      rest_count_ *= args.base.sizes[d];
      rest_.push(args.base.sizes[d], {args.base.strides[d], args.values.strides[index_dims + d]});
    }
  }

  int64_t count() const { return count_; }            // positions of the index shape
  int64_t rest_count() const { return rest_count_; }  // elements at each of them
  const Walk<2>& rest() const { return rest_; }       // base, values

  // Calls each(base offset, values offset) for the positions [first, last), in order, if there is
  // one index and both it and the values are contiguous; else returns false.
  template <class Each>
  bool run_line(int64_t first, int64_t last, const Each& each) const {
    if (args_.indices != 1 || !values_.is_line() || !index_[0].is_line()) return false;
    if (values_.inner(0) != 1 || index_[0].inner(0) != 1) return false;
    const int64_t size = args_.indexed_sizes[0], step = args_.indexed_strides[0];
    with_index(args_.index[0].dtype, [&]<class Index>(Index) {
      const Index* index = static_cast<const Index*>(args_.index[0].data);
      for (int64_t p = first; p < last; ++p) each(wrap(index[p], size) * step, p);
    });
    return true;
  }

  // Calls each(base offset, values offset) for the positions [first, last), in order.
  template <class Each>
  void run(int64_t first, int64_t last, const Each& each) const {
    int64_t base[kPositions], values[kPositions];
    for (; first < last; first += kPositions) {
      const int64_t end = std::min(last, first + kPositions);
      look_up(first, end, base);
      if (values_.is_line()) {
        const int64_t step = values_.inner(0);
        for (int64_t p = 0; p < end - first; ++p) each(base[p], (first + p) * step);
        continue;
      }
      look_up_values(first, end, values);
      for (int64_t p = 0; p < end - first; ++p) each(base[p], values[p]);
    }
  }

 private:
  void look_up_values(int64_t first, int64_t last, int64_t* values) const {
    values_.run(first, last, [&](const auto& offset, int64_t count) {
      for (int64_t j = 0; j < count; ++j) *values++ = offset[0] + j * values_.inner(0);
    });
  }

  void look_up(int64_t first, int64_t last, int64_t* base) const {
    if (args_.indices == 0) std::fill_n(base, last - first, 0);
    for (int32_t m = 0; m < args_.indices; ++m) {
      const int64_t size = args_.indexed_sizes[m], step = args_.indexed_strides[m];
      with_index(args_.index[m].dtype, [&]<class Index>(Index) {
        int64_t* sum = base;
        index_[m].run(first, last, [&](const auto& offset, int64_t count) {
          const Index* index = static_cast<const Index*>(args_.index[m].data) + offset[0];
          const int64_t next = index_[m].inner(0);
          if (m == 0) {
            for (int64_t j = 0; j < count; ++j) *sum++ = wrap(index[j * next], size) * step;
          } else {
            for (int64_t j = 0; j < count; ++j) *sum++ += wrap(index[j * next], size) * step;
          }
        });
      });
    }
  }

  const IndexArgs& args_;
  int64_t count_ = 1, rest_count_ = 1;
  Walk<1> values_;
  Walk<2> rest_;
  Walk<1> index_[kMaxIndices];
};

}  // namespace libdl::kernels::cpu
