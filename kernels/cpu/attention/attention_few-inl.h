// SPDX-License-Identifier: Apache-2.0

// A part of attention.cc: a few queries, such as the one that meets a cache of keys. Scores lie as
// [queries, keys], so that vectors hold many keys' scores for one query, and blocks of keys are
// transposed. Sums have the order of a tile of queries, so that a query has the same bits in both.
#if defined(LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_FEW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_FEW_INL_H
#undef LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_FEW_INL_H
#else
#define LIBDL_KERNELS_CPU_ATTENTION_ATTENTION_FEW_INL_H
#endif

#include "kernels/cpu/attention/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kFewQueries = 4;

// Prefetches rows: of a few queries, reading keys and values takes as long as what is done with
// them.
template <class T>
HWY_INLINE void expect_rows(Rows<const T> x, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; j += kLine<T>) prefetch_l2(x.at + i * x.stride + j);
}

template <class T>
struct FewQueries {
  Rows<const T> rows;
  int64_t count, depth;
  T scale;
  alignas(64) T turned[kDepth * kKeys];                       // a block of keys: [depth, keys]
  alignas(64) T scores[kFewQueries * kKeys];                  // [queries, keys]
  T top[kFewQueries], sum[kFewQueries], factor[kFewQueries];  // as Softmax's

  FewQueries(Rows<const T> queries, int64_t number, int64_t elements, T by)
      : rows(queries), count(number), depth(elements), scale(by) {
    std::fill_n(top, kFewQueries, kMinusInfinity<T>);
    std::fill_n(sum, kFewQueries, T(0));
  }

  void meet(const Meeting& m, Rows<const T> keys) {
    const int64_t width = whole_vectors<T>(m.keys);
    for (int64_t d = 0; d < depth; d += kDepth) {
      const int64_t n = std::min(kDepth, depth - d);
      transpose(turned, kKeys, keys.at + d, keys.stride, m.keys, n);
      for (int64_t i = 0; m.keys < width && i < n; ++i)
        std::fill(turned + i * kKeys + m.keys, turned + i * kKeys + width, T(0));
      multiply<T>({rows.at + d,
                   rows.stride,
                   Lies::kRows,
                   {turned, kKeys},
                   {scores, kKeys},
                   count,
                   n,
                   width,
                   scale,
                   d > 0},
                  [&](int64_t, int64_t) { return Part{0, n, 0}; });
    }
  }

  // Makes weights of a block's scores.
  void take(const Meeting& m) {
    for (int64_t i = 0; i < count; ++i) take_row(scores + i * kKeys, m.keys, i);
  }

  void sum_over_keys(const Meeting& m, Rows<T> y, Rows<const T> values, int64_t width) {
    multiply<T>({scores, kKeys, Lies::kRows, values, y, count, m.keys, width, T(1), m.k0 > 0},
                [&](int64_t, int64_t i1) { return Part{0, m.keys_of(i1 - 1), 0}; });
  }

 private:
  static HWY_INLINE T largest(const T* row, int64_t keys, T before) {
    const Vectors<T> d;
    alignas(64) T lanes[kN<T>];
    auto most = hn::Set(d, before);
    int64_t j = 0;
    for (; j + kN<T> <= keys; j += kN<T>) most = hn::Max(most, hn::Load(d, row + j));
    hn::Store(most, d, lanes);
    T found = before;
    for (const T& lane : lanes) found = std::max(found, lane);
    for (; j < keys; ++j) found = std::max(found, row[j]);
    return found;
  }

  HWY_INLINE void take_row(T* row, int64_t keys, int64_t i) {
    const Vectors<T> d;
    using V = hn::Vec<Vectors<T>>;
    const T before = top[i], now = largest(row, keys, before);
    const T shift = now == kMinusInfinity<T> ? T(0) : now;
    const V by = hn::Set(d, shift);
    for (int64_t j = 0; j < keys; j += kN<T>)
      hn::Store(exp_nonpositive<T>(hn::Sub(hn::Load(d, row + j), by)), d, row + j);
    T sums[4] = {};
    int64_t j = 0;
    for (; j + 4 <= keys; j += 4)
      for (int u = 0; u < 4; ++u) sums[u] += row[j + u];
    for (; j < keys; ++j) sums[0] += row[j];
    const T added = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const V change = exp_nonpositive<T>(hn::Set(d, before - shift));
    sum[i] = hn::GetLane(hn::MulAdd(hn::Set(d, sum[i]), change, hn::Set(d, added)));
    top[i] = now, factor[i] = hn::GetLane(change);
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
