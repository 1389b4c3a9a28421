// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/math/exp_shifted-inl.h"
#include "kernels/cpu/traverse/columns-inl.h"
#include "kernels/cpu/traverse/row_tiles-inl.h"

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
    // The largest value.
    Tree<Max, T> top;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      top.push(combine_block<Max, Plain, T>(in.read(r, i, count, tile), count, T(0)));
    }
    const T shift = top.result();
    // The sum of the exponentials, which are kept where there is room: in out, or in the tile of a
    // short row.
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
    // Write the result.
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

// What the columns of a reduction consist of (columns-inl.h), in two types: rows in memory, and
// rows that a functor puts into a tile. Each further type would take the compiler as long again.
template <class T>
struct EvenRows {
  const T* first;
  int64_t distance;
  const T* operator()(int64_t i, T*) const { return first + i * distance; }
};
template <class T>
struct FetchedRows {
  static constexpr bool there = false;
  const void* functor;
  const T* (*fetch)(const void* functor, int64_t i, T* tile);

  template <class F>
  explicit FetchedRows(const F& f)
      : functor(&f), fetch([](const void* from, int64_t i, T* tile) {
          return (*static_cast<const F*>(from))(i, tile);
        }) {}
  const T* operator()(int64_t i, T* tile) const { return fetch(functor, i, tile); }
};

// Neighbouring rows that are adjacent in memory, up to kWidth at once.
template <class T>
struct ForwardColumns {
  const Forward<T>& f;
  int64_t tiles, units;

  explicit ForwardColumns(const Forward<T>& forward)
      : f(forward),
        tiles((f.in.rows.inner_size() + kWidth<T> - 1) / kWidth<T>),
        units(f.in.rows.count() / f.in.rows.inner_size() * tiles) {}

  static bool suits(const Forward<T>& f) {
    const int64_t side = f.in.rows.inner_size();
    const auto beside = [&](const RowTiles<T>& x) {
      return x.plain() && x.rows.inner_stride() == 1 && x.rows.inner_size() == side;
    };
    return side >= 4 && f.in.row.inner_stride() != 1 && beside(f.in) && beside(f.out);
  }

  void operator()(int64_t unit) const {
    using P = Pack<T>;
    const int64_t side = f.in.rows.inner_size(), c0 = unit % tiles * kWidth<T>;
    const int64_t row = unit / tiles * side + c0, width = std::min(kWidth<T>, side - c0);
    const EvenRows<T> in = rows_of(f.in, row), kept = rows_of(f.out, row);
    const auto out = [&](int64_t i) { return const_cast<T*>(kept(i, nullptr)); };
    alignas(64) T shift[kWidth<T>] = {}, total[kWidth<T>] = {};
    column_part<Max, Plain, T>(in, 0, f.n, width, total, shift);
    if (f.log) {
      column_part<Sum, ShiftedExp, T>(in, 0, f.n, width, shift, total);
      for (int64_t c = 0; c < width; ++c) total[c] = std::log(total[c]);
      each_row(in, out, width, [&](auto x, int64_t c) {
        return hn::Sub(hn::Sub(x, P::load(shift + c)), P::load(total + c));
      });
      return;
    }
    each_row(in, out, width,
             [&](auto x, int64_t c) { return exp_nonpositive<T>(hn::Sub(x, P::load(shift + c))); });
    column_part<Sum, Plain, T>(kept, 0, f.n, width, shift, total);
    for (int64_t c = 0; c < width; ++c) total[c] = 1 / total[c];
    each_row(kept, out, width, [&](auto x, int64_t c) { return hn::Mul(x, P::load(total + c)); });
  }

 private:
  static EvenRows<T> rows_of(const RowTiles<T>& x, int64_t row) {
    return {reinterpret_cast<const T*>(x.element(row, 0)), x.row.inner_stride()};
  }

  template <class In, class Out, class F>
  HWY_INLINE void each_row(const In& in, const Out& out, int64_t width, const F& apply) const {
    using P = Pack<T>;
    for (int64_t i = 0; i < f.n; ++i) {
      const T* x = in(i, nullptr);
      T* y = out(i);
      int64_t c = 0;
      for (; c + P::n <= width; c += P::n) P::store(apply(P::load(x + c), c), y + c);
      if (c == width) continue;
      const typename P::D d;
      first::store(apply(load_some<T>(x + c, width - c), c), d, width - c, y + c);
    }
  }
};

// The same for rows in another dtype, which are converted in a tile. The values less the largest,
// or their exponentials, are kept if there is room for [units, n, kWidth] of them; otherwise they
// are computed twice.
template <class T>
struct ConvertedColumns {
  const Forward<T>& f;
  int64_t tiles, units;
  T* kept = nullptr;

  explicit ConvertedColumns(const Forward<T>& forward)
      : f(forward),
        tiles((f.in.rows.inner_size() + kWidth<T> - 1) / kWidth<T>),
        units(f.in.rows.count() / f.in.rows.inner_size() * tiles) {}

  int64_t bytes() const { return units * f.n * kWidth<T> * int64_t{sizeof(T)}; }

