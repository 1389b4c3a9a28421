// SPDX-License-Identifier: Apache-2.0

// Shared by attention.cc and attention_backward.cc. A tile of queries meets one block of keys after
// another. Scores lie transposed, [keys, queries], so that vectors hold one key's scores for many
// queries: keys, values and queries are then all read in place by the micro-kernel of
// gemm/micro_kernel.cc, and only the tile of queries is transposed.
#if defined(LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_INL_H
#undef LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_INL_H
#else
#define LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_INL_H
#endif

#include <algorithm>
#include <limits>

#include "kernels/cpu/gemm/gemm_kernel-inl.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/math/exp_shifted-inl.h"
#include "kernels/cpu/traverse/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int64_t kQueries = 192 / sizeof(T);  // of a tile: whole vectors
constexpr int64_t kKeys = 96;                  // of a block
constexpr int64_t kDepth = 128;                // elements of a row that are transposed at once
template <class T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

// The vectors that cover n values.
template <class T>
constexpr int64_t whole_vectors(int64_t n) {
  return (n + kN<T> - 1) / kN<T> * kN<T>;
}

// Rows of a matrix with contiguous elements.
template <class T>
struct Rows {
  T* at;
  int64_t stride;
  Rows from(int64_t row) const { return {at + row * stride, stride}; }
};

template <class T>
Rows<const T> constant(Rows<T> x) {
  return {x.at, x.stride};
}

// The matrices of a view, one for each index of its leading dimensions.
template <class T>
struct Matrices {
  const View& view;
  Dims leading;

  explicit Matrices(const View& v) : view(v), leading(v, 0, v.ndim - 2) {}
  int64_t rows() const { return view.sizes[view.ndim - 2]; }
  int64_t columns() const { return view.sizes[view.ndim - 1]; }
  int64_t count() const { return leading.count(); }
  Rows<T> operator[](int64_t k) const {
    return {static_cast<T*>(view.data) + leading.offset(k), view.strides[view.ndim - 2]};
  }
};

// -- products -------------------------------------------------------------------------------------

// c[i][j] (+)= alpha * sum over k of a[i][k] * b[k][j]. a is a buffer or lies in place.
template <class T>
struct Product {
  const T* a;
  int64_t a_stride;
  Lies lies;
  Rows<const T> b;
  Rows<T> c;
  int64_t rows, k, width;
  T alpha;
  bool add;
};

// What a group of rows has a share in: values [k0, k1) of k, columns from j0 on.
struct Part {
  int64_t k0, k1, j0;
};

// Columns that fill no vector, from a copy of theirs in b: without masks, the micro-kernel reads
// whole vectors.
template <class T>
HWY_INLINE void last_columns(const Kernels<T>& kernels, Step<T> step, int64_t columns) {
  static_assert(kKeys >= kQueries<T>);
  alignas(64) T room[kKeys * kN<T>];
  for (int64_t k = 0; k < step.k; ++k) {
    std::fill_n(room + k * kN<T>, kN<T>, T(0));
    std::copy_n(step.b + k * step.b_stride, columns, room + k * kN<T>);
  }
  step.b = step.next = room;
  step.b_stride = kN<T>;
  step.columns = columns;
  kernels.narrow(step);
}

