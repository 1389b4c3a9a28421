// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/nn/layer_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
struct Normalise {  // (x - mean) * rstd
  T mean, rstd;
  template <class V>
  HWY_INLINE V apply(V x, V) const {
    return hn::Mul(hn::Sub(x, Pack<T>::set(mean)), Pack<T>::set(rstd));
  }
};
template <class T>
struct Times {
  template <class V>
  HWY_INLINE V apply(V x, V y) const {
    return hn::Mul(x, y);
  }
};
template <class T>
struct Plus {
  template <class V>
  HWY_INLINE V apply(V x, V y) const {
    return hn::Add(x, y);
  }
};
// y = (x - mean) * rstd, then * weight and + bias where they are not NULL, each rounded on its own.
// y may be x.
template <class T>
HWY_INLINE void normalise(T* y, const T* x, const T* weight, const T* bias, Normalise<T> to,
                          int64_t n) {
  using P = Pack<T>;
  const hn::CappedTag<T, kLanes<T>> d;
  int64_t i = 0;
  for (; i + P::n <= n; i += P::n) {
    auto v = to.apply(P::load(x + i), P::set(0));
    if (weight != nullptr) v = hn::Mul(v, P::load(weight + i));
    if (bias != nullptr) v = hn::Add(v, P::load(bias + i));
    P::store(v, y + i);
  }
  if (i == n) return;
  auto v = to.apply(first::load(d, n - i, x + i), P::set(0));
  if (weight != nullptr) v = hn::Mul(v, first::load(d, n - i, weight + i));
  if (bias != nullptr) v = hn::Add(v, first::load(d, n - i, bias + i));
  first::store(v, d, n - i, y + i);
}

template <class T>
struct InputGradient {  // rstd * (g - mean(g) - xhat * mean(g xhat))
  T rstd, mean_g, mean_gx;
  template <class V>
  HWY_INLINE V apply(V g, V xhat) const {
    using P = Pack<T>;
    const V rest = hn::Sub(hn::Sub(g, P::set(mean_g)), hn::Mul(xhat, P::set(mean_gx)));
    return hn::Mul(rest, P::set(rstd));
  }
};

// A [rows] view of float32 or float64.
template <class T>
struct Column {
  const View* view;
  Dims dims;
  int64_t bytes;
  bool plain;

  explicit Column(const View& v)
      : view(&v),
        dims(v, 0, v.data == nullptr ? 0 : v.ndim),
        bytes(v.data == nullptr ? 0 : dtype_bytes(v.dtype)),
        plain(v.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64)) {}

  char* element(int64_t r) const { return const_cast<char*>(at(*view, dims.offset(r), bytes)); }
  T get(int64_t r) const {
    if (plain) return *reinterpret_cast<const T*>(element(r));
    T x;
    load_tile(&x, element(r), view->dtype, 1, 1);
    return x;
  }
  void set(int64_t r, T x) const {
    if (view->data == nullptr) return;
    if (plain)
      *reinterpret_cast<T*>(element(r)) = x;
    else
      store_tile(element(r), view->dtype, 1, &x, 1);
  }
};

template <class T>
struct Forward {
  RowTiles<T> out, in, weight, bias;
  Column<T> mean, rstd;
  bool weighted, biased;
  double eps;
  int64_t n;

  explicit Forward(const LayerNormArgs& a)
      : out(a.out),
        in(a.in),
        weight(a.weight.data == nullptr ? a.in : a.weight),
        bias(a.bias.data == nullptr ? a.in : a.bias),
        mean(a.mean),
        rstd(a.rstd),
        weighted(a.weight.data != nullptr),
        biased(a.bias.data != nullptr),
        eps(a.eps),
        n(in.row.count()) {}

  T scale_of(T squares) const {
    return 1 / std::sqrt(squares / static_cast<T>(n) + static_cast<T>(eps));
  }
  // The squares left the range of T; or an infinity or a NaN is among the elements.
  bool is_lost(T squares) const {
    constexpr T tiny = sizeof(T) == 4 ? T(0x1p-80f) : T(0x1p-900);
    return !(squares <= std::numeric_limits<T>::max()) ||
           (squares < tiny && squares / static_cast<T>(n) + static_cast<T>(eps) < tiny);
  }

