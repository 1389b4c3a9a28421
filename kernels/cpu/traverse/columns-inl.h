// SPDX-License-Identifier: Apache-2.0

// The order of order-inl.h for several neighbouring columns at once. The rows come from a functor:
// rows(r, tile) returns the values of row r, in memory or in the tile, which it then filled.
#if defined(LIBDL_KERNELS_CPU_TRAVERSE_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TRAVERSE_COLUMNS_INL_H
#undef LIBDL_KERNELS_CPU_TRAVERSE_COLUMNS_INL_H
#else
#define LIBDL_KERNELS_CPU_TRAVERSE_COLUMNS_INL_H
#endif

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int64_t kWidth = sizeof(T) == 1 ? 128 : 512 / sizeof(T);  // columns at most

// Up to a vector's values; those beyond `count` are anything.
template <class T, class S>
HWY_INLINE typename Pack<T>::V load_some(const S* x, int64_t count) {
  if constexpr (!std::is_same_v<S, T>) {
    return load_first_as<T>(x, count);
  } else if constexpr (kIsVector<T>) {
    return first::load(typename Pack<T>::D(), count, x);
  } else if constexpr (kInPairs<T>) {
    return Pack<T>::load_first(x, count, Pack<T>::set(T(0)));
  } else {
    return *x;
  }
}

// The loops over vectors are unrolled explicitly: at -O2 the sums would otherwise stay in memory.
// The columns handled at once, from c on: kVectors whole vectors, or one of which only the first
// `count` columns are used.
template <class C, class M, class T, int kVectors, bool kWhole, bool kIsQuick>
struct Taken {
  using P = Pack<T>;
  using V = typename P::V;
  Taker<C, T, kIsQuick> taker;
  V p[kVectors];
  int64_t c, count;

  HWY_INLINE Taken(const T* parameter, int64_t column, int64_t columns)
      : c(column), count(columns) {
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) p[k] = P::load(parameter + c + k * P::n);
  }
  template <class S>
  HWY_INLINE void take(const S* row, V* sum) {
    V x[kVectors];
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) {
      const S* from = row + c + k * P::n;
      x[k] = M::template apply<T>(kWhole ? load_as<T>(from) : load_some<T>(from, count), p[k]);
      sum[k] = taker.join(sum[k], x[k]);
    }
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; k += 2) taker.see(x[k], x[std::min(k + 1, kVectors - 1)]);
  }
  static HWY_INLINE void begin(V* sum) {
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) sum[k] = P::set(C::template identity<T>());
  }
};

// Combines what one lane takes in sequence, for the columns from c on, into the total; false, with
// nothing done, if the quick form fails. kCount is the number of steps, or 0 if not constant.
template <class C, class M, class T, int kVectors, bool kWhole, int64_t kCount, bool kIsQuick,
          class S>
HWY_INLINE bool take_rows(T* total, const S* const* row, int64_t steps, int64_t c, int64_t count,
                          const T* parameter) {
  using P = Pack<T>;
  Taken<C, M, T, kVectors, kWhole, kIsQuick> taken(parameter, c, count);
  typename P::V sum[kVectors];
  taken.begin(sum);
  if constexpr (kVectors == 1 && kCount == kSteps) {
#pragma GCC unroll 8
    for (int64_t s = 0; s < kSteps; ++s) taken.take(row[s], sum);
  } else {
    for (int64_t s = 0; s < (kCount > 0 ? kCount : steps); ++s) taken.take(row[s], sum);
  }
  if (taken.taker.fails()) return false;
#pragma GCC unroll 4
  for (int k = 0; k < kVectors; ++k) {
    T* to = total + c + k * P::n;
    P::store(C::template apply<T>(P::load(to), sum[k]), to);
  }
  return true;
}

