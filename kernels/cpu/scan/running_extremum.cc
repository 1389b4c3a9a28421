// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/scan/running_extremum.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/scan/running_extremum.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kTile = 512;
constexpr int64_t kGrain = 1 << 14;  // elements worth a chunk of their own
constexpr int64_t kParts = 64;       // of one long row
constexpr int64_t kColumns = 256;    // rows that lie side by side, scanned together

// The extremum so far and its place.
template <class T>
struct Best {
  T value;
  int64_t place;
};

// Whether `next` takes the place of `before`: of equal extrema, and of NaNs, the last.
template <bool kMax, class T>
HWY_INLINE bool takes(T next, T before) {
  const bool as_good = kMax ? next >= before : next <= before;
  return next != next || (before == before && as_good);
}

// Those of a whole vector that take the place of `before`.
template <bool kMax, class V>
HWY_INLINE auto who_takes(V next, V before) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>) {
    // What is not on the other side: also a NaN, and everything after one, of which only NaNs
    // count.
    const auto worse = kMax ? hn::Lt(next, before) : hn::Gt(next, before);
    const auto stays = hn::Or(worse, hn::AndNot(hn::IsNaN(next), hn::IsNaN(before)));
    return hn::Not(stays);
  } else {
    return hn::Not(kMax ? hn::Lt(next, before) : hn::Gt(next, before));
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr bool kInVectors = false;
#else
template <class T>
constexpr bool kInVectors = !std::is_same_v<T, uint64_t>;
#endif

// Scans x[0 .. n), at `place` of its row, after `best`; writes values and places where wanted.
template <bool kMax, bool kWrite, class T>
void scan_run(const T* x, int64_t n, int64_t place, Best<T>& best, T* values, int64_t* places) {
  Best<T> now = best;
  const auto one_by_one = [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const bool taken = takes<kMax>(x[i], now.value);
      now.value = taken ? x[i] : now.value;
      now.place = taken ? place + i : now.place;
      if constexpr (kWrite) {
        values[i] = now.value;
        places[i] = now.place;
      }
    }
  };
  int64_t i = 0;
  if constexpr (kInVectors<T>) {
    const hn::ScalableTag<T> d;
    const hn::ScalableTag<int64_t> wide;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
      const auto before = hn::Set(d, now.value);
      if (!hn::AllFalse(d, who_takes<kMax>(hn::LoadU(d, x + i), before))) {
        one_by_one(i, i + lanes);
        continue;
      }
      if constexpr (kWrite) {
        hn::StoreU(before, d, values + i);
        const auto where = hn::Set(wide, now.place);
        for (int64_t k = 0; k < lanes; k += static_cast<int64_t>(hn::Lanes(wide)))
          hn::StoreU(where, wide, places + i + k);
      }
    }
  }
  one_by_one(i, n);
  best = now;
}

// A row of columns: each element beside the extremum of its own column.
template <bool kMax, class T, class Place>
void scan_columns_run(const T* x, int64_t width, Place place, T* best, Place* where) {
  int64_t c = 0;
  if constexpr (kInVectors<T>) {
    const hn::ScalableTag<T> d;
    const hn::ScalableTag<Place> p;
    static_assert(sizeof(T) == sizeof(Place));
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto here = hn::Set(p, place);
    for (; c + lanes <= width; c += lanes) {
      const auto next = hn::LoadU(d, x + c), before = hn::LoadU(d, best + c);
      const auto taken = who_takes<kMax>(next, before);
      hn::StoreU(hn::IfThenElse(taken, next, before), d, best + c);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(p, taken), here, hn::LoadU(p, where + c)), p,
                 where + c);
    }
  }
  for (; c < width; ++c) {
    if (!takes<kMax>(x[c], best[c])) continue;
    best[c] = x[c];
    where[c] = place;
  }
}

// Elements in the type of the comparison: int32 is read and written as it is, what is narrower as
// int64.
template <class T>
void read_as(T* tile, const char* data, int32_t dtype, int64_t stride, int64_t n) {
  if constexpr (std::is_same_v<T, int32_t>) {
    for (int64_t i = 0; i < n; ++i) tile[i] = reinterpret_cast<const T*>(data)[i * stride];
  } else {
    load_tile(tile, data, dtype, stride, n);
  }
}
template <class T>
void write_as(char* data, int32_t dtype, int64_t stride, const T* tile, int64_t n) {
  if constexpr (std::is_same_v<T, int32_t>) {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(data)[i * stride] = tile[i];
  } else {
    store_tile(data, dtype, stride, tile, n);
  }
}

