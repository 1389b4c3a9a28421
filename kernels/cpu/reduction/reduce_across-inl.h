// SPDX-License-Identifier: Apache-2.0

// Sums in row-major order where it is not the rows that lie together in memory but the elements of
// neighbouring rows, as in a transposed matrix. A vector takes one column of several rows at once,
// each of which has its own place in the order of order-inl.h: the values are added lane by lane in
// groups, and whichever rows end one in a column set its sum aside. A group that its row does not
// complete goes on at the beginning of the next row, which lies one element further. The columns of
// a group are read for hundreds of rows before the next group's, for each column lies in a page of
// its own.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_ACROSS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_ACROSS_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_ACROSS_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_ACROSS_INL_H
#endif

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/traverse/order-inl.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/transposition.h"
#include "kernels/reduction_order.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// The dimensions of a reduction as planes of rows that lie across memory; none has 0 rows.
struct Across {
  int64_t rows = 0, columns = 0;
  Dims row;  // a row's elements

  explicit Across(const Dims& dims) : row(View{}, 0, 0) {
    int32_t d = dims.ndim - 2;
    while (d >= 0 && dims.strides[d] != 1) --d;
    if (d < 0) return;
    columns = 1;
    for (int32_t i = d + 1; i < dims.ndim; ++i) {
      row.push(dims.sizes[i], dims.strides[i]);
      columns *= dims.sizes[i];
    }
    if (are_read_across(dims.sizes[d], columns)) rows = dims.sizes[d];
  }
};

template <class T>
constexpr int64_t kGroup = kLanes<T> * kSteps;

// What is summed, with few loops for the compiler: M has the bits of `Kind`, of elements less
// `shift` for those that take it.
struct ShiftedSquare {};
struct Shifted {};
template <class T, class M>
struct SummedAs {
  using Kind = M;
  static constexpr bool exists = std::is_same_v<M, Plain> || std::is_same_v<M, Magnitude>;
};
template <class T, class K>
struct SummedShifted {
  static constexpr bool exists = true;
  using Kind = K;
  static T shift(T parameter) { return parameter; }
};
template <class T>
struct SummedAs<T, Centred> : SummedShifted<T, Shifted> {};
template <class T>
struct SummedAs<T, CentredSquare> : SummedShifted<T, ShiftedSquare> {};
template <class T>
struct SummedAs<T, Square> : SummedShifted<T, ShiftedSquare> {
  static T shift(T) { return 0; }
};

template <class T, class Kind>
struct Term {
  using V = typename Pack<T>::V;
  V shift;
  template <class As>
  HWY_INLINE Term(As, T parameter) : shift(Pack<T>::set(0)) {
    if constexpr (std::is_same_v<Kind, Shifted> || std::is_same_v<Kind, ShiftedSquare>)
      shift = Pack<T>::set(As::shift(parameter));
  }
  HWY_INLINE V of(V x) const {
    if constexpr (std::is_same_v<Kind, Plain> || std::is_same_v<Kind, Magnitude>) {
      return Kind::template apply<T>(x, x);
    } else {
      x = hn::Sub(x, shift);
      return std::is_same_v<Kind, Shifted> ? x : hn::Mul(x, x);
    }
  }
};

// Takes the lanes' sums of groups in order.
template <class T>
struct Groups {
  using P = Pack<T>;
  using V = typename P::V;
  static constexpr int64_t kPacks = kLanes<T> / P::n;
  V total[kPacks];
  int64_t count = 0;
  Tree<Sum, T> tree;

  HWY_INLINE Groups() { begin(); }
  HWY_INLINE void begin() {
    for (int64_t k = 0; k < kPacks; ++k) total[k] = P::set(T(0));
  }
  HWY_INLINE void push(const V* sum) {
    for (int64_t k = 0; k < kPacks; ++k) total[k] = hn::Add(total[k], sum[k]);
    if (++count % kGroups != 0) return;
    tree.push(merge_packs<Sum, T>(total));
    begin();
  }
};

// Rows that are summed together and their sums: window after window of kGroup columns, in each one
// sum by column modulo kLanes. Lives in the room of a chunk.
template <class T>
class Strip {
 public:
  using P = Pack<T>;
  static constexpr int kVectors = 4;  // that are in registers at once
  static constexpr int64_t kMany = kVectors * P::n;

  // The elements of T that a strip takes of scratch memory.
  static int64_t room(const Across& across) {
    const Sizes sizes(across);
    const int64_t all =
        sizes.rows * (sizes.apart + kLanes<T> + 1) + kLanes<T> + sizes.places * kPlace;
    return (all + kLanes<T> - 1) / kLanes<T> * kLanes<T>;  // the next one begins a cache line
  }