template <class C, class M, class T, int64_t kCount, class S>
HWY_INLINE void add_steps(T* total, const S* const* rows, int64_t steps, int64_t width,
                          const T* parameter) {
  constexpr int64_t kN = Pack<T>::n;
  constexpr int kVectors = 4;
  constexpr bool kIsQuick = kQuick<C, T>;
  const S* row[kSteps];
  std::copy_n(rows, steps, row);
  // The columns [c, end) of which the quick form failed.
  const auto exactly = [&](int64_t c, int64_t end) HWY_ATTR {
    for (; c < end; c += kN)
      take_rows<C, M, T, 1, false, 0, false>(total, row, steps, c, std::min(kN, end - c),
                                             parameter);
  };
  for (int64_t c = 0, end; c < width; c = end) {
    bool done;
    if (c + kVectors * kN <= width) {
      end = c + kVectors * kN;
      done =
          take_rows<C, M, T, kVectors, true, kCount, kIsQuick>(total, row, steps, c, 0, parameter);
    } else if (c + kN <= width) {
      end = c + kN;
      done = take_rows<C, M, T, 1, true, kCount, kIsQuick>(total, row, steps, c, 0, parameter);
    } else {
      end = width;
      done = take_rows<C, M, T, 1, false, kCount, kIsQuick>(total, row, steps, c, width - c,
                                                            parameter);
    }
    if constexpr (kIsQuick) {
      if (!done) exactly(c, end);
    }
  }
}

// total[c] = total[c] combined with the up to kSteps values row[s][c], taken in sequence. total and
// parameter have room for whole vectors.
template <class C, class M, class T, class S>
HWY_INLINE void add_rows(T* total, const S* const* row, int64_t steps, int64_t width,
                         const T* parameter) {
  if (steps == kSteps) return add_steps<C, M, T, kSteps>(total, row, steps, width, parameter);
  add_steps<C, M, T, 0>(total, row, steps, width, parameter);
}

// to[c] = to[c] combined with x[c], in whole vectors.
template <class C, class T>
HWY_INLINE void join_columns(T* to, const T* a, const T* b, int64_t width) {
  using P = Pack<T>;
  for (int64_t c = 0; c < width; c += P::n) {
    if constexpr (kIsVector<T> || kInPairs<T>) {
      P::store(C::template apply<T>(P::load(a + c), P::load(b + c)), to + c);
    } else {
      to[c] = C::template one<T>(a[c], b[c]);
    }
  }
}

// For when no lane takes more than kSteps rows: lanes kLane, kLane + kStep, … of n rows, merged in
// registers in the order of merge_lanes.
template <class T, int64_t kLane, int64_t kStep, class S, class Taken>
HWY_INLINE void lane_tree(const S* const* row, int64_t n, Taken& taken, typename Pack<T>::V* sum) {
  if constexpr (kStep == kLanes<T>) {
    taken.begin(sum);
    for (int64_t r = kLane; r < n; r += kLanes<T>) taken.take(row[r], sum);
  } else {
    lane_tree<T, kLane, 2 * kStep>(row, n, taken, sum);
    if (kLane + kStep >= n) return;
    constexpr int kVectors = std::extent_v<decltype(taken.p)>;
    typename Pack<T>::V other[kVectors];
    lane_tree<T, kLane + kStep, 2 * kStep>(row, n, taken, other);
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) sum[k] = taken.taker.join(sum[k], other[k]);
  }
}

// The columns from c on of n rows; false if the quick form fails.
template <class C, class M, class T, int kVectors, bool kWhole, bool kIsQuick, class S>
HWY_INLINE bool join_rows(const S* const* row, int64_t n, int64_t c, int64_t count,
                          const T* parameter, T* to) {
  Taken<C, M, T, kVectors, kWhole, kIsQuick> taken(parameter, c, count);
  typename Pack<T>::V sum[kVectors];
  lane_tree<T, 0, 1>(row, n, taken, sum);
#pragma GCC unroll 4
  for (int k = 0; k < kVectors; ++k) Pack<T>::store(sum[k], to + k * Pack<T>::n);
  return !taken.taker.fails();
}

// The elements that a functor's rows consist of.
template <class Rows, class T>
using StoredIn = std::remove_cvref_t<decltype(*std::declval<const Rows&>()(
    int64_t{}, static_cast<T*>(nullptr)))>;

