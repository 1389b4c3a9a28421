// SPDX-License-Identifier: Apache-2.0

// Losses of class indices: the logarithms of softmax, then a walk over the rows that picks one
// value of each.

#include <libdl/dtype.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kTile = 256;
constexpr int64_t kGrain = 16 * kTile;  // rows

template <class T>
constexpr int32_t kDtype = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;
constexpr int64_t kOne = 1;

template <class T>
void sum(Context& context, const View& in, const View& out) {
  reduce(context, {static_cast<int32_t>(Reduction::kSum), 1, out, {}, in, 0, false});
}
template <class T>
T sum_of(Context& context, const T* values, int64_t n) {
  T total = 0;
  sum<T>(context, {const_cast<T*>(values), &n, &kOne, 1, kDtype<T>},
         {&total, nullptr, nullptr, 0, kDtype<T>});
  return total;
}

template <class T>
struct Losses {
  const ClassTargets& targets;
  const View y;  // the logarithms
  Dims rows, labels;
  int64_t bytes, label_bytes, classes, step, n;
  const T* weight = nullptr;  // [classes]; NULL: all 1
  T* loss = nullptr;          // [n]
  T* factor = nullptr;        // [n]; NULL: nobody asks
  T* even = nullptr;          // [n], the sums of w y; NULL: no smoothing
  std::atomic<int64_t> counted{0};

  Losses(const ClassTargets& t, const View& logarithms)
      : targets(t),
        y(logarithms),
        rows(y, 0, y.ndim - 1),
        labels(t.target, 0, t.target.ndim),
        bytes(dtype_bytes(y.dtype)),
        label_bytes(dtype_bytes(t.target.dtype)),
        classes(y.sizes[y.ndim - 1]),
        step(y.strides[y.ndim - 1]),
        n(rows.count()) {}

  // In double precision, but for runs of kTile classes.
  void weigh(int64_t first, int64_t count) const {
    T* const sums = even + first;
    T tile[kTile], run[kTile] = {};
    if (std::abs(rows.inner_stride()) < std::abs(step)) {  // classes lie further apart than rows
      double total[kTile] = {};
      for (int64_t c = 0; c < classes; ++c) {
        load_range(tile, at(y, c * step, bytes), y.dtype, bytes, rows, first, count);
        for (int64_t r = 0; r < count; ++r) run[r] += weight[c] * tile[r];
        if (c + 1 < classes && (c + 1) % kTile != 0) continue;
        for (int64_t r = 0; r < count; ++r) total[r] += static_cast<double>(run[r]);
        std::fill_n(run, count, T(0));
      }
      for (int64_t r = 0; r < count; ++r) sums[r] = static_cast<T>(total[r]);
      return;
    }
    constexpr int64_t kParts = 8;  // sums that do not wait for each other
    for (int64_t r = 0; r < count; ++r) {
      double total = 0;
      for (int64_t c = 0; c < classes; c += kTile) {
        T part[kParts] = {};
        const int64_t some = std::min(kTile, classes - c);
        load_tile(tile, at(y, rows.offset(first + r) + c * step, bytes), y.dtype, step, some);
        for (int64_t k = 0; k < some; ++k) part[k % kParts] += weight[c + k] * tile[k];
        for (const T x : part) total += static_cast<double>(x);
      }
      sums[r] = static_cast<T>(total);
    }
  }

  // The logarithms that the labels name.
  void take(const int64_t* label, int64_t first, int64_t count, T* value) const {
    const int64_t stride = rows.inner_stride(), ignored = targets.ignore_index;
    each_run(rows, first, count, [&](int64_t k, int64_t offset, int64_t run) {
      for (int64_t j = 0; j < run; ++j, offset += stride) {
        const int64_t c = label[k + j];
        if (c == ignored) continue;
        if (y.dtype == kDtype<T>) {
          value[k + j] = static_cast<const T*>(y.data)[offset + c * step];
        } else {
          load_tile(value + k + j, at(y, offset + c * step, bytes), y.dtype, 1, 1);
        }
      }
    });
  }

  void pick(int64_t first, int64_t count) {
    const T share = static_cast<T>(targets.smoothing / static_cast<double>(classes));
    int64_t label[kTile], here = 0;
    load_range(label, at(targets.target, 0, label_bytes), targets.target.dtype, label_bytes, labels,
               first, count);
    T value[kTile];
    take(label, first, count, value);
    const T* const w = weight;
    for (int64_t r = 0; r < count; ++r) {
      const bool counts = label[r] != targets.ignore_index;
      const T f = !counts ? T(0) : w ? w[label[r]] : T(1);
      T l = counts ? -value[r] : T(0);
      if (w && counts) l = l * f;
      if (even && counts) l = l * static_cast<T>(1 - targets.smoothing) - even[first + r] * share;
      loss[first + r] = l;
      if (factor) factor[first + r] = f;
      here += counts;
    }
    counted.fetch_add(here, std::memory_order_relaxed);
  }
};

template <class T>
void losses_of(Context& context, const ClassLossArgs& a) {
  const bool smooth = a.targets.smoothing > 0, mean = a.divisor.data != nullptr;
  Losses<T> all(a.targets, a.log_p.data ? a.log_p : a.in);
  const bool weighs = a.targets.weight.data != nullptr;
  const Scratch room(
      context, int64_t{sizeof(T)} * (all.n * (1 + weighs + smooth) + (weighs ? all.classes : 0)));
  if (room.failed()) return;
  T* next = static_cast<T*>(room.data());
  const auto take = [&](int64_t count) { return std::exchange(next, next + count); };
  all.loss = take(all.n);
  if (smooth) all.even = take(all.n);
  if (weighs) {
    all.factor = take(all.n);
    T* const weight = take(all.classes);
    const View& w = a.targets.weight;
    load_tile(weight, w.data, w.dtype, w.strides[0], all.classes);
    all.weight = weight;
  }
  if (smooth && !weighs) {
    int64_t strides[kMaxDims], step = 1;
    for (int32_t d = all.y.ndim - 1; d-- > 0; step *= all.y.sizes[d]) strides[d] = step;
    sum<T>(context, all.y, {all.even, all.y.sizes, strides, all.y.ndim - 1, kDtype<T>});
  }
  in_chunks(context, all.n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kTile) {
      const int64_t count = std::min(kTile, end - first);
      if (smooth && weighs) all.weigh(first, count);
      all.pick(first, count);
    }
  });
  if (context.stopped) return;
  if (a.losses.data) {
    const Dims dims(a.losses, 0, a.losses.ndim);
    store_range(all.loss, static_cast<char*>(a.losses.data), a.losses.dtype,
                dtype_bytes(a.losses.dtype), dims, 0, all.n);
  }
  if (!a.loss.data) return;
  T loss = sum_of(context, all.loss, all.n);
  if (mean) {
    const T divisor =
        weighs ? sum_of(context, all.factor, all.n) : static_cast<T>(all.counted.load());
    store_tile(a.divisor.data, a.divisor.dtype, 1, &divisor, 1);
    loss = loss / divisor;
  }
  store_tile(a.loss.data, a.loss.dtype, 1, &loss, 1);
}

}  // namespace

void class_loss(Context& context, const ClassLossArgs& a) {
  if (a.log_p.data && numel(a.in) > 0) softmax(context, {a.log_p, a.in, true});
  if (context.stopped) return;
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64) {
    losses_of<double>(context, a);
  } else {
    losses_of<float>(context, a);
  }
}

}  // namespace libdl::kernels::cpu