  Strip(const Across& across, T* room)
      : columns_(across.columns),
        sizes_(across),
        sums_(room),
        begun_(sums_ + sizes_.rows * sizes_.apart + kLanes<T>),
        phases_(reinterpret_cast<Integer*>(begun_ + sizes_.rows * kLanes<T>)),
        offsets_(reinterpret_cast<int64_t*>(phases_ + sizes_.rows)) {
    each_run(across.row, 0, columns_, [&](int64_t k, int64_t from, int64_t run) {
      const int64_t stride = across.row.inner_stride();
      for (int64_t i = 0; i < run; ++i) offsets_[k + i] = from + i * stride;
    });
    for (int64_t i = 0; i < kGroup<T>; ++i) offsets_[columns_ + i] = offsets_[i] + 1;
  }

  // How many of `wanted` rows are taken at once, rounded up to vectors.
  int64_t count(int64_t wanted) const {
    return std::min(sizes_.rows, (wanted + P::n - 1) / P::n * P::n);
  }

  // The sums of groups that begin in `rows` rows from `phase` in a group on, whose elements lie
  // from `from` on.
  template <class Kind, class S>
  void compute(int64_t rows, const S* from, int64_t phase, const Term<T, Kind>& term) {
    for (int64_t r = 0; r < rows; ++r)
      phases_[r] = static_cast<Integer>((phase + r * columns_) % kGroup<T>);
    std::fill_n(begun_, rows * kLanes<T>, T(0));
    const int64_t end = sizes_.places;
    for (int64_t first = 0; first < end; first += kGroup<T>) {
      const int64_t last = std::min(first + kGroup<T>, end);
      int64_t r = 0;
      for (; r + kMany <= rows; r += kMany) window<kVectors>(first, last, r, from + r, term);
      for (; r < rows; r += P::n) window<1>(first, last, r, from + r, term);
    }
  }

  // Row r's groups that begin in its columns from `column` on, up to column `end`.
  HWY_INLINE void give(int64_t r, int64_t phase, int64_t column, int64_t end, Groups<T>& groups) {
    using P = Pack<T>;
    using V = typename P::V;
    constexpr int64_t kPacks = kLanes<T> / P::n;
    const typename P::D d;
    const int64_t begin = (kGroup<T> - phase) % kGroup<T>;
    const int64_t turn = begin % kLanes<T>;  // lane l is of column l + turn modulo kLanes
    // Of a group that begins in a window's first step, the lanes from column 0 on again are whole
    // in the next window; of others all are whole there.
    const bool early = begin < kLanes<T>;
    hn::Mask<typename P::D> straight[kPacks];
    for (int64_t k = 0; k < kPacks; ++k) {
      straight[k] = hn::FirstN(
          d, static_cast<size_t>(std::clamp<int64_t>(kLanes<T> - turn - k * P::n, 0, P::n)));
    }
    const T* from = sums_ + r * sizes_.apart + turn + (column - begin) / kSteps;
    for (; column < end; column += kGroup<T>, from += kLanes<T>) {
      V sum[kPacks];
      for (int64_t k = 0; k < kPacks; ++k) {
        const V turned = P::load(from + k * P::n);
        sum[k] = early ? turned
                       : hn::IfThenElse(straight[k], P::load(from + kLanes<T> + k * P::n), turned);
      }
      groups.push(sum);
    }
  }

 private:
  using Integer = hn::TFromD<hn::RebindToSigned<typename P::D>>;
  static constexpr int64_t kPlace = sizeof(int64_t) / sizeof(T);
  static constexpr int64_t kMostSums = (1 << 21) / sizeof(T);  // of a strip: they stay in a cache
  static constexpr int64_t kMostRows = 512;

  struct Sizes {
    int64_t places;  // columns that a row's groups reach
    int64_t apart;   // sums from row to row
    int64_t rows;

    explicit Sizes(const Across& across)
        : places(across.columns + kGroup<T> - 1),
          apart((places + kGroup<T> - 1) / kGroup<T> * kLanes<T>) {
      // Of a plane's last row no group goes on in another.
      const int64_t most = std::min({kMostRows, kMostSums / apart, across.rows - 1});
      rows = most >= kMany ? most / kMany * kMany : P::n;
    }
  };