// Rows that are columns in memory are transposed together, at most this many at a time.
constexpr int64_t kTransposed = 32;
template <class T>
constexpr int64_t kFewRows = kIsVector<T> ? kLanes<T> * kSteps : kLanes<T>;

// How few_rows finds n rows: in place, in one transposed tile, or each in a row of a tile.
template <class Rows>
HWY_INLINE bool are_there(const Rows& rows) {
  if constexpr (requires { rows.there; }) return rows.there;
  return true;
}
template <class T, class Rows>
HWY_INLINE bool are_few(const Rows& rows, int64_t n) {
  if (n <= kLanes<T> || (are_there(rows) && n <= kFewRows<T>)) return true;
  if constexpr (requires { rows.across; }) return rows.across && n <= kTransposed;
  return false;
}
template <class T, class Rows, class S>
HWY_INLINE void find_rows(const Rows& rows, int64_t r0, int64_t n, T (*tile)[kWidth<T>],
                          const S** row) {
  if constexpr (std::is_same_v<S, T> && requires { rows.across; }) {
    if (rows.across) {
      rows.transpose(r0, n, tile[0]);
      for (int64_t l = 0; l < n; ++l) row[l] = tile[l];
      return;
    }
  }
  for (int64_t l = 0; l < n; ++l) row[l] = rows(r0 + l, l < kTransposed ? tile[l] : nullptr);
}

template <class C, class M, class T, class Rows>
HWY_NOINLINE void few_rows(const Rows& rows, int64_t r0, int64_t n, int64_t width,
                           const T* parameter, T* result) {
  constexpr int64_t kN = Pack<T>::n;
  constexpr int kVectors = 4;
  constexpr bool kIsQuick = kQuick<C, T>;
  alignas(64) T tile[kTransposed][kWidth<T>];
  const StoredIn<Rows, T>* row[kFewRows<T>];
  find_rows(rows, r0, n, tile, row);
  const auto one = [&](int64_t c) HWY_ATTR {
    alignas(64) T some[kN];
    const int64_t count = std::min(kN, width - c);
    const bool done = join_rows<C, M, T, 1, false, kIsQuick>(row, n, c, count, parameter, some);
    if constexpr (kIsQuick) {
      if (!done) join_rows<C, M, T, 1, false, false>(row, n, c, count, parameter, some);
    }
    std::copy_n(some, count, result + c);
  };
  for (int64_t c = 0; c < width;) {
    int64_t end = c + kN;
    if (c + kVectors * kN <= width) {
      end = c + kVectors * kN;
      if (join_rows<C, M, T, kVectors, true, kIsQuick>(row, n, c, 0, parameter, result + c)) {
        c = end;
        continue;
      }
    }
    for (; c < end; c += kN) one(c);
  }
}

// The addresses of column c in every kLanes-th of the rows [r, end), at most kSteps of them.
// Returns how many there are.
template <class T, class Rows, class S>
HWY_INLINE int64_t find_steps(const Rows& rows, int64_t r, int64_t end, int64_t c,
                              T (*tile)[kWidth<T>], const S** row) {
  int64_t steps = 0;
  if constexpr (requires { rows.apart; }) {
    if (rows.apart != 0) {
      const S* at = rows(r, nullptr) + c;
      const int64_t apart = rows.apart * kLanes<T>;
      for (; r < end; r += kLanes<T>, at += apart) row[steps++] = at;
      return steps;
    }
  }
  for (; r < end; r += kLanes<T>, ++steps) row[steps] = rows(r, tile[steps]) + c;
  return steps;
}