  static bool suits(const Forward<T>& f) {
    const int64_t side = f.in.rows.inner_size();
    const auto beside = [&](const RowTiles<T>& x) {
      return x.rows.inner_stride() == 1 && x.rows.inner_size() == side;
    };
    return side >= 4 && f.in.row.inner_stride() != 1 && beside(f.in) && beside(f.out);
  }

  struct Rows {
    const RowTiles<T>& x;
    int64_t row, width;
    const T* operator()(int64_t i, T* tile) const {
      load_tile(tile, x.element(row, i), x.view->dtype, 1, width);
      return tile;
    }
  };

  void operator()(int64_t unit) const {
    const int64_t side = f.in.rows.inner_size(), c0 = unit % tiles * kWidth<T>;
    const int64_t row = unit / tiles * side + c0, width = std::min(kWidth<T>, side - c0);
    const Rows in{f.in, row, width};
    if (kept) return from_room(in, kept + unit * f.n * kWidth<T>);
    if (f.n > kFew) return twice(in);
    alignas(64) T room[kFew * kWidth<T>];
    from_room(in, room);
  }

  static constexpr int64_t kFew = 32;        // rows that are kept on the stack
  static constexpr int64_t kMost = 8 << 20;  // bytes that are allocated to keep rows

 private:
  void write(const Rows& in, int64_t i, const T* tile) const {
    store_tile(f.out.element(in.row, i), f.out.view->dtype, 1, tile, in.width);
  }

  void from_room(const Rows& in, T* room) const {
    using P = Pack<T>;
    const int64_t width = in.width;
    alignas(64) T shift[kWidth<T>] = {}, total[kWidth<T>] = {}, tile[kWidth<T>] = {};
    const EvenRows<T> held{room, kWidth<T>};
    for (int64_t i = 0; i < f.n; ++i) in(i, room + i * kWidth<T>);
    column_part<Max, Plain, T>(held, 0, f.n, width, total, shift);
    for (int64_t i = 0; i < f.n; ++i) {
      T* const x = room + i * kWidth<T>;
      for (int64_t c = 0; c < width; c += P::n) {
        const auto moved = hn::Sub(P::load(x + c), P::load(shift + c));
        P::store(f.log ? moved : exp_nonpositive<T>(moved), x + c);
      }
    }
    if (f.log) {
      column_part<Sum, ShiftedExp, T>(held, 0, f.n, width, tile, total);  // less 0
    } else {
      column_part<Sum, Plain, T>(held, 0, f.n, width, tile, total);
    }
    for (int64_t c = 0; c < width; ++c) total[c] = f.log ? std::log(total[c]) : 1 / total[c];
    for (int64_t i = 0; i < f.n; ++i) {
      const T* const x = room + i * kWidth<T>;
      for (int64_t c = 0; c < width; c += P::n) {
        const auto y = P::load(x + c), by = P::load(total + c);
        P::store(f.log ? hn::Sub(y, by) : hn::Mul(y, by), tile + c);
      }
      write(in, i, tile);
    }
  }

  void twice(const Rows& in) const {
    using P = Pack<T>;
    const int64_t width = in.width;
    alignas(64) T shift[kWidth<T>] = {}, total[kWidth<T>] = {}, tile[kWidth<T>] = {};
    const FetchedRows<T> fetched(in);
    column_part<Max, Plain, T>(fetched, 0, f.n, width, total, shift);
    column_part<Sum, ShiftedExp, T>(fetched, 0, f.n, width, shift, total);
    for (int64_t c = 0; c < width; ++c) total[c] = f.log ? std::log(total[c]) : 1 / total[c];
    for (int64_t i = 0; i < f.n; ++i) {
      in(i, tile);
      for (int64_t c = 0; c < width; c += P::n) {
        const auto x = hn::Sub(P::load(tile + c), P::load(shift + c)), by = P::load(total + c);
        P::store(f.log ? hn::Sub(x, by) : hn::Mul(exp_nonpositive<T>(x), by), tile + c);
      }
      write(in, i, tile);
    }
  }
};

template <class T>
void forward(Context& context, const SoftmaxArgs& args) {
  const Forward<T> row(args);
  if (row.n > 0 && ForwardColumns<T>::suits(row)) {
    const ForwardColumns<T> columns(row);
    const int64_t width = std::min(kWidth<T>, row.in.rows.inner_size());
    return for_rows(context, columns, columns.units, row.n * width);
  }
  if (row.n > 0 && ConvertedColumns<T>::suits(row)) {
    ConvertedColumns<T> columns(row);
    const bool keeps = row.n > columns.kFew && columns.bytes() <= columns.kMost;
    const Scratch room(context, keeps ? columns.bytes() : 0);
    if (room.failed()) return;
    columns.kept = static_cast<T*>(room.data());
    const int64_t width = std::min(kWidth<T>, row.in.rows.inner_size());
    return for_rows(context, columns, columns.units, row.n * width);
  }
  for_rows(context, row, row.in.rows.count(), row.n);
}

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

// Neighbouring rows that are adjacent in memory, up to kWidth at once; those in another dtype are
// converted in tiles.
template <class T>
struct BackwardColumns {
  const Backward<T>& b;
  int64_t tiles, units;

