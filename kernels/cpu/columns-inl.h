// SPDX-License-Identifier: Apache-2.0

// The order of order-inl.h for neighbouring columns at once. The rows come from a functor:
// rows(r, tile) gives the values of row r, in memory or in the tile that it filled.
#if defined(LIBDL_KERNELS_CPU_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_COLUMNS_INL_H
#undef LIBDL_KERNELS_CPU_COLUMNS_INL_H
#else
#define LIBDL_KERNELS_CPU_COLUMNS_INL_H
#endif

#include <algorithm>

#include "kernels/cpu/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int64_t kWidth = sizeof(T) == 1 ? 128 : 512 / sizeof(T);  // columns at most

// Up to a vector's values; those beyond `count` are anything.
template <class T>
HWY_INLINE typename Pack<T>::V load_some(const T* x, int64_t count) {
  if constexpr (kIsVector<T>) {
    const typename Pack<T>::D d;
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, x);
  } else {
    return *x;
  }
}

// What one lane takes in sequence: the values at row[s] + c, of which the first `count` columns
// count.
template <class C, class M, class T, bool kWhole, int64_t kCount>
HWY_INLINE typename Pack<T>::V take_rows(const T* const* row, int64_t steps, int64_t c,
                                         int64_t count, typename Pack<T>::V p) {
  using P = Pack<T>;
  auto sum = P::set(C::template identity<T>());
  const auto take = [&](int64_t s) HWY_ATTR {
    const auto x = kWhole ? P::load(row[s] + c) : load_some<T>(row[s] + c, count);
    sum = C::template apply<T>(sum, M::template apply<T>(x, p));
  };
  if constexpr (kCount == kSteps) {
#pragma GCC unroll 8
    for (int64_t s = 0; s < kSteps; ++s) take(s);
  } else {
    for (int64_t s = 0; s < steps; ++s) take(s);
  }
  return sum;
}

template <class C, class M, class T, int64_t kCount>
HWY_INLINE void add_steps(T* total, const T* const* rows, int64_t steps, int64_t width,
                          const T* parameter) {
  using P = Pack<T>;
  const T* row[kSteps];
  for (int64_t s = 0; s < steps; ++s) row[s] = rows[s];
  int64_t c = 0;
  for (; c + P::n <= width; c += P::n) {
    const auto sum = take_rows<C, M, T, true, kCount>(row, steps, c, P::n, P::load(parameter + c));
    P::store(C::template apply<T>(P::load(total + c), sum), total + c);
  }
  if (c == width) return;
  const auto sum =
      take_rows<C, M, T, false, kCount>(row, steps, c, width - c, P::load(parameter + c));
  P::store(C::template apply<T>(P::load(total + c), sum), total + c);
}

// total[c] = total[c] combined with the up to kSteps values row[s][c], taken in sequence. total and
// parameter have room for whole vectors.
template <class C, class M, class T>
HWY_INLINE void add_rows(T* total, const T* const* row, int64_t steps, int64_t width,
                         const T* parameter) {
  if (steps == kSteps) return add_steps<C, M, T, kSteps>(total, row, steps, width, parameter);
  add_steps<C, M, T, 0>(total, row, steps, width, parameter);
}

// to[c] = to[c] combined with x[c], in whole vectors.
template <class C, class T>
HWY_INLINE void join_columns(T* to, const T* a, const T* b, int64_t width) {
  using P = Pack<T>;
  for (int64_t c = 0; c < width; c += P::n) {
    if constexpr (kIsVector<T>) {
      P::store(C::template apply<T>(P::load(a + c), P::load(b + c)), to + c);
    } else {
      to[c] = C::template one<T>(a[c], b[c]);
    }
  }
}

// Where no lane takes more than one row: lanes kLane, kLane + kStep, … joined as merge_lanes does, in
// registers. Of the lanes the first `lanes` are there.
template <class C, class M, class T, bool kWhole, int64_t kLane, int64_t kStep>
HWY_INLINE typename Pack<T>::V lane_tree(const T* const* row, int64_t lanes, int64_t c,
                                         int64_t count, typename Pack<T>::V p) {
  if constexpr (kStep == kLanes<T>) {
    const auto x = kWhole ? Pack<T>::load(row[kLane] + c) : load_some<T>(row[kLane] + c, count);
    const auto identity = Pack<T>::set(C::template identity<T>());
    const auto taken = C::template apply<T>(identity, M::template apply<T>(x, p));
    return C::template apply<T>(identity, taken);
  } else {
    const auto sum = lane_tree<C, M, T, kWhole, kLane, 2 * kStep>(row, lanes, c, count, p);
    if (kLane + kStep >= lanes) return sum;
    return C::template apply<T>(
        sum, lane_tree<C, M, T, kWhole, kLane + kStep, 2 * kStep>(row, lanes, c, count, p));
  }
}

template <class C, class M, class T, class Rows>
HWY_NOINLINE void few_rows(const Rows& rows, int64_t r0, int64_t r1, int64_t width,
                           const T* parameter, T* result) {
  using P = Pack<T>;
  alignas(64) T tile[kLanes<T>][kWidth<T>];
  alignas(64) T last[kWidth<T>];
  const T* row[kLanes<T>];
  const int64_t lanes = r1 - r0;
  for (int64_t l = 0; l < lanes; ++l) row[l] = rows(r0 + l, tile[l]);
  int64_t c = 0;
  for (; c + P::n <= width; c += P::n) {
    P::store(lane_tree<C, M, T, true, 0, 1>(row, lanes, c, P::n, P::load(parameter + c)),
             result + c);
  }
  if (c == width) return;
  P::store(lane_tree<C, M, T, false, 0, 1>(row, lanes, c, width - c, P::load(parameter + c)), last);
  std::copy_n(last, width - c, result + c);
}

// One block, rows [r0, r1): the lanes of order-inl.h for every column.
template <class C, class M, class T, class Rows>
HWY_NOINLINE void column_block(const Rows& rows, int64_t r0, int64_t r1, int64_t width,
                               const T* parameter, T* result) {
  using P = Pack<T>;
  constexpr int64_t kL = kLanes<T>;
  if (r1 - r0 <= kL) return few_rows<C, M, T>(rows, r0, r1, width, parameter, result);
  alignas(64) T total[kL][kWidth<T>];
  T tile[kSteps][kWidth<T>];
  const T* row[kSteps];
  const int64_t lanes = std::min(kL, r1 - r0);
  const auto identity = P::set(C::template identity<T>());
  for (int64_t l = 0; l < lanes; ++l) {
    for (int64_t c = 0; c < width; c += P::n) P::store(identity, total[l] + c);
  }
  for (int64_t group = r0; group < r1; group += kL * kSteps) {
    for (int64_t l = 0; l < std::min(kL, r1 - group); ++l) {
      int64_t steps = 0;
      for (int64_t r = group + l; r < std::min(r1, group + kL * kSteps); r += kL, ++steps) {
        row[steps] = rows(r, tile[steps]);
      }
      add_rows<C, M, T>(total[l], row, steps, width, parameter);
    }
  }
  int64_t left = lanes;
  for (int64_t half = kL / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l + half < left; ++l) {
      join_columns<C, T>(total[l], total[l], total[l + half], width);
    }
    left = std::min(left, half);
  }
  std::copy_n(total[0], width, result);
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
