// SPDX-License-Identifier: Apache-2.0

// Sums of terms that arrive one by one: runs of kRun terms, in sequence, and the runs' sums
// pairwise as they arrive. Up to kRun terms are added as in a plain loop. The order depends on the
// order of the terms alone.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

constexpr int64_t kRun = 64;
constexpr int kRunLevels = 58;  // runs of 2^63 terms

template <class T>
class RunSum {
 public:
  void operator+=(T x) {
    sum_ += x;
    if (--left_ == 0) end_run();
  }
  T result() {
    if (runs_ == 0) return sum_;
    if (left_ < kRun) end_run();
    int depth = levels() - 1;
    T sum = node_[depth];
    while (depth > 0) sum = node_[--depth] + sum;
    return sum;
  }

 private:
  int levels() const { return __builtin_popcountll(static_cast<uint64_t>(runs_)); }
  void end_run() {
    int depth = levels();
    for (int64_t r = runs_++; r & 1; r >>= 1) sum_ = node_[--depth] + sum_;
    node_[depth] = sum_;
    sum_ = 0;
    left_ = kRun;
  }

  T sum_ = 0;
  int64_t left_ = kRun, runs_ = 0;
  T node_[kRunLevels];
};

}  // namespace libdl::kernels::cpu
