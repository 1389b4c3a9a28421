// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/attention/attention-inl.h"
#include "kernels/cpu/attention/attention_few-inl.h"
#include "kernels/cpu/simd/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// The softmax of a tile's rows so far: weights are exp(score - top), of which sum is the sum.
template <class T>
struct Softmax {
  alignas(64) T top[kQueries<T>], sum[kQueries<T>];
  alignas(64) T factor[kQueries<T>];  // by which a new maximum changes the weights before it

  Softmax() {
    std::fill_n(top, kQueries<T>, kMinusInfinity<T>);
    std::fill_n(sum, kQueries<T>, T(0));
  }

  // Makes weights of a block's scores.
  void take(T* scores, const Meeting& m) {
    for (int64_t i = 0; i < m.queries; i += kN<T>) take_vector(scores + i, m.keys, i);
  }

 private:
  HWY_INLINE void take_vector(T* scores, int64_t keys, int64_t i) {
    const Vectors<T> d;
    using V = hn::Vec<Vectors<T>>;
    const V before = hn::Load(d, top + i), infinity = hn::Set(d, kMinusInfinity<T>);
    V now = before;
    for (int64_t j = 0; j < keys; ++j) now = hn::Max(now, hn::Load(d, scores + j * kQueries<T>));
    // Rows without a finite score so far have weights of 0, not NaN.
    const V shift = hn::IfThenZeroElse(hn::Eq(now, infinity), now);
    const auto weigh = [&](int64_t j) {
      T* const at = scores + j * kQueries<T>;
      const V weight = exp_nonpositive<T>(hn::Sub(hn::Load(d, at), shift));
      hn::Store(weight, d, at);
      return weight;
    };
    V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    int64_t j = 0;
    for (; j + 4 <= keys; j += 4) {
      LIBDL_UNROLL
      for (int u = 0; u < 4; ++u) sums[u] = hn::Add(sums[u], weigh(j + u));
    }
    for (; j < keys; ++j) sums[0] = hn::Add(sums[0], weigh(j));
    const V added = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    const V change = exp_nonpositive<T>(hn::Sub(before, shift));
    hn::Store(hn::MulAdd(hn::Load(d, sum + i), change, added), d, sum + i);
    hn::Store(now, d, top + i);
    hn::Store(change, d, factor + i);
  }
};

template <class T>
HWY_INLINE void scale_row(T* y, int64_t n, T factor) {
  using P = Pack<T>;
  const auto by = P::set(factor);
  int64_t i = 0;
  for (; i + P::n <= n; i += P::n) P::store(hn::Mul(P::load(y + i), by), y + i);
  for (; i < n; ++i) y[i] *= factor;
}

template <class T>
struct Forward {
  const AttentionArgs& args;
  Matrices<T> out, query, key, value;
  int64_t group, tiles;

  explicit Forward(const AttentionArgs& a)
      : args(a),
        out(a.out),
        query(a.query),
        key(a.key),
        value(a.value),
        group(a.query.sizes[a.query.ndim - 3]),
        tiles((query.rows() + kQueries<T> - 1) / kQueries<T>) {}

  int64_t units() const { return query.count() * tiles; }
  // In elements as of for_rows(), each of which stands for a few instructions.
  int64_t cost() const {
    const int64_t products = std::min(query.rows(), kQueries<T>) * key.rows();
    return products * (key.columns() + value.columns() + 32) / 32;
  }

  // One tile of queries.
  void operator()(int64_t unit) const {
    const int64_t head = unit / tiles, q0 = unit % tiles * kQueries<T>;
    Meeting m{q0, std::min(kQueries<T>, query.rows() - q0), 0, 0, args.causal};
    const int64_t end = args.causal ? std::min(key.rows(), q0 + m.queries) : key.rows();
    const Rows<const T> keys = constant(key[head / group]), values = constant(value[head / group]);
    const Rows<T> y = out[head].from(q0);
    if (m.queries <= kFewQueries) return few(m, head, end, keys, values, y);
    alignas(64) T scores[kKeys * kQueries<T>];
    Transposed<T> queries;
    queries.set(constant(query[head].from(q0)), m.queries, query.columns());
    Mask<T> mask(args.mask);
    Softmax<T> softmax;
    for (; m.k0 < end; m.k0 += m.keys) {
      m.keys = std::min(kKeys, end - m.k0);
      meet<T>(m, scores, keys.from(m.k0), queries, static_cast<T>(args.scale));
      mask.apply(m, head, scores);
      softmax.take(scores, m);
      for (int64_t i = 0; m.k0 > 0 && i < m.queries; ++i)
        if (softmax.factor[i] != 1) scale_row(y.from(i).at, value.columns(), softmax.factor[i]);
      sum_over_keys<T>(m, y, scores, values.from(m.k0), value.columns(), T(1), m.k0 > 0);
    }
    finish(m, head, y, softmax);
  }

  void few(Meeting m, int64_t head, int64_t end, Rows<const T> keys, Rows<const T> values,
           Rows<T> y) const {
    FewQueries<T> queries(constant(query[head].from(m.q0)), m.queries, query.columns(),
                          static_cast<T>(args.scale));
    Mask<T> mask(args.mask);
    for (; m.k0 < end; m.k0 += m.keys) {
      m.keys = std::min(kKeys, end - m.k0);
      expect_rows(values.from(m.k0), m.keys, value.columns());
      queries.meet(m, keys.from(m.k0));
      const int64_t next = m.k0 + m.keys;
      expect_rows(keys.from(next), std::min(kKeys, end - next), key.columns());
      mask.apply_to_rows(m, head, queries.scores);
      queries.take(m);
      for (int64_t i = 0; m.k0 > 0 && i < m.queries; ++i)
        if (queries.factor[i] != 1) scale_row(y.from(i).at, value.columns(), queries.factor[i]);
      queries.sum_over_keys(m, y, values.from(m.k0), value.columns());
    }
    finish(m, head, y, queries);
  }

  // softmax: a Softmax, or FewQueries.
  template <class S>
  void finish(const Meeting& m, int64_t head, Rows<T> y, const S& softmax) const {
    T* const kept = static_cast<T*>(args.normalisers);
    for (int64_t i = 0; i < m.queries; ++i) {
      const T sum = softmax.sum[i];
      const T inverse = sum == 0 ? T(0) : 1 / sum;
      scale_row(y.from(i).at, value.columns(), inverse);
      if (kept == nullptr) continue;
      T* const row = kept + 2 * (head * query.rows() + m.q0 + i);
      row[0] = sum == 0 ? T(0) : softmax.top[i];
      row[1] = inverse;
    }
  }
};

template <class T>
void forward(Context& context, const AttentionArgs& args) {
  const Forward<T> tile(args);
  for_rows(context, tile, tile.units(), tile.cost());
}

void attention_on(Context& context, const AttentionArgs& args) {
  if (args.out.dtype == LIBDL_DTYPE_FLOAT64) return forward<double>(context, args);
  forward<float>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void attention(Context& context, const AttentionArgs& args) {
  LIBDL_ON_ISA(attention_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