  // Columns [first, last) of the rows from `r` on.
  template <int kCount, class Kind, class S>
  HWY_NOINLINE void window(int64_t first, int64_t last, int64_t r, const S* from,
                           const Term<T, Kind>& term) {
    using V = typename P::V;
    constexpr int64_t kRows = kCount * P::n;
    const typename P::D d;
    const hn::RebindToSigned<decltype(d)> integers;
    T* const begun = begun_ + r * kLanes<T>;
    alignas(64) T done[kLanes<T>][kRows];
    for (int64_t l = 0; l < kLanes<T>; ++l) {
      V sum[kCount], whole[kCount];
      hn::Vec<decltype(integers)> rest[kCount];  // steps to a group's last
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) {
        const auto at = hn::Add(hn::LoadU(integers, phases_ + r + v * P::n),
                                hn::Set(integers, static_cast<Integer>(l)));
        rest[v] = hn::AndNot(hn::ShiftRight<kLanes<T> == 16 ? 4 : 3>(at),
                             hn::Set(integers, Integer{kSteps - 1}));
        sum[v] = P::load(begun + l * kRows + v * P::n);
        whole[v] = P::set(T(0));
      }
      auto step = hn::Zero(integers);
      for (int64_t c = first + l; c < last; c += kLanes<T>) {
        const S* x = from + offsets_[c];
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) {
          __builtin_prefetch(x + kRows + v * P::n);  // the next rows' of the same page
          const auto ends = hn::RebindMask(d, hn::Eq(rest[v], step));
          sum[v] = hn::Add(sum[v], term.of(load_as<T>(x + v * P::n)));
          whole[v] = hn::IfThenElse(ends, sum[v], whole[v]);
          sum[v] = hn::IfThenZeroElse(ends, sum[v]);
        }
        step = hn::Add(step, hn::Set(integers, Integer{1}));
      }
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) {
        P::store(sum[v], begun + l * kRows + v * P::n);
        P::store(whole[v], done[l] + v * P::n);
      }
    }
    transposer(sizeof(T))(reinterpret_cast<const char*>(done), kRows * sizeof(T), kLanes<T>, kRows,
                          sums_ + r * sizes_.apart + first / kSteps, sizes_.apart);
  }

  int64_t columns_;
  Sizes sizes_;
  T *sums_, *begun_;
  Integer* phases_;   // the rows' first values in their groups
  int64_t* offsets_;  // of a row's columns, then of the next row's first ones
};

// The groups of values [first, last) as they come from a functor: fetch(tile, r, count).
template <class M, class T, class Fetch>
HWY_INLINE void each_group(const Fetch& fetch, int64_t first, int64_t last, T parameter,
                           Groups<T>& groups) {
  using P = Pack<T>;
  constexpr int64_t kPacks = kLanes<T> / P::n;
  const auto p = P::set(parameter);
  alignas(64) T tile[kGroup<T>];
  for (; first < last; first += kGroup<T>) {
    fetch(tile, first, kGroup<T>);
    typename P::V sum[kPacks];
    for (int64_t k = 0; k < kPacks; ++k) {
      sum[k] = P::set(T(0));
      for (int64_t s = 0; s < kSteps; ++s) {
        const auto x = P::load(tile + s * kLanes<T> + k * P::n);
        sum[k] = hn::Add(sum[k], M::template apply<T>(x, p));
      }
    }
    groups.push(sum);
  }
}

// Values [first, last) of a whole reduction, of which `first` begins a block. The rows begin at
// `data`; `room` is a strip's. The last row of a plane has no next one in reach, so it comes from
// the functor, as does an incomplete last block.
template <class M, class T, class S, class Fetch>
HWY_NOINLINE T sum_across(const Across& across, const Dims& all, const S* data, int64_t first,
                          int64_t last, T parameter, const Fetch& fetch, T* room) {
  const int64_t columns = across.columns, plane = across.rows * columns;
  const int64_t end = first + (last - first) / kBlock<T> * kBlock<T>;
  using As = SummedAs<T, M>;
  const Term<T, typename As::Kind> term(As{}, parameter);
  Groups<T> groups;
  Strip<T> strip(across, room);
  while (first < end) {
    const int64_t begin = first / plane * plane, row = (first - begin) / columns;
    const int64_t wanted = (end - begin + columns - 1) / columns - row;  // rows to the end
    if (row == across.rows - 1) {
      const int64_t next = (begin + plane + kGroup<T> - 1) / kGroup<T> * kGroup<T>;
      each_group<M>(fetch, first, std::min(next, end), parameter, groups);
      first = std::min(next, end);
      continue;
    }
    const int64_t count = strip.count(wanted);
    const int64_t top = std::min(row, across.rows - 1 - count);  // the last may be taken again
    const int64_t phase = (begin + top * columns) % kGroup<T>;
    strip.compute(count, data + all.offset(begin) + top, phase, term);
    for (int64_t r = row; r < top + count && first < end; ++r) {
      const int64_t start = begin + r * columns;
      const int64_t most = std::min(columns, end - start);
      if (first - start >= most) continue;
      strip.give(r - top, start % kGroup<T>, first - start, most, groups);
      first += (most - (first - start) + kGroup<T> - 1) / kGroup<T> * kGroup<T>;
    }
  }
  if (first < last) {
    alignas(64) T tile[kBlock<T>];
    fetch(tile, first, last - first);
    groups.tree.push(combine_one_block<Sum, M, T>(tile, last - first, parameter));
  }
  return groups.tree.result();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
