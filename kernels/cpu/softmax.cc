// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/exp_shifted-inl.h"
#include "kernels/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
struct ExpScaled {  // exp(x - shift) * scale
  T shift, scale;
  template <class V>
  HWY_INLINE V apply(V x, V) const {
    using P = Pack<T>;
    return hn::Mul(exp_nonpositive<T>(hn::Sub(x, P::set(shift))), P::set(scale));
  }
};
template <class T>
struct Exp {  // exp(x - shift)
  T shift;
  template <class V>
  HWY_INLINE V apply(V x, V) const {
    return exp_nonpositive<T>(hn::Sub(x, Pack<T>::set(shift)));
  }
};
template <class T>
struct Scale {
  T scale;
  template <class V>
  HWY_INLINE V apply(V x, V) const {
    return hn::Mul(x, Pack<T>::set(scale));
  }
};
template <class T>
struct Shift {  // x - shift - scale
  T shift, scale;
  template <class V>
  HWY_INLINE V apply(V x, V) const {
    return hn::Sub(hn::Sub(x, Pack<T>::set(shift)), Pack<T>::set(scale));
  }
};
template <class T>
struct Product {
  template <class V>
  HWY_INLINE V apply(V x, V y) const {
    return hn::Mul(x, y);
  }
};
template <class T>
struct SoftmaxGradient {  // y * (dy - sum)
  T sum;
  template <class V>
  HWY_INLINE V apply(V dy, V y) const {
    return hn::Mul(y, hn::Sub(dy, Pack<T>::set(sum)));
  }
};
template <class T>
struct LogSoftmaxGradient {  // dy - exp(y) * sum
  T sum;
  template <class V>
  HWY_INLINE V apply(V dy, V y) const {
    return hn::Sub(dy, hn::Mul(exp_nonpositive<T>(y), Pack<T>::set(sum)));
  }
};

template <class T>
struct Forward {
  RowTiles<T> out, in;
  bool log;
  int64_t n;

  explicit Forward(const SoftmaxArgs& a) : out(a.out), in(a.in), log(a.log), n(in.row.count()) {}

  void operator()(int64_t r) const {
    alignas(64) T tile[kBlock<T>];
    Tree<Max, T> top;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      top.push(combine_block<Max, Plain, T>(in.read(r, i, count, tile), count, T(0)));
    }
    const T shift = top.result();
    // Exponentials are kept where there is room for them: in out, or in the tile of a short row.
    const bool keep = !log && (out.direct || n <= kBlock<T>);
    Tree<Sum, T> sum;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* x = in.read(r, i, count, tile);
      if (keep) {
        T* y = out.room(r, i, tile);
        map(Exp<T>{shift}, y, x, x, count);
        sum.push(combine_block<Sum, Plain, T>(y, count, T(0)));
      } else {
        sum.push(combine_block<Sum, ShiftedExp, T>(x, count, shift));
      }
    }
    const T total = sum.result();
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      T* y = out.room(r, i, tile);
      if (keep) {
        map(Scale<T>{1 / total}, y, y, y, count);
      } else {
        const T* x = in.read(r, i, count, tile);
        if (log) {
          map(Shift<T>{shift, std::log(total)}, y, x, x, count);
        } else {
          map(ExpScaled<T>{shift, 1 / total}, y, x, x, count);
        }
      }
      out.write(r, i, count, y);
    }
  }
};

template <class T>
struct Backward {
  RowTiles<T> dx, dy, y;
  bool log;
  int64_t n;

  explicit Backward(const SoftmaxBackwardArgs& a)
      : dx(a.dx), dy(a.dy), y(a.y), log(a.log), n(dy.row.count()) {}

  void operator()(int64_t r) const {
    alignas(64) T tile[kBlock<T>], other[kBlock<T>];
    Tree<Sum, T> sum;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* g = dy.read(r, i, count, tile);
      if (!log) {
        map(Product<T>{}, tile, g, y.read(r, i, count, other), count);
        g = tile;
      }
      sum.push(combine_block<Sum, Plain, T>(g, count, T(0)));
    }
    const T total = sum.result();
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* g = dy.read(r, i, count, tile);
      const T* v = y.read(r, i, count, other);
      T* to = dx.room(r, i, tile);
      if (log) {
        map(LogSoftmaxGradient<T>{total}, to, g, v, count);
      } else {
        map(SoftmaxGradient<T>{total}, to, g, v, count);
      }
      dx.write(r, i, count, to);
    }
  }
};

void softmax_on(Context& context, const SoftmaxArgs& args) {
  if (args.out.dtype == LIBDL_DTYPE_FLOAT64) {
    const Forward<double> row(args);
    return for_rows(context, row, row.in.rows.count(), row.n);
  }
  const Forward<float> row(args);
  for_rows(context, row, row.in.rows.count(), row.n);
}

void softmax_backward_on(Context& context, const SoftmaxBackwardArgs& args) {
  if (args.dx.dtype == LIBDL_DTYPE_FLOAT64) {
    const Backward<double> row(args);
    return for_rows(context, row, row.dy.rows.count(), row.n);
  }
  const Backward<float> row(args);
  for_rows(context, row, row.dy.rows.count(), row.n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void softmax(Context& context, const SoftmaxArgs& args) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(softmax_on)) kOn[] =
      LIBDL_FOR_EACH_ISA(softmax_on);
  kOn[static_cast<int>(isa())](context, args);
}

void softmax_backward(Context& context, const SoftmaxBackwardArgs& args) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(softmax_backward_on)) kOn[] =
      LIBDL_FOR_EACH_ISA(softmax_backward_on);
  kOn[static_cast<int>(isa())](context, args);
}

}  // namespace libdl::kernels::cpu
#endif
