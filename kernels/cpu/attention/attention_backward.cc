// SPDX-License-Identifier: Apache-2.0

// The weights are computed once more, from the scores and what normalised them: not from the
// logarithm of the sum of exponentials, in which a sum is lost beside a large score (scores of a
// row that a mask's lowest number covers). With P the weights, as they lie here transposed:
//   dvalue = P^T dout,  dS = scale * P (dout value^T - D) with D = sum(dout out) of each row,
//   dquery = dS key,  dkey = dS^T query
// One unit of work has the keys of a part of one head, and all queries that meet them: what it adds
// to dkey and dvalue is nobody else's. If the keys of a head are cut into several parts, so that
// there is work for threads, each has a dquery of its own, and these are added in order. The cuts
// depend on sizes only.

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention_backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/attention/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kUnits = 16;  // at least, if there are blocks of keys enough

struct Times {
  template <class V>
  HWY_INLINE V apply(V x, V y) const {
    return hn::Mul(x, y);
  }
};
template <class T>
HWY_INLINE T dot(const T* x, const T* y, int64_t n) {
  alignas(64) T products[kBlock<T>];
  Tree<Sum, T> sum;
  for (int64_t i = 0; i < n; i += kBlock<T>) {
    const int64_t count = std::min(kBlock<T>, n - i);
    map(Times{}, products, x + i, y + i, count);
    sum.push(combine_block<Sum, Plain, T>(products, count, T(0)));
  }
  return sum.result();
}

template <class T>
struct Backward {
  const AttentionBackwardArgs& args;
  Matrices<T> dquery, dkey, dvalue, dout, out, query, key, value;
  int64_t group, blocks, parts;
  T* partial = nullptr;  // [parts, heads, l, e]: the parts' dquery, if there are several

  explicit Backward(const AttentionBackwardArgs& a)
      : args(a),
        dquery(a.dquery),
        dkey(a.dkey),
        dvalue(a.dvalue),
        dout(a.dout),
        out(a.forward.out),
        query(a.forward.query),
        key(a.forward.key),
        value(a.forward.value),
        group(a.forward.query.sizes[a.forward.query.ndim - 3]),
        blocks((key.rows() + kKeys - 1) / kKeys),
        parts(std::min(blocks, (kUnits + key.count() - 1) / key.count())) {}

  int64_t units() const { return key.count() * parts; }
  int64_t partial_bytes() const {
    const int64_t rows = query.count() * query.rows();
    return parts == 1 ? 0 : parts * rows * query.columns() * static_cast<int64_t>(sizeof(T));
  }
  int64_t cost() const {
    const int64_t products = group * query.rows() * ((key.rows() + parts - 1) / parts);
    return products * (key.columns() + value.columns() + 16) / 8;
  }

  // A tile of queries on its way through the keys of a part. The first of these is the first of a
  // tile, too: a causal tile meets all keys of its first block, or none of the part.
  struct Tile {
    static_assert(kKeys % kQueries<T> == 0);
    alignas(64) T weights[kKeys * kQueries<T>];
    alignas(64) T dscores[kKeys * kQueries<T>];
    alignas(64) T top[kQueries<T>], inverse[kQueries<T>], d[kQueries<T>];
    Transposed<T> query, dout;
    Mask<T> mask;
    Rows<const T> queries{}, douts{};
    Rows<T> dquery{};

    explicit Tile(const View& m) : mask(m) {}
  };

  void operator()(int64_t unit) const {
    const int64_t head = unit / parts, p = unit % parts;
    const int64_t first = blocks * p / parts * kKeys;
    const int64_t last = std::min(key.rows(), blocks * (p + 1) / parts * kKeys);
    for (int64_t j = first; j < last; ++j) {
      std::fill_n(dkey[head].from(j).at, key.columns(), T(0));
      std::fill_n(dvalue[head].from(j).at, value.columns(), T(0));
    }
    Tile tile(args.forward.mask);
    for (int64_t h = head * group; h < (head + 1) * group; ++h) {
      for (int64_t q0 = 0; q0 < query.rows(); q0 += kQueries<T>) {
        Meeting m{q0, std::min(kQueries<T>, query.rows() - q0), first, 0, args.forward.causal};
        load(tile, h, p, m);
        const int64_t end = m.causal ? std::min(last, q0 + m.queries) : last;
        for (; m.k0 < end; m.k0 += m.keys) {
          m.keys = std::min(kKeys, end - m.k0);
          meet_block(tile, m, h, m.k0 > first);
        }
        for (int64_t i = 0; end <= first && i < m.queries; ++i)
          std::fill_n(tile.dquery.from(i).at, query.columns(), T(0));
      }
    }
  }