template <class T>
struct Job {
  const ScanArgs* args;
  Dims in_rows, in_row, out_rows, out_row, place_rows, place_row;
  int64_t n, rows, in_bytes, out_bytes;
  bool placed, direct;  // places are wanted; rows are read and written where they are

  explicit Job(const ScanArgs& a)
      : args(&a),
        in_rows(a.in, 0, a.in.ndim - 1),
        in_row(a.in, a.in.ndim - 1, a.in.ndim),
        out_rows(a.out, 0, a.out.ndim - 1),
        out_row(a.out, a.out.ndim - 1, a.out.ndim),
        place_rows(a.indices, 0, a.indices.data == nullptr ? 0 : a.indices.ndim - 1),
        place_row(a.indices, a.indices.data == nullptr ? 0 : a.indices.ndim - 1,
                  a.indices.data == nullptr ? 0 : a.indices.ndim),
        n(in_row.count()),
        rows(in_rows.count()),
        in_bytes(dtype_bytes(a.in.dtype)),
        out_bytes(dtype_bytes(a.out.dtype)),
        placed(a.indices.data != nullptr) {
    direct = a.in.dtype == own_dtype() && a.out.dtype == own_dtype() && placed &&
             in_row.inner_stride() == 1 && out_row.inner_stride() == 1 &&
             place_row.inner_stride() == 1;
  }

  static constexpr int32_t own_dtype() {
    if (std::is_same_v<T, float>) return LIBDL_DTYPE_FLOAT32;
    if (std::is_same_v<T, double>) return LIBDL_DTYPE_FLOAT64;
    if (std::is_same_v<T, int32_t>) return LIBDL_DTYPE_INT32;
    return std::is_same_v<T, int64_t> ? LIBDL_DTYPE_INT64 : LIBDL_DTYPE_UINT64;
  }
  const char* in(int64_t row, int64_t r) const {
    return at(args->in, in_rows.offset(row) + in_row.offset(r), in_bytes);
  }
  char* out(int64_t row, int64_t r) const {
    return const_cast<char*>(at(args->out, out_rows.offset(row) + out_row.offset(r), out_bytes));
  }
  char* places(int64_t row, int64_t r) const {
    const int64_t offset = place_rows.offset(row) + place_row.offset(r);
    return const_cast<char*>(at(args->indices, offset, sizeof(int64_t)));
  }
  Best<T> first_of(int64_t row, int64_t r) const {
    Best<T> best{{}, r};
    read_as(&best.value, in(row, r), args->in.dtype, 1, 1);
    return best;
  }
};

// Scans [r0, r1) of a row after `best`, which may be its first element.
template <bool kMax, bool kWrite, class T>
void scan_range(const Job<T>& job, int64_t row, int64_t r0, int64_t r1, Best<T>& best) {
  if (job.direct) {
    return scan_run<kMax, kWrite>(reinterpret_cast<const T*>(job.in(row, r0)), r1 - r0, r0, best,
                                  reinterpret_cast<T*>(job.out(row, r0)),
                                  reinterpret_cast<int64_t*>(job.places(row, r0)));
  }
  alignas(64) T tile[kTile];
  alignas(64) int64_t places[kTile];
  for (int64_t r = r0; r < r1; r += kTile) {
    const int64_t count = std::min(kTile, r1 - r);
    read_as(tile, job.in(row, r), job.args->in.dtype, job.in_row.inner_stride(), count);
    scan_run<kMax, kWrite>(tile, count, r, best, tile, places);
    if constexpr (kWrite) {
      write_as(job.out(row, r), job.args->out.dtype, job.out_row.inner_stride(), tile, count);
      if (job.placed) {
        store_tile(job.places(row, r), LIBDL_DTYPE_INT64, job.place_row.inner_stride(), places,
                   count);
      }
    }
  }
}