  void operator()(int64_t r) const {
    if (n <= kBlock<T>) return one_block(r);
    alignas(64) T tile[kBlock<T>];
    // The mean.
    Tree<Sum, T> sum, squares;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      sum.push(combine_block<Sum, Plain, T>(in.read(r, i, count, tile), count, T(0)));
    }
    const T centre = sum.result() / static_cast<T>(n);
    // The sum of squared distances from it.
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* x = in.read(r, i, count, tile);
      squares.push(combine_block<Sum, CentredSquare, T>(x, count, centre));
    }
    const T total = squares.result();
    if (is_lost(total) && rescued(r)) return;
    // Write the result.
    const Normalise<T> to{centre, scale_of(total)};
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      finish(r, i, count, in.read(r, i, count, tile), tile, to);
    }
    mean.set(r, centre);
    rstd.set(r, to.rstd);
  }

  // The row is read (and converted) once.
  void one_block(int64_t r) const {
    alignas(64) T tile[kBlock<T>];
    const T* x = in.read(r, 0, n, tile);
    const T centre = combine_block<Sum, Plain, T>(x, n, T(0)) / static_cast<T>(n);
    const T squares = combine_block<Sum, CentredSquare, T>(x, n, centre);
    if (is_lost(squares) && rescued(r)) return;
    const Normalise<T> to{centre, scale_of(squares)};
    finish(r, 0, n, x, tile, to);
    mean.set(r, centre);
    rstd.set(r, to.rstd);
  }

  // The sum of of(x), one element after the other.
  template <class F>
  double total(int64_t r, F of) const {
    alignas(64) T tile[kBlock<T>];
    double sum = 0;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* x = in.read(r, i, count, tile);
      for (int64_t k = 0; k < count; ++k) sum += of(static_cast<double>(x[k]));
    }
    return sum;
  }

  // The row in double precision, times a power of two that makes its largest element about 1; false
  // if that is zero, infinite or a NaN.
  HWY_NOINLINE bool rescued(int64_t r) const {
    double largest = 0;
    const double any = total(r, [&](double x) {
      largest = std::max(largest, std::abs(x));
      return x * 0;  // a NaN, if x is one or infinite
    });
    if (any != 0 || largest == 0) return false;
    const int exponent = std::min(-std::ilogb(largest), 900);
    const double scale = std::ldexp(1.0, exponent), size = static_cast<double>(n);
    const double centre = total(r, [&](double x) { return x * scale; }) / size;
    const double squares = total(r, [&](double x) {
      const double away = x * scale - centre;
      return away * away;
    });
    const double unit = 1 / std::sqrt(squares / size + eps * scale * scale);
    alignas(64) T tile[kBlock<T>];
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      const T* x = in.read(r, i, count, tile);
      for (int64_t k = 0; k < count; ++k)
        tile[k] = static_cast<T>((static_cast<double>(x[k]) * scale - centre) * unit);
      finish(r, i, count, tile, tile, {T(0), T(1)});
    }
    mean.set(r, static_cast<T>(std::ldexp(centre, -exponent)));
    rstd.set(r, static_cast<T>(unit * scale));
    return true;
  }

  // x may be in tile, which may be overwritten afterwards.
  void finish(int64_t r, int64_t i, int64_t count, const T* x, T* tile, Normalise<T> to) const {
    alignas(64) T w[kBlock<T>], b[kBlock<T>];
    T* y = out.room(r, i, tile);
    normalise(y, x, weighted ? weight.read(0, i, count, w) : nullptr,
              biased ? bias.read(0, i, count, b) : nullptr, to, count);
    out.write(r, i, count, y);
  }
};

// Sums over rows: 16 rows in T, and the groups in double, block by block.
constexpr int64_t kRows = 16;

template <class T>
struct Backward {
  RowTiles<T> dx, dy, in, weight;
  Column<T> mean, rstd;
  bool wanted, weighted;
  int64_t n, rows, block;
  double* sums = nullptr;  // [blocks, dweight and dbias, n], if they are wanted

  explicit Backward(const LayerNormBackwardArgs& a)
      : dx(a.dx.data == nullptr ? a.dy : a.dx),
        dy(a.dy),
        in(a.in),
        weight(a.weight.data == nullptr ? a.in : a.weight),
        mean(a.mean),
        rstd(a.rstd),
        wanted(a.dx.data != nullptr),
        weighted(a.weight.data != nullptr),
        n(dy.row.count()),
        rows(dy.rows.count()),
        block(layer_norm_backward_block(rows)) {}

  // Computes g = dy * weight, and xhat.
  void load(int64_t r, int64_t i, int64_t count, T centre, T scale, T* g, T* xhat) const {
    const T* x = in.read(r, i, count, xhat);
    map(Normalise<T>{centre, scale}, xhat, x, x, count);
    const T* from = dy.read(r, i, count, g);
    if (weighted) {
      alignas(64) T w[kBlock<T>];
      map(Times<T>{}, g, from, weight.read(0, i, count, w), count);
    } else if (from != g) {
      std::copy_n(from, count, g);
    }
  }