  explicit BackwardColumns(const Backward<T>& backward)
      : b(backward),
        tiles((b.dy.rows.inner_size() + kWidth<T> - 1) / kWidth<T>),
        units(b.dy.rows.count() / b.dy.rows.inner_size() * tiles) {}

  static bool suits(const Backward<T>& b) {
    const int64_t side = b.dy.rows.inner_size();
    const auto beside = [&](const RowTiles<T>& x) {
      return x.rows.inner_stride() == 1 && x.rows.inner_size() == side;
    };
    return side >= 4 && b.dy.row.inner_stride() != 1 && beside(b.dy) && beside(b.y) && beside(b.dx);
  }

  // `width` neighbours of element i of their rows.
  struct Piece {
    const RowTiles<T>& x;
    int64_t row, width;
    const T* read(int64_t i, T* tile) const {
      const char* const from = x.element(row, i);
      if (x.plain()) return reinterpret_cast<const T*>(from);
      load_tile(tile, from, x.view->dtype, 1, width);
      return tile;
    }
  };
  // What is summed: y dy, or dy.
  struct Terms {
    Piece dy, y;
    bool log;
    const T* operator()(int64_t i, T* tile) const {
      const T* const g = dy.read(i, tile);
      if (log) return g;
      alignas(64) T other[kWidth<T>];
      map(Product<T>{}, tile, g, y.read(i, other), dy.width);
      return tile;
    }
  };

  void operator()(int64_t unit) const {
    const int64_t side = b.dy.rows.inner_size(), c0 = unit % tiles * kWidth<T>;
    const int64_t row = unit / tiles * side + c0, width = std::min(kWidth<T>, side - c0);
    const Piece dy{b.dy, row, width}, y{b.y, row, width};
    alignas(64) T total[kWidth<T>];
    sum(Terms{dy, y, b.log}, width, total);
    alignas(64) T tile[kWidth<T>], other[kWidth<T>];
    for (int64_t i = 0; i < b.n; ++i) {
      const T *const g = dy.read(i, tile), *const v = y.read(i, other);
      char* const at = b.dx.element(row, i);
      const bool plain = b.dx.plain();
      T* const to = plain ? reinterpret_cast<T*>(at) : tile;
      if (b.log) {
        map_columns(to, g, v, total, width, [](auto g, auto v, auto sum) {
          return hn::Sub(g, hn::Mul(exp_nonpositive<T>(v), sum));
        });
      } else {
        map_columns(to, g, v, total, width,
                    [](auto g, auto v, auto sum) { return hn::Mul(v, hn::Sub(g, sum)); });
      }
      if (!plain) store_tile(at, b.dx.view->dtype, 1, tile, width);
    }
  }

 private:
  static constexpr int64_t kFew = 32;  // rows whose terms are kept on the stack

  void sum(const Terms& terms, int64_t width, T* total) const {
    alignas(64) const T none[kWidth<T>] = {};
    const auto add = [&](const auto& rows) {
      column_part<Sum, Plain, T>(rows, 0, b.n, width, none, total);
    };
    if (b.log && b.dy.plain())
      return add(EvenRows<T>{terms.dy.read(0, nullptr), b.dy.row.inner_stride()});
    if (b.n > kFew) return add(FetchedRows<T>(terms));
    alignas(64) T room[kFew][kWidth<T>];
    for (int64_t i = 0; i < b.n; ++i) terms(i, room[i]);  // never dy in place: that is above
    add(EvenRows<T>{room[0], kWidth<T>});
  }

  template <class F>
  static HWY_INLINE void map_columns(T* to, const T* g, const T* v, const T* sum, int64_t width,
                                     const F& f) {
    using P = Pack<T>;
    const typename P::D d;
    int64_t c = 0;
    for (; c + P::n <= width; c += P::n)
      P::store(f(P::load(g + c), P::load(v + c), P::load(sum + c)), to + c);
    if (c == width) return;
    const int64_t n = width - c;
    first::store(f(first::load(d, n, g + c), first::load(d, n, v + c), P::load(sum + c)), d, n,
                 to + c);
  }
};

template <class T>
void backward(Context& context, const SoftmaxBackwardArgs& args) {
  const Backward<T> row(args);
  if (row.n == 0 || !BackwardColumns<T>::suits(row))
    return for_rows(context, row, row.dy.rows.count(), row.n);
  const BackwardColumns<T> columns(row);
  const int64_t width = std::min(kWidth<T>, row.dy.rows.inner_size());
  for_rows(context, columns, columns.units, row.n * width);
}

void softmax_on(Context& context, const SoftmaxArgs& args) {
  if (args.out.dtype == LIBDL_DTYPE_FLOAT64) return forward<double>(context, args);
  forward<float>(context, args);
}

void softmax_backward_on(Context& context, const SoftmaxBackwardArgs& args) {
  if (args.dx.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, args);
  backward<float>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void softmax(Context& context, const SoftmaxArgs& args) { LIBDL_ON_ISA(softmax_on, context, args); }

void softmax_backward(Context& context, const SoftmaxBackwardArgs& args) {
  LIBDL_ON_ISA(softmax_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