// part(i0, i1): of rows [i0, i1).
template <class T, class F>
HWY_INLINE void multiply(const Product<T>& p, const F& part) {
  const int64_t groups = (p.rows + kRows<T> - 1) / kRows<T>;
  Step<T> step{};
  step.a_stride = p.a_stride;
  step.b_stride = p.b.stride;
  step.c_stride = p.c.stride;
  step.alpha = p.alpha;
  step.add = p.add;
  for (int64_t g = 0, i0 = 0, i1; g < groups; ++g, i0 = i1) {  // of nearly equal height
    i1 = p.rows * (g + 1) / groups;
    const Part at = part(i0, i1);
    if (at.k1 <= at.k0 || at.j0 >= p.width) continue;
    step.a = p.a + (p.lies == Lies::kColumns ? i0 + at.k0 * p.a_stride : i0 * p.a_stride + at.k0);
    step.b = step.next = p.b.at + at.k0 * p.b.stride + at.j0;
    step.c = p.c.at + i0 * p.c.stride + at.j0;
    step.k = at.k1 - at.k0;
    const int64_t width = p.width - at.j0;
    const int64_t rest = first::kMasksMemory ? 0 : width % kN<T>;
    const Kernels<T>& kernels = kernels_for<T>(i1 - i0, p.lies);
    panel_product(kernels, step, width - rest);
    if (rest == 0) continue;
    step.b += width - rest;
    step.c += width - rest;
    last_columns(kernels, step, rest);
  }
}

// A tile of rows of `depth` elements, of which kDepth are transposed at a time: [kDepth,
// kQueries]. What fills the last vector is zero.
template <class T>
class Transposed {
 public:
  void set(Rows<const T> rows, int64_t count, int64_t depth) {
    rows_ = rows, count_ = count, depth_ = depth, at_ = -1;
  }
  int64_t depth() const { return depth_; }
  const T* part(int64_t d) {
    if (at_ == d) return room_;
    at_ = d;
    const int64_t n = std::min(kDepth, depth_ - d), end = whole_vectors<T>(count_);
    transpose(room_, kQueries<T>, rows_.at + d, rows_.stride, count_, n);
    for (int64_t i = 0; count_ < end && i < n; ++i)
      std::fill(room_ + i * kQueries<T> + count_, room_ + i * kQueries<T> + end, T(0));
    return room_;
  }

 private:
  alignas(64) T room_[kDepth * kQueries<T>];
  Rows<const T> rows_{};
  int64_t count_ = 0, depth_ = 0, at_ = -1;
};

// Where a block of keys meets a tile of queries.
struct Meeting {
  int64_t q0, queries, k0, keys;
  bool causal;

  // The first query of the tile that takes key j of the block.
  int64_t first_query(int64_t j) const { return causal ? std::max<int64_t>(0, k0 + j - q0) : 0; }
  // The number of the block's keys that query i of the tile takes.
  int64_t keys_of(int64_t i) const {
    return causal ? std::clamp<int64_t>(q0 + i + 1 - k0, 0, keys) : keys;
  }
};

// to[j][i] = alpha * sum over d of x[j][d] * tile[i][d], for the keys j of the block.
template <class T>
HWY_INLINE void meet(const Meeting& m, T* to, Rows<const T> x, Transposed<T>& tile, T alpha) {
  for (int64_t d = 0; d < tile.depth(); d += kDepth) {
    const int64_t n = std::min(kDepth, tile.depth() - d);
    multiply<T>(
        {x.at + d,
         x.stride,
         Lies::kRows,
         {tile.part(d), kQueries<T>},
         {to, kQueries<T>},
         m.keys,
         n,
         whole_vectors<T>(m.queries),
         alpha,
         d > 0},
        [&](int64_t j, int64_t) { return Part{0, n, m.first_query(j) / kWide<T> * kWide<T>}; });
  }
}

// c[i] (+)= alpha * sum over j of s[j][i] * x[j], for the queries i of the tile.
template <class T>
HWY_INLINE void sum_over_keys(const Meeting& m, Rows<T> c, const T* s, Rows<const T> x,
                              int64_t width, T alpha, bool add) {
  multiply<T>({s, kQueries<T>, Lies::kColumns, x, c, m.queries, m.keys, width, alpha, add},
              [&](int64_t, int64_t i1) { return Part{0, m.keys_of(i1 - 1), 0}; });
}