// Columns [c0, c0 + width) of many rows: the lanes of order-inl.h for each.
template <class C, class M, class T, class Rows>
HWY_NOINLINE void column_strip(const Rows& rows, int64_t r0, int64_t r1, int64_t c0, int64_t width,
                               const T* parameter, T* result) {
  using P = Pack<T>;
  constexpr int64_t kL = kLanes<T>;
  alignas(64) T total[kL][kWidth<T>];
  T tile[kSteps][kWidth<T>];
  const StoredIn<Rows, T>* row[kSteps];
  const auto identity = P::set(C::template identity<T>());
  for (int64_t l = 0; l < kL; ++l) {
    for (int64_t c = 0; c < width; c += P::n) P::store(identity, total[l] + c);
  }
  for (int64_t group = r0; group < r1; group += kL * kSteps) {
    for (int64_t l = 0; l < std::min(kL, r1 - group); ++l) {
      const int64_t end = std::min(r1, group + kL * kSteps);
      const int64_t steps = find_steps<T>(rows, group + l, end, c0, tile, row);
      add_rows<C, M, T>(total[l], row, steps, width, parameter);
    }
  }
  for (int64_t half = kL / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) {
      join_columns<C, T>(total[l], total[l], total[l + half], width);
    }
  }
  std::copy_n(total[0], width, result);
}

// Whether rows are whole pages apart: their lines then map to the same cache sets and evict each
// other.
template <class T, class Rows>
HWY_INLINE bool pages_apart(const Rows& rows) {
  constexpr int64_t kPage = 4096;
  if constexpr (requires { rows.apart; }) {
    return rows.apart * static_cast<int64_t>(sizeof(StoredIn<Rows, T>)) % kPage == 0;
  }
  return true;
}

// One block, rows [r0, r1). Wide rows in memory are read in order, a few lines at a time if more
// would not stay in the L1 cache.
template <class C, class M, class T, class Rows>
HWY_INLINE void column_block(const Rows& rows, int64_t r0, int64_t r1, int64_t width,
                             const T* parameter, T* result) {
  // Not on the baseline, whose sums are the same without: these files would take a third longer to
  // compile.
  if (LIBDL_FUSED && are_few<T>(rows, r1 - r0)) {
    return few_rows<C, M, T>(rows, r0, r1 - r0, width, parameter, result);
  }
  const bool few = are_there(rows) && width == kWidth<T> && pages_apart<T>(rows);
  const int64_t strip = few ? 256 / static_cast<int64_t>(sizeof(T)) : width;
  for (int64_t c = 0; c < width; c += strip) {
    column_strip<C, M, T>(rows, r0, r1, c, std::min(strip, width - c), parameter + c, result + c);
  }
}

// The tree of order-inl.h for `width` columns at once.
template <class C, class T>
struct ColumnTree {
  alignas(64) T node[48][kWidth<T>];
  int64_t count = 0;
  int64_t width;

  void push(const T* x) {
    int depth = __builtin_popcountll(count);
    T* top = node[depth];
    std::copy_n(x, width, top);
    for (int64_t c = count++; c & 1; c >>= 1) {
      T* below = node[--depth];
      join_columns<C, T>(below, below, top, width);
      top = below;
    }
  }
  void result(T* out) {
    int depth = __builtin_popcountll(count);
    if (depth == 0) std::fill_n(out, width, C::template identity<T>());
    if (depth == 0) return;
    T* sum = node[--depth];
    while (depth > 0) {
      T* below = node[--depth];
      join_columns<C, T>(below, below, sum, width);
      sum = below;
    }
    std::copy_n(sum, width, out);
  }
};

// Rows [r0, r1) of `width` columns; parameter has room for whole vectors.
template <class C, class M, class T, class Rows>
void column_part(const Rows& rows, int64_t r0, int64_t r1, int64_t width, const T* parameter,
                 T* result) {
  if (r1 - r0 <= kBlock<T> && r1 > r0) {
    return column_block<C, M, T>(rows, r0, r1, width, parameter, result);
  }
  ColumnTree<C, T> tree;
  tree.width = width;
  for (int64_t r = r0; r < r1; r += kBlock<T>) {
    column_block<C, M, T>(rows, r, std::min(r + kBlock<T>, r1), width, parameter, result);
    tree.push(result);
  }
  tree.result(result);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