  void load(Tile& tile, int64_t h, int64_t p, const Meeting& m) const {
    tile.queries = constant(query[h].from(m.q0));
    tile.douts = constant(dout[h].from(m.q0));
    tile.query.set(tile.queries, m.queries, query.columns());
    tile.dout.set(tile.douts, m.queries, value.columns());
    const int64_t row = (p * query.count() + h) * query.rows() + m.q0, e = query.columns();
    tile.dquery = parts == 1 ? dquery[h].from(m.q0) : Rows<T>{partial + row * e, e};
    const T* const kept = static_cast<const T*>(args.forward.normalisers);
    const Rows<T> y = out[h].from(m.q0);
    std::fill_n(tile.top, kQueries<T>, T(0));
    std::fill_n(tile.inverse, kQueries<T>, T(0));
    std::fill_n(tile.d, kQueries<T>, T(0));
    for (int64_t i = 0; i < m.queries; ++i) {
      const T* const row_kept = kept + 2 * (h * query.rows() + m.q0 + i);
      tile.top[i] = row_kept[0];
      tile.inverse[i] = row_kept[1];
      tile.d[i] = dot(tile.douts.from(i).at, y.from(i).at, value.columns());
    }
  }

  void meet_block(Tile& tile, const Meeting& m, int64_t h, bool add) const {
    const int64_t head = h / group, e = query.columns(), v = value.columns();
    const T scale = static_cast<T>(args.forward.scale);
    const Rows<const T> keys = constant(key[head].from(m.k0));
    meet<T>(m, tile.weights, keys, tile.query, scale);
    tile.mask.apply(m, h, tile.weights);
    weigh(tile, m);
    add_over_queries<T>(m, dvalue[head].from(m.k0), tile.weights, tile.douts, v, T(1));
    meet<T>(m, tile.dscores, constant(value[head].from(m.k0)), tile.dout, T(1));
    differentiate(tile, m);
    add_over_queries<T>(m, dkey[head].from(m.k0), tile.dscores, tile.queries, e, scale);
    sum_over_keys<T>(m, tile.dquery, tile.dscores, keys, e, scale, add);
  }

  static void weigh(Tile& tile, const Meeting& m) {
    const Vectors<T> d;
    for (int64_t j = 0; j < m.keys; ++j) {
      T* const row = tile.weights + j * kQueries<T>;
      for (int64_t i = 0; i < m.queries; i += kN<T>) {
        const auto below = hn::Sub(hn::Load(d, row + i), hn::Load(d, tile.top + i));
        hn::Store(hn::Mul(exp_nonpositive<T>(below), hn::Load(d, tile.inverse + i)), d, row + i);
      }
    }
  }

  // A weight of 0 has no part in the gradient, whatever lies where no product was computed.
  static void differentiate(Tile& tile, const Meeting& m) {
    const Vectors<T> d;
    for (int64_t j = 0; j < m.keys; ++j) {
      T* const row = tile.dscores + j * kQueries<T>;
      const int64_t first = m.first_query(j);
      for (int64_t i = first / kN<T> * kN<T>; i < m.queries; i += kN<T>) {
        const auto rest = hn::Sub(hn::Load(d, row + i), hn::Load(d, tile.d + i));
        hn::Store(hn::Mul(hn::Load(d, tile.weights + j * kQueries<T> + i), rest), d, row + i);
      }
      std::fill_n(row, std::min(first, m.queries), T(0));
    }
  }
};

// dquery = the sum of the parts'.
template <class T>
struct Finish {
  const Backward<T>& b;

  void operator()(int64_t row) const {
    const int64_t h = row / b.query.rows(), e = b.query.columns();
    T* const to = b.dquery[h].from(row % b.query.rows()).at;
    const int64_t all = b.query.count() * b.query.rows() * e;
    std::copy_n(b.partial + row * e, e, to);
    for (int64_t p = 1; p < b.parts; ++p) {
      const T* const from = b.partial + p * all + row * e;
      for (int64_t i = 0; i < e; ++i) to[i] += from[i];
    }
  }
};

template <class T>
void backward(Context& context, const AttentionBackwardArgs& args) {
  Backward<T> job(args);
  const Scratch room(context, job.partial_bytes());
  if (room.failed()) return;
  job.partial = static_cast<T*>(room.data());
  for_rows(context, job, job.units(), job.cost());
  if (job.parts > 1 && !context.stopped)
    for_rows(context, Finish<T>{job}, job.query.count() * job.query.rows(),
             job.parts * job.query.columns());
}

void attention_backward_on(Context& context, const AttentionBackwardArgs& args) {
  if (args.dout.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, args);
  backward<float>(context, args);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void attention_backward(Context& context, const AttentionBackwardArgs& args) {
  LIBDL_ON_ISA(attention_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