  void input_gradient(int64_t r) const {
    alignas(64) T g[kBlock<T>], xhat[kBlock<T>], product[kBlock<T>];
    const T centre = mean.get(r), scale = rstd.get(r);
    // The means of g and g xhat.
    Tree<Sum, T> sum_g, sum_gx;
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      load(r, i, count, centre, scale, g, xhat);
      map(Times<T>{}, product, g, xhat, count);
      sum_g.push(combine_block<Sum, Plain, T>(g, count, T(0)));
      sum_gx.push(combine_block<Sum, Plain, T>(product, count, T(0)));
    }
    // Write dx.
    const T size = static_cast<T>(n);
    const InputGradient<T> gradient{scale, sum_g.result() / size, sum_gx.result() / size};
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      load(r, i, count, centre, scale, g, xhat);
      T* to = dx.room(r, i, product);
      map(gradient, to, g, xhat, count);
      dx.write(r, i, count, to);
    }
  }

  // One block of rows: its dx, and its part of dweight and dbias.
  void operator()(int64_t b) const {
    const int64_t r0 = b * block, r1 = std::min(r0 + block, rows);
    // The sums come first, because dx may be dy.
    if (sums) add_rows(b, r0, r1);
    if (wanted) {
      for (int64_t r = r0; r < r1; ++r) input_gradient(r);
    }
  }

  void add_rows(int64_t b, int64_t r0, int64_t r1) const {
    double* dweight = sums + b * 2 * n;
    double* dbias = dweight + n;
    std::fill_n(dweight, 2 * n, 0.0);
    alignas(64) T g[kBlock<T>], xhat[kBlock<T>], w[kBlock<T>], s[kBlock<T>];
    for (int64_t i = 0; i < n; i += kBlock<T>) {
      const int64_t count = std::min(kBlock<T>, n - i);
      for (int64_t group = r0; group < r1; group += kRows) {
        std::fill_n(w, count, T(0));
        std::fill_n(s, count, T(0));
        for (int64_t r = group; r < std::min(group + kRows, r1); ++r) {
          const T* x = in.read(r, i, count, xhat);
          map(Normalise<T>{mean.get(r), rstd.get(r)}, xhat, x, x, count);
          const T* from = dy.read(r, i, count, g);
          map(Times<T>{}, xhat, xhat, from, count);
          map(Plus<T>{}, w, w, xhat, count);
          map(Plus<T>{}, s, s, from, count);
        }
        for (int64_t k = 0; k < count; ++k) dweight[i + k] += static_cast<double>(w[k]);
        for (int64_t k = 0; k < count; ++k) dbias[i + k] += static_cast<double>(s[k]);
      }
    }
  }

  // Adds the blocks' parts, in order.
  void finish(const View& out, int64_t part, int64_t blocks) const {
    if (out.data == nullptr) return;
    const int64_t bytes = dtype_bytes(out.dtype);
    double sum[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t count = std::min<int64_t>(256, n - i);
      std::fill_n(sum, count, 0.0);
      for (int64_t b = 0; b < blocks; ++b) {
        const double* from = sums + (b * 2 + part) * n + i;
        for (int64_t k = 0; k < count; ++k) sum[k] += from[k];
      }
      char* to = const_cast<char*>(at(out, i * out.strides[0], bytes));
      store_tile(to, out.dtype, out.strides[0], sum, count);
    }
  }
};

template <class T>
void backward(Context& context, const LayerNormBackwardArgs& args) {
  Backward<T> job(args);
  if (job.n == 0) return;
  const int64_t blocks = (job.rows + job.block - 1) / job.block;
  const bool summed = args.dweight.data != nullptr || args.dbias.data != nullptr;
  const Scratch sums(context, summed ? blocks * 2 * job.n * int64_t{sizeof(double)} : 0);
  if (sums.failed()) return;
  job.sums = static_cast<double*>(sums.data());
  for_rows(context, job, blocks, job.n * job.block);
  job.finish(args.dweight, 0, blocks);
  job.finish(args.dbias, 1, blocks);
}

void layer_norm_on(Context& context, const LayerNormArgs& args) {
  if (args.in.dtype == LIBDL_DTYPE_FLOAT64) {
    const Forward<double> row(args);
    return for_rows(context, row, row.in.rows.count(), row.n);
  }
  const Forward<float> row(args);
  for_rows(context, row, row.in.rows.count(), row.n);
}

void layer_norm_backward_on(Context& context, const LayerNormBackwardArgs& args) {
  if (args.dy.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, args);
  backward<float>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void layer_norm(Context& context, const LayerNormArgs& args) {
  LIBDL_ON_ISA(layer_norm_on, context, args);
}

void layer_norm_backward(Context& context, const LayerNormBackwardArgs& args) {
  LIBDL_ON_ISA(layer_norm_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
