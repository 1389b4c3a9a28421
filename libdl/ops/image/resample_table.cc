// SPDX-License-Identifier: Apache-2.0

// The formulas, and the precision of their steps, are those with which PyTorch's results agree.

#include "ops/image/resample_table.h"

#include <algorithm>
#include <cmath>

namespace libdl {

namespace {

// Cubic convolution: the weight of an element by its distance.
template <class T>
T cubic(T x, T a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : T(0);
}

// In T, which is float or double.
template <class T>
class TableBuilder {
 public:
  explicit TableBuilder(const ResampledLine& line) : line_(line) {
    if (line.align_corners) {
      step_ = line.to > 1 ? static_cast<T>(line.from - 1) / static_cast<T>(line.to - 1) : T(0);
    } else {
      step_ = line.step > 0 ? static_cast<T>(line.step)
                            : static_cast<T>(line.from) / static_cast<T>(line.to);
    }
  }

  ResampleTable table() {
    table_.first.push_back(0);
    for (int64_t o = 0; o < line_.to; ++o) {
      switch (line_.filter) {
        case Filter::kNearest: nearest(o, T(0)); break;
        case Filter::kNearestExact: nearest(o, T(0.5)); break;
        case Filter::kArea: area(o); break;
        case Filter::kLinear: line_.antialias ? smoothed(o, 2) : linear(o); break;
        case Filter::kCubic: line_.antialias ? smoothed(o, 4) : convolved(o); break;
      }
      table_.first.push_back(static_cast<int64_t>(table_.index.size()));
    }
    return std::move(table_);
  }

 private:
  void add(int64_t i, T weight) {
    table_.index.push_back(std::clamp<int64_t>(i, 0, line_.from - 1));
    table_.weight.push_back(static_cast<double>(weight));
  }
  // Element o's place among the line's elements.
  T coordinate(int64_t o) const {
    if (line_.align_corners) return step_ * static_cast<T>(o);
    return step_ * (static_cast<T>(o) + T(0.5)) - T(0.5);
  }
  int64_t whole(T x) const {
    return static_cast<int64_t>(std::min(std::floor(x), static_cast<T>(line_.from - 1)));
  }

  void nearest(int64_t o, T shift) { add(whole((static_cast<T>(o) + shift) * step_), T(1)); }

  void linear(int64_t o) {
    if (line_.from == line_.to) return add(o, T(1));
    const T at = std::max(coordinate(o), T(0));
    const int64_t i = whole(at);
    const T t = std::clamp(at - static_cast<T>(i), T(0), T(1));
    add(i, T(1) - t), add(i + 1, t);
  }

  void convolved(int64_t o) {
    const T at = coordinate(o), a = T(-0.75);
    const int64_t i = whole(at);
    const T t = std::clamp(at - static_cast<T>(i), T(0), T(1));
    for (int k = -1; k <= 2; ++k)
      add(i + k, k <= 0 ? cubic(t - static_cast<T>(k), a) : cubic(static_cast<T>(k) - t, a));
  }

  // Where the line becomes shorter the filter is stretched over what an element covers.
  void smoothed(int64_t o, int taps) {
    const T stretch = std::max(step_, T(1)), reach = static_cast<T>(taps) / 2 * stretch;
    const T centre = step_ * (static_cast<T>(o) + T(0.5));
    const auto begin = std::max<int64_t>(static_cast<int64_t>(centre - reach + T(0.5)), 0);
    const auto end = std::min(static_cast<int64_t>(centre + reach + T(0.5)), line_.from);
    weights_.clear();
    T total = 0;
    for (int64_t i = begin; i < end; ++i) {
      const T x = (static_cast<T>(i) - centre + T(0.5)) * (T(1) / stretch);
      weights_.push_back(taps == 2 ? std::max(T(1) - std::abs(x), T(0)) : cubic(x, T(-0.5)));
      total += weights_.back();
    }
    for (size_t k = 0; k < weights_.size(); ++k)
      add(begin + static_cast<int64_t>(k), total != 0 ? weights_[k] / total : weights_[k]);
  }

  void area(int64_t o) {
    const auto at = [&](int64_t k) { return static_cast<__int128>(k) * line_.from; };
    const auto begin = static_cast<int64_t>(at(o) / line_.to);
    const auto end = static_cast<int64_t>((at(o + 1) + line_.to - 1) / line_.to);
    for (int64_t i = begin; i < end; ++i) add(i, T(1) / static_cast<T>(end - begin));
  }

  const ResampledLine& line_;
  T step_;
  std::vector<T> weights_;
  ResampleTable table_;
};

}  // namespace

double table_bytes(const ResampledLine& line) {
  const auto from = static_cast<double>(line.from), to = static_cast<double>(line.to);
  const double taps = line.filter == Filter::kCubic ? 4 : line.filter == Filter::kLinear ? 2 : 1;
  const bool stretched = line.antialias || line.filter == Filter::kArea;
  const double entries = stretched ? taps * (from + to) + 2 * to : taps * to;
  // Vectors may have twice the room that they need.
  return 2 * ((from + to) * sizeof(int64_t) + 2 * entries * (sizeof(int64_t) + sizeof(double)));
}

ResampleTable table_of(const ResampledLine& line, bool single) {
  return single ? TableBuilder<float>(line).table() : TableBuilder<double>(line).table();
}

ResampleTable transposed(const ResampleTable& table, int64_t from) {
  ResampleTable t;
  t.first.assign(static_cast<size_t>(from) + 1, 0);
  for (const int64_t i : table.index) ++t.first[static_cast<size_t>(i) + 1];
  for (size_t i = 1; i < t.first.size(); ++i) t.first[i] += t.first[i - 1];
  t.index.resize(table.index.size()), t.weight.resize(table.weight.size());
  std::vector<int64_t> next(t.first);
  for (size_t o = 0; o + 1 < table.first.size(); ++o) {
    for (int64_t k = table.first[o]; k < table.first[o + 1]; ++k) {
      const auto to = static_cast<size_t>(next[static_cast<size_t>(table.index[k])]++);
      t.index[to] = static_cast<int64_t>(o), t.weight[to] = table.weight[static_cast<size_t>(k)];
    }
  }
  return t;
}

int32_t quantise(std::vector<double>& weight) {
  double most = 0;
  for (const double w : weight) most = std::max(most, w);
  int32_t bits = 0;
  while (bits < 22 && most * std::ldexp(1.0, bits + 1) + 0.5 < (1 << 15)) ++bits;
  for (double& w : weight) w = std::trunc(std::ldexp(w, bits) + (w < 0 ? -0.5 : 0.5));
  return bits;
}

bool is_identity(const ResampledLine& line) {
  if (line.from != line.to) return false;
  if (line.antialias || line.filter == Filter::kLinear) return true;
  return line.filter == Filter::kArea && line.step == 0;
}

}  // namespace libdl
