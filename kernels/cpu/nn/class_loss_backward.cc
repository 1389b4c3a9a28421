// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/class_loss_backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/math/exp_shifted-inl.h"
#include "kernels/cpu/traverse/columns-inl.h"
#include "kernels/cpu/traverse/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// d - exp(y) sum: the gradient through log_softmax, where d is that of y and `sum` of the row's d.
template <class T>
struct Even {  // d is the same for all classes
  T d, sum;
  template <class V>
  HWY_INLINE V apply(V y, V) const {
    using P = Pack<T>;
    return hn::Sub(P::set(d), hn::Mul(exp_nonpositive<T>(y), P::set(sum)));
  }
};
template <class T>
struct Weighted {  // d times the class's weight
  T d, sum;
  template <class V>
  HWY_INLINE V apply(V y, V w) const {
    using P = Pack<T>;
    return hn::Sub(hn::Mul(P::set(d), w), hn::Mul(exp_nonpositive<T>(y), P::set(sum)));
  }
};

template <class T>
struct Backward {
  const ClassLossBackwardArgs& a;
  RowTiles<T> dx, y;
  Dims labels, arriving;
  int64_t n;
  T divisor = 1, one;
  bool is_one = true;         // the gradient of all losses is `one`
  const T* weight = nullptr;  // [n]; NULL: all 1
  double of_weights;          // their sum
  bool by_weight = false;     // the even part differs between classes

  explicit Backward(const ClassLossBackwardArgs& args)
      : a(args),
        dx(a.dx),
        y(a.log_p.data != nullptr ? a.log_p : a.dx),
        labels(a.targets.target, 0, a.targets.target.ndim),
        arriving(a.dy, 0, a.dy.ndim),
        n(dx.row.count()),
        of_weights(static_cast<double>(n)) {
    if (a.divisor.data != nullptr) load_tile(&divisor, a.divisor.data, a.divisor.dtype, 1, 1);
    for (int32_t d = 0; d < a.dy.ndim; ++d) is_one = is_one && a.dy.strides[d] == 0;
    load_tile(&one, a.dy.data, a.dy.dtype, 1, 1);
    one /= divisor;
  }
  // into: room for [n]
  void take_weights(T* into) {
    const View& w = a.targets.weight;
    load_tile(into, w.data, w.dtype, w.strides[0], n);
    weight = into;
    of_weights = 0;
    for (int64_t c = 0; c < n; ++c) of_weights += static_cast<double>(into[c]);
    by_weight = a.targets.smoothing > 0;
  }

  // The gradients of the losses of some rows.
  void gradients(int64_t row, int64_t count, T* dy) const {
    if (is_one) {
      std::fill_n(dy, count, one);
      return;
    }
    const int64_t bytes = dtype_bytes(a.dy.dtype);
    load_range(dy, at(a.dy, 0, bytes), a.dy.dtype, bytes, arriving, row, count);
    for (int64_t r = 0; r < count; ++r) dy[r] /= divisor;
  }

  // What the gradient of some rows consists of: `even` for each class, `picked` more for the
  // target's, and their sum. Of an ignored row these are 0, and the target is -1.
  template <int64_t kRows>
  struct Parts {
    alignas(64) T even[kRows] = {}, picked[kRows] = {}, sum[kRows] = {};
    int64_t target[kRows];
  };
  template <int64_t kRows>
  void find(int64_t row, int64_t count, Parts<kRows>& p) const {
    const ClassTargets& t = a.targets;
    const int64_t label_bytes = dtype_bytes(t.target.dtype);
    load_range(p.target, at(t.target, 0, label_bytes), t.target.dtype, label_bytes, labels, row,
               count);
    T dy[kRows];
    gradients(row, count, dy);
    const T rest = static_cast<T>(1 - t.smoothing);
    const T share = static_cast<T>(t.smoothing / static_cast<double>(n));
    for (int64_t r = 0; r < count; ++r) {
      if (p.target[r] == t.ignore_index) {
        p.target[r] = -1;
        continue;
      }
      const T g = dy[r];
      p.picked[r] = -(g * rest * (weight != nullptr ? weight[p.target[r]] : T(1)));
      p.even[r] = t.smoothing > 0 ? -(g * share) : T(0);
      p.sum[r] = static_cast<T>(p.even[r] * of_weights) + p.picked[r];
    }
  }

  HWY_INLINE void map_part(T even, T sum, T* to, const T* from, int64_t first,
                           int64_t count) const {
    if (by_weight) {
      map(Weighted<T>{even, sum}, to, from, weight + first, count);
    } else {
      map(Even<T>{even, sum}, to, from, from, count);
    }
  }

