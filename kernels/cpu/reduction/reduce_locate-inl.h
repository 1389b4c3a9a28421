// SPDX-License-Identifier: Apache-2.0

// Reductions whose result is a position: argmax, argmin, and max and min with their indices.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_LOCATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_LOCATE_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_LOCATE_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_LOCATE_INL_H
#endif

#include <algorithm>

#include "kernels/cpu/reduction/reduce_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Row numbers are kept in lanes as wide as T, which limits the number of rows at once.
template <class T>
constexpr int64_t kPlaces = sizeof(T) == 4 ? int64_t{1} << 30 : int64_t{1} << 62;

// By columns, in vectors; value and index hold the result for the rows before.
template <class C, class T>
void locate_columns(const Job<T>& job, const char* data, int64_t width, int64_t r0, int64_t r1,
                    T* value, int64_t* index) {
  using P = Pack<T>;
  const typename P::D d;
  const hn::RebindToSigned<typename P::D> places;
  using Place = hn::TFromD<decltype(places)>;
  alignas(64) T tile[kWidth<T>];
  alignas(64) Place place[kWidth<T>];
  std::fill_n(place, width, Place{-1});
  const bool there = job.direct && job.kept.inner_stride() == 1;
  for (int64_t r = r0; r < r1; ++r) {
    const char* at = data + job.reduced.offset(r) * job.bytes;
    const T* row = there ? reinterpret_cast<const T*>(at) : tile;
    if (!there) job.fetch(tile, at, job.kept.inner_stride(), width);
    const auto here = hn::Set(places, static_cast<Place>(r - r0));
    for (int64_t c = 0; c < width; c += P::n) {
      const auto x = c + P::n <= width ? P::load(row + c) : load_some<T>(row + c, width - c);
      const auto v = P::load(value + c);
      auto better = std::is_same_v<C, Max> ? hn::Gt(x, v) : hn::Lt(x, v);
      if constexpr (std::is_floating_point_v<T>) {
        better = hn::Or(better, hn::And(hn::IsNaN(x), hn::Eq(v, v)));
      }
      const auto which = hn::MaskFromVec(hn::BitCast(places, hn::VecFromMask(d, better)));
      P::store(hn::IfThenElse(better, x, v), value + c);
      hn::Store(hn::IfThenElse(which, here, hn::Load(places, place + c)), places, place + c);
    }
  }
  for (int64_t c = 0; c < width; ++c) {
    if (place[c] >= 0) index[c] = r0 + place[c];
  }
}

// The first extremum of [r0, r1) of every column of the unit; a NaN is the extremum.
template <class C, class T>
void locate(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T* value, int64_t* index) {
  const char* data = job.base(unit);
  const int64_t width = job.width(unit);
  std::fill_n(value, kWidth<T>, C::template identity<T>());
  std::fill_n(index, width, r0);
  if constexpr (kIsVector<T>) {
    if (job.columns) {
      for (int64_t r = r0; r < r1; r += kPlaces<T>) {
        locate_columns<C, T>(job, data, width, r, std::min(r1, r + kPlaces<T>), value, index);
      }
      return;
    }
  }
  alignas(64) T tile[std::max(kBlock<T>, kWidth<T>)];
  for (int64_t r = r0; r < r1 && *value == *value; r += kBlock<T>) {
    const int64_t count = std::min(kBlock<T>, r1 - r);
    job.fetch_row(tile, data, r, count);
    const T block = combine_one_block<C, Plain, T>(tile, count, T(0));
    const T best = C::template one<T>(*value, block);
    if (best == *value) continue;
    *value = best;
    const T* found = best == best ? std::find(tile, tile + count, best)
                                  : std::find_if(tile, tile + count, [](T x) { return x != x; });
    *index = r + (found - tile);
  }
}

template <class C, class T>
void split_locate(const Job<T>& job, int64_t unit, T* value, int64_t* index) {
  struct Split {
    const Job<T>* job;
    int64_t unit, length;
    T value[kParts][kWidth<T>];
    int64_t index[kParts][kWidth<T>];
  } split{&job, unit, part_length<T>(job.n), {}, {}};
  // Each part's extremum.
  const int64_t parts = (job.n + split.length - 1) / split.length;
  job.context->parallel(
      parts,
      [](void* arg, int64_t first, int64_t last) {
        Split& s = *static_cast<Split*>(arg);
        for (int64_t i = first; i < last; ++i) {
          locate<C, T>(*s.job, s.unit, i * s.length, std::min((i + 1) * s.length, s.job->n),
                       s.value[i], s.index[i]);
        }
      },
      &split);
  // Join the parts in order: an earlier one wins if they are equal.
  const int64_t width = job.width(unit);
  std::copy_n(split.value[0], width, value);
  std::copy_n(split.index[0], width, index);
  for (int64_t i = 1; i < parts; ++i) {
    for (int64_t c = 0; c < width; ++c) {
      const T best = C::template one<T>(value[c], split.value[i][c]);
      if (best == value[c] || value[c] != value[c]) continue;
      value[c] = best;
      index[c] = split.index[i][c];
    }
  }
}

template <class T>
void finish_index(const Job<T>& job, int64_t unit) {
  if constexpr (!std::is_same_v<T, Complex> && !std::is_same_v<T, uint8_t>) {
    T value[kWidth<T>];
    int64_t index[kWidth<T>];
    const auto op = static_cast<Reduction>(job.args->op);
    if (op == Reduction::kArgmax || op == Reduction::kMaxIndex) {
      job.split ? split_locate<Max, T>(job, unit, value, index)
                : locate<Max, T>(job, unit, 0, job.n, value, index);
    } else {
      job.split ? split_locate<Min, T>(job, unit, value, index)
                : locate<Min, T>(job, unit, 0, job.n, value, index);
    }
    const ReduceArgs& a = *job.args;
    const int64_t first = job.first(unit), width = job.width(unit);
    const bool both = op == Reduction::kMaxIndex || op == Reduction::kMinIndex;
    const View& where = both ? a.indices : a.out;
    if (both) {
      store_range(value, static_cast<char*>(a.out.data), a.out.dtype, dtype_bytes(a.out.dtype),
                  job.out, first, width);
    }
    if (where.data != nullptr) {
      store_range(index, static_cast<char*>(where.data), where.dtype, 8, Dims(where, 0, where.ndim),
                  first, width);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