// Neighbouring rows [row, row + width) that are adjacent in memory.
template <bool kMax, class T, class Place>
void scan_columns(const Job<T>& job, int64_t row, int64_t width) {
  const ScanArgs& a = *job.args;
  alignas(64) T x[kColumns], best[kColumns];
  alignas(64) Place where[kColumns] = {};
  int64_t places[kColumns];
  read_as(best, job.in(row, 0), a.in.dtype, job.in_rows.inner_stride(), width);
  for (int64_t r = 0; r < job.n; ++r) {
    const char* const in = job.in(row, r);
    const bool as_they_are = a.in.dtype == Job<T>::own_dtype() && job.in_rows.inner_stride() == 1;
    if (!as_they_are) read_as(x, in, a.in.dtype, job.in_rows.inner_stride(), width);
    scan_columns_run<kMax>(as_they_are ? reinterpret_cast<const T*>(in) : x, width,
                           static_cast<Place>(r), best, where);
    write_as(job.out(row, r), a.out.dtype, job.out_rows.inner_stride(), best, width);
    if (!job.placed) continue;
    std::copy_n(where, width, places);
    store_tile(job.places(row, r), LIBDL_DTYPE_INT64, job.place_rows.inner_stride(), places, width);
  }
}

// A long row: first the extremum of each part, then every part is scanned after those before it.
template <bool kMax, class T>
void scan_parts(Context& context, const Job<T>& job, int64_t row) {
  const int64_t length = std::max(kGrain, (job.n + kParts - 1) / kParts);
  const int64_t parts = (job.n + length - 1) / length;
  Best<T> best[kParts];
  in_chunks(context, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      best[i] = job.first_of(row, i * length);
      const int64_t end = std::min((i + 1) * length, job.n);
      if (i + 1 < parts) scan_range<kMax, false>(job, row, i * length, end, best[i]);
    }
  });
  for (int64_t i = 1; i + 1 < parts; ++i) {
    if (!takes<kMax>(best[i].value, best[i - 1].value)) best[i] = best[i - 1];
  }
  in_chunks(context, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Best<T> before = i == 0 ? job.first_of(row, 0) : best[i - 1];
      scan_range<kMax, true>(job, row, i * length, std::min((i + 1) * length, job.n), before);
    }
  });
}

template <bool kMax, class T>
void scan_rows(Context& context, const ScanArgs& args) {
  const Job<T> job(args);
  if (job.n == 0 || job.rows == 0) return;
  if (job.n >= 4 * kGrain && job.rows < 8) {
    for (int64_t row = 0; row < job.rows; ++row) scan_parts<kMax>(context, job, row);
    return;
  }
  // Adjacent rows: many at once, by columns.
  const int64_t side = job.in_rows.inner_size();
  const bool beside = side >= 4 && side == job.out_rows.inner_size() &&
                      (!job.placed || side == job.place_rows.inner_size());
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  if (beside && job.n <= std::numeric_limits<Place>::max() &&
      std::abs(job.in_rows.inner_stride()) < std::abs(job.in_row.inner_stride())) {
    const int64_t tiles = (side + kColumns - 1) / kColumns;
    in_chunks(context, job.rows / side * tiles, std::max<int64_t>(1, kGrain / (job.n * kColumns)),
              [&](int64_t first, int64_t last) {
                for (int64_t t = first; t < last; ++t) {
                  const int64_t c = t % tiles * kColumns;
                  scan_columns<kMax, T, Place>(job, t / tiles * side + c,
                                               std::min(kColumns, side - c));
                }
              });
    return;
  }
  in_chunks(context, job.rows, std::max<int64_t>(1, kGrain / job.n),
            [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row) {
                Best<T> best = job.first_of(row, 0);
                scan_range<kMax, true>(job, row, 0, job.n, best);
              }
            });
}

template <class T>
void scan_of(Context& context, const ScanArgs& args) {
  if (static_cast<Scan>(args.op) == Scan::kMax) return scan_rows<true, T>(context, args);
  scan_rows<false, T>(context, args);
}

void running_extremum_on(Context& context, const ScanArgs& args) {
  switch (args.out.dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32: return scan_of<float>(context, args);
    case LIBDL_DTYPE_FLOAT64: return scan_of<double>(context, args);
    case LIBDL_DTYPE_INT32: return scan_of<int32_t>(context, args);
    case LIBDL_DTYPE_UINT64: return scan_of<uint64_t>(context, args);
    default: return scan_of<int64_t>(context, args);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void running_extremum(Context& context, const ScanArgs& args) {
  LIBDL_ON_ISA(running_extremum_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