// c[j] += alpha * sum over i of s[j][i] * x[i], for the keys j of the block.
template <class T>
HWY_INLINE void add_over_queries(const Meeting& m, Rows<T> c, const T* s, Rows<const T> x,
                                 int64_t width, T alpha) {
  multiply<T>({s, kQueries<T>, Lies::kRows, x, c, m.keys, m.queries, width, alpha, true},
              [&](int64_t j, int64_t) { return Part{m.first_query(j), m.queries, 0}; });
}

// -- masks ----------------------------------------------------------------------------------------

template <class T>
class Mask {
 public:
  explicit Mask(const View& v) : view_(v), leading_(v, 0, v.data ? v.ndim - 2 : 0) {}

  // Adds it to the scores, and sets those of later keys to -inf.
  void apply(const Meeting& m, int64_t head, T* scores) {
    if (view_.data) add(m, head, scores);
    for (int64_t j = 0; m.causal && j < m.keys; ++j)
      std::fill_n(scores + j * kQueries<T>, std::min(m.first_query(j), whole_vectors<T>(m.queries)),
                  kMinusInfinity<T>);
  }
  // The same where scores lie as [queries, keys], rows kKeys apart.
  void apply_to_rows(const Meeting& m, int64_t head, T* scores) {
    const int64_t bytes = dtype_bytes(view_.dtype);
    for (int64_t i = 0; i < m.queries; ++i) {
      T* const row = scores + i * kKeys;
      if (view_.data) {
        const int64_t step = view_.strides[view_.ndim - 1];
        const int64_t first = leading_.offset(head) + (m.q0 + i) * view_.strides[view_.ndim - 2];
        load(rows_, at(view_, first + m.k0 * step, bytes), step, m.keys);
        for (int64_t j = 0; j < m.keys; ++j) row[j] += rows_[j];
      }
      std::fill(row + m.keys_of(i), row + m.keys, kMinusInfinity<T>);
    }
  }

 private:
  void add(const Meeting& m, int64_t head, T* scores) {
    const Vectors<T> d;
    const int64_t row = view_.strides[view_.ndim - 2], bytes = dtype_bytes(view_.dtype);
    const int64_t column = view_.strides[view_.ndim - 1];
    const int64_t first = leading_.offset(head) + m.q0 * row + m.k0 * column;
    const int64_t rows = row == 0 ? 1 : m.queries;  // equal rows are read once
    for (int64_t i = 0; i < rows; ++i)
      load(rows_ + i * kKeys, at(view_, first + i * row, bytes), column, m.keys);
    if (row == 0) {
      for (int64_t j = 0; j < m.keys; ++j)
        add_row(scores + j * kQueries<T>, m.queries, [&](int64_t) { return hn::Set(d, rows_[j]); });
      return;
    }
    transpose(turned_, kQueries<T>, rows_, kKeys, m.queries, m.keys);
    for (int64_t j = 0; j < m.keys; ++j) {
      T* const row_of_key = turned_ + j * kQueries<T>;
      std::fill(row_of_key + m.queries, row_of_key + whole_vectors<T>(m.queries), T(0));
      add_row(scores + j * kQueries<T>, m.queries,
              [&](int64_t i) { return hn::Load(d, row_of_key + i); });
    }
  }

  template <class F>
  static HWY_INLINE void add_row(T* scores, int64_t n, const F& value) {
    const Vectors<T> d;
    for (int64_t i = 0; i < n; i += kN<T>)
      hn::Store(hn::Add(hn::Load(d, scores + i), value(i)), d, scores + i);
  }

  void load(T* to, const void* from, int64_t stride, int64_t n) const {
    load_tile(to, from, view_.dtype, stride, n);
    if (view_.dtype != LIBDL_DTYPE_BOOL) return;
    for (int64_t j = 0; j < n; ++j) to[j] = to[j] == 0 ? kMinusInfinity<T> : T(0);
  }

  const View& view_;
  Dims leading_;
  alignas(64) T rows_[kQueries<T> * kKeys];
  alignas(64) T turned_[kKeys * kQueries<T>];
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