  // `rows` at most kAtOnce.
  static constexpr int64_t kAtOnce = 64;
  void by_rows(int64_t first, int64_t rows) const {
    alignas(64) T tile[kBlock<T>], other[kBlock<T>];
    Parts<kAtOnce> p;
    find(first, rows, p);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t t = p.target[r];
      for (int64_t i = 0; i < n; i += kBlock<T>) {
        const int64_t count = std::min(kBlock<T>, n - i);
        T* const to = dx.room(first + r, i, other);
        map_part(p.even[r], p.sum[r], to, y.read(first + r, i, count, tile), i, count);
        if (t >= i && t < i + count) to[t - i] += p.picked[r];
        dx.write(first + r, i, count, to);
      }
    }
  }
  // Of the losses of the logarithms themselves: only what was picked has a gradient.
  void pick(int64_t first, int64_t rows) const {
    const ClassTargets& t = a.targets;
    const int64_t bytes = dtype_bytes(t.target.dtype);
    int64_t target[kAtOnce];
    T dy[kAtOnce];
    load_range(target, at(t.target, 0, bytes), t.target.dtype, bytes, labels, first, rows);
    gradients(first, rows, dy);
    for (int64_t r = 0; r < rows; ++r)
      if (weight != nullptr && target[r] != t.ignore_index) dy[r] *= weight[target[r]];
    const int64_t step = dx.row.inner_stride(), stride = dx.rows.inner_stride();
    each_run(dx.rows, first, rows, [&](int64_t k, int64_t offset, int64_t run) {
      for (int64_t j = k; j < k + run; ++j, offset += stride) {
        if (target[j] == t.ignore_index) continue;
        const T value = -dy[j];
        const int64_t place = offset + target[j] * step;
        if (dx.plain()) {
          static_cast<T*>(a.dx.data)[place] = value;
        } else {
          store_tile(const_cast<char*>(at(a.dx, place, dx.bytes)), a.dx.dtype, 1, &value, 1);
        }
      }
    });
  }
};

// A few rows that a thread takes one after the other.
template <class T>
struct SomeRows {
  const Backward<T>& b;
  int64_t rows, each, units;
  SomeRows(const Backward<T>& backward, int64_t values)
      : b(backward),
        rows(b.dx.rows.count()),
        each(std::clamp<int64_t>(kGrain / values, 1, Backward<T>::kAtOnce)),
        units((rows + each - 1) / each) {}
  void operator()(int64_t unit) const {
    const int64_t first = unit * each, count = std::min(each, rows - first);
    if (b.a.log_p.data != nullptr) {
      b.by_rows(first, count);
    } else {
      b.pick(first, count);
    }
  }
};

// Neighbouring rows that are adjacent in memory, up to kWidth at once.
template <class T>
struct BackwardColumns {
  using Parts = typename Backward<T>::template Parts<kWidth<T>>;
  const Backward<T>& b;
  int64_t tiles, units;

  explicit BackwardColumns(const Backward<T>& backward)
      : b(backward),
        tiles((b.y.rows.inner_size() + kWidth<T> - 1) / kWidth<T>),
        units(b.y.rows.count() / b.y.rows.inner_size() * tiles) {}

  static bool suits(const Backward<T>& b) {
    const int64_t side = b.y.rows.inner_size();
    const auto beside = [&](const RowTiles<T>& x) {
      return x.rows.inner_stride() == 1 && x.rows.inner_size() == side;
    };
    return b.n > 0 && side >= 4 && b.y.row.inner_stride() != 1 && beside(b.y) && beside(b.dx);
  }

  void operator()(int64_t unit) const {
    using P = Pack<T>;
    const int64_t side = b.y.rows.inner_size(), c0 = unit % tiles * kWidth<T>;
    const int64_t row = unit / tiles * side + c0, width = std::min(kWidth<T>, side - c0);
    Parts p;
    b.find(row, width, p);
    alignas(64) T in[kWidth<T>] = {}, out[kWidth<T>];
    for (int64_t i = 0; i < b.n; ++i) {
      load_tile(in, b.y.element(row, i), b.y.view->dtype, 1, width);
      const auto w = P::set(b.by_weight ? b.weight[i] : T(1));
      for (int64_t c = 0; c < width; c += P::n) {
        const auto fallen = hn::Mul(exp_nonpositive<T>(P::load(in + c)), P::load(p.sum + c));
        P::store(hn::Sub(hn::Mul(P::load(p.even + c), w), fallen), out + c);
      }
      store_tile(b.dx.element(row, i), b.dx.view->dtype, 1, out, width);
    }
    for (int64_t c = 0; c < width; ++c) add_picked(row + c, p, c);
  }

 private:
  void add_picked(int64_t row, const Parts& p, int64_t c) const {
    const int64_t t = p.target[c];
    if (t < 0) return;
    T from, to;
    load_tile(&from, b.y.element(row, t), b.y.view->dtype, 1, 1);
    b.map_part(p.even[c], p.sum[c], &to, &from, t, 1);
    to += p.picked[c];
    store_tile(b.dx.element(row, t), b.dx.view->dtype, 1, &to, 1);
  }
};

template <class T>
void backward(Context& context, const ClassLossBackwardArgs& a) {
  Backward<T> row(a);
  const bool weighs = a.targets.weight.data != nullptr;
  const Scratch room(context, weighs ? row.n * int64_t{sizeof(T)} : 0);
  if (room.failed()) return;
  if (weighs) row.take_weights(static_cast<T*>(room.data()));
  if (a.log_p.data == nullptr) {
    static constexpr int64_t kZero = 0;
    fill(context, {a.dx, &kZero});
    const SomeRows<T> rows(row, 1);
    return for_rows(context, rows, rows.units, rows.each);
  }
  if (BackwardColumns<T>::suits(row)) {
    const BackwardColumns<T> columns(row);
    const int64_t width = std::min(kWidth<T>, row.y.rows.inner_size());
    return for_rows(context, columns, columns.units, row.n * width);
  }
  const SomeRows<T> rows(row, std::max<int64_t>(1, row.n));
  for_rows(context, rows, rows.units, rows.each * row.n);
}

void class_loss_backward_on(Context& context, const ClassLossBackwardArgs& args) {
  if (args.dx.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, args);
  backward<float>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void class_loss_backward(Context& context, const ClassLossBackwardArgs& args) {
  LIBDL_ON_ISA(class_loss_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
