// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/scan/cumsum.h"

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/transposition.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/scan/cumsum.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/traverse/first-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr int64_t kN = hn::MaxLanes(D());
constexpr int64_t kGroup = 8;
constexpr int64_t kPacks = kGroup / kN;
constexpr int64_t kLanes = 32;       // of a part's total
constexpr int64_t kTile = 512;       // elements converted at once; a multiple of kLanes
constexpr int64_t kColumns = 64;     // adjacent rows scanned together
constexpr int64_t kGrain = 1 << 13;  // elements worth a chunk of their own
constexpr int64_t kParts = 64;
constexpr int64_t kSplitRow = 1 << 15;
constexpr double kNothing = -0.0;  // unlike +0 it leaves every number as it is

template <class E>
HWY_INLINE V load(const E* x) {
  if constexpr (sizeof(E) == 8) {
    return hn::LoadU(D(), x);
  } else {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x));
  }
}
template <class E>
HWY_INLINE void store(V x, E* to) {
  if constexpr (sizeof(E) == 8) {
    hn::StoreU(x, D(), to);
  } else {
#if HWY_TARGET == HWY_SCALAR  // there DemoteTo turns infinity into the largest number
    *to = static_cast<float>(hn::GetLane(x));
#else
    const hn::Rebind<float, D> half;
    hn::StoreU(hn::DemoteTo(half, x), half, to);
#endif
  }
}

// The first `count` lanes, zeros beyond.
template <class E>
HWY_INLINE V load_first(const E* x, int64_t count) {
  const hn::Rebind<E, D> d;
  const auto some = first::load(d, count, x);
  if constexpr (sizeof(E) == 8) {
    return some;
  } else {
    return hn::PromoteTo(D(), some);
  }
}
template <class E>
HWY_INLINE void store_first(V x, E* to, int64_t count) {
  const hn::Rebind<E, D> d;
  alignas(64) E all[kN];
  store(x, all);
  first::store(hn::Load(d, all), d, count, to);
}

// Lane i, where i & kLevel, takes the last lane of the kLevel lanes before it.
template <int64_t kLevel>
struct Step {
  decltype(hn::SetTableIndices(D(), static_cast<const int64_t*>(nullptr))) table;
  hn::Mask<D> taken;

  HWY_INLINE Step() {
    alignas(64) int64_t index[kN];
    alignas(64) double mark[kN];
    for (int64_t i = 0; i < kN; ++i) {
      index[i] = (i & ~(2 * kLevel - 1)) + kLevel - 1;
      mark[i] = i & kLevel ? 1 : 0;
    }
    table = hn::SetTableIndices(D(), index);
    taken = hn::Gt(hn::Load(D(), mark), hn::Zero(D()));
  }
  HWY_INLINE V operator()(V x) const {
    return hn::IfThenElse(taken, hn::Add(x, hn::TableLookupLanes(x, table)), x);
  }
};
struct LastLane {
  decltype(hn::SetTableIndices(D(), static_cast<const int64_t*>(nullptr))) table;

  HWY_INLINE LastLane() {
    alignas(64) int64_t index[kN];
    std::fill_n(index, kN, kN - 1);
    table = hn::SetTableIndices(D(), index);
  }
  HWY_INLINE V operator()(V x) const { return hn::TableLookupLanes(x, table); }
};

// Running sums of groups of 8 in vectors: within one, and from one to the next.
struct GroupScan {
  Step<1> step1;
  Step<2> step2;
  Step<4> step4;
  LastLane last;

  HWY_INLINE GroupScan() {}  // an implicit one would be compiled for the baseline

  template <int64_t kLevel>
  HWY_INLINE void across(V* x) const {
    for (int64_t q = 0; q < kPacks; ++q) {
      if (((q * kN) & kLevel) == 0) continue;
      const int64_t before = ((q * kN) & ~(2 * kLevel - 1)) + kLevel - 1;
      x[q] = hn::Add(x[q], last(x[before / kN]));
    }
  }
  HWY_INLINE void operator()(V* x) const {
    for (int64_t q = 0; q < kPacks; ++q) {
      if constexpr (kN > 1) x[q] = step1(x[q]);
      if constexpr (kN > 2) x[q] = step2(x[q]);
      if constexpr (kN > 4) x[q] = step4(x[q]);
    }
    if constexpr (kN <= 1) across<1>(x);
    if constexpr (kN <= 2) across<2>(x);
    if constexpr (kN <= 4) across<4>(x);
  }
};

// y[i] = carry + x[0] + … + x[i]; returns the next carry. y may be x.
template <class E>
HWY_INLINE double scan_run(const GroupScan& scan, const E* x, E* y, int64_t n, double before) {
  V carry = hn::Set(D(), before);
  const auto group = [&](const E* from, E* to) {
    V sum[kPacks];
    for (int64_t q = 0; q < kPacks; ++q) sum[q] = load(from + q * kN);
    scan(sum);
    for (int64_t q = 0; q < kPacks; ++q) store(hn::Add(carry, sum[q]), to + q * kN);
    carry = hn::Add(carry, scan.last(sum[kPacks - 1]));
  };
  int64_t i = 0;
  for (; i + kGroup <= n; i += kGroup) group(x + i, y + i);
  if (i < n) {
    V sum[kPacks];
    const auto left = [=](int64_t q) { return std::clamp<int64_t>(n - i - q * kN, 0, kN); };
    for (int64_t q = 0; q < kPacks; ++q) {
      sum[q] = hn::Zero(D());
      if (left(q) > 0) sum[q] = load_first(x + i + q * kN, left(q));
    }
    scan(sum);
    for (int64_t q = 0; q < kPacks && left(q) > 0; ++q)
      store_first(hn::Add(carry, sum[q]), y + i + q * kN, left(q));
    carry = hn::Add(carry, scan.last(sum[kPacks - 1]));
  }
  return hn::GetLane(carry);
}

// lane[i % kLanes] += x[i]
template <class E>
void add_lanes(const E* x, int64_t n, double* lane) {
  V sum[kLanes / kN];
  for (int64_t p = 0; p < kLanes / kN; ++p) sum[p] = hn::LoadU(D(), lane + p * kN);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t p = 0; p < kLanes / kN; ++p) sum[p] = hn::Add(sum[p], load(x + i + p * kN));
  }
  for (int64_t p = 0; p < kLanes / kN; ++p) hn::StoreU(sum[p], D(), lane + p * kN);
  for (int64_t l = 0; i < n; ++i, ++l) lane[l] += static_cast<double>(x[i]);
}

struct Job {
  const ScanArgs* args;
  Dims in_rows, in_row, out_rows, out_row;
  int64_t n, rows, in_bytes, out_bytes;
  bool direct;  // rows of one type that need no conversion

  explicit Job(const ScanArgs& a)
      : args(&a),
        in_rows(a.in, 0, a.in.ndim - 1),
        in_row(a.in, a.in.ndim - 1, a.in.ndim),
        out_rows(a.out, 0, a.out.ndim - 1),
        out_row(a.out, a.out.ndim - 1, a.out.ndim),
        n(in_row.count()),
        rows(in_rows.count()),
        in_bytes(dtype_bytes(a.in.dtype)),
        out_bytes(dtype_bytes(a.out.dtype)),
        direct(a.in.dtype == a.out.dtype && is_plain(a.in.dtype) && in_row.inner_stride() == 1 &&
               out_row.inner_stride() == 1) {}

  static bool is_plain(int32_t dtype) {
    return dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT64;
  }
  bool single() const { return args->in.dtype == LIBDL_DTYPE_FLOAT32; }
  const char* in(int64_t row, int64_t r) const {
    return at(args->in, in_rows.offset(row) + in_row.offset(r), in_bytes);
  }
  char* out(int64_t row, int64_t r) const {
    return const_cast<char*>(at(args->out, out_rows.offset(row) + out_row.offset(r), out_bytes));
  }
};

void scan_range(const Job& job, const GroupScan& scan, int64_t row, int64_t r0, int64_t r1,
                double carry) {
  if (job.direct && job.single()) {
    scan_run(scan, reinterpret_cast<const float*>(job.in(row, r0)),
             reinterpret_cast<float*>(job.out(row, r0)), r1 - r0, carry);
  } else if (job.direct) {
    scan_run(scan, reinterpret_cast<const double*>(job.in(row, r0)),
             reinterpret_cast<double*>(job.out(row, r0)), r1 - r0, carry);
  } else {
    alignas(64) double tile[kTile];
    for (int64_t r = r0; r < r1; r += kTile) {
      const int64_t count = std::min(kTile, r1 - r);
      load_tile(tile, job.in(row, r), job.args->in.dtype, job.in_row.inner_stride(), count);
      carry = scan_run(scan, tile, tile, count, carry);
      store_tile(job.out(row, r), job.args->out.dtype, job.out_row.inner_stride(), tile, count);
    }
  }
}

double range_total(const Job& job, int64_t row, int64_t r0, int64_t r1) {
  alignas(64) double lane[kLanes];
  std::fill_n(lane, kLanes, kNothing);
  if (Job::is_plain(job.args->in.dtype) && job.in_row.inner_stride() == 1) {
    const char* x = job.in(row, r0);
    if (job.single()) {
      add_lanes(reinterpret_cast<const float*>(x), r1 - r0, lane);
    } else {
      add_lanes(reinterpret_cast<const double*>(x), r1 - r0, lane);
    }
  } else {
    alignas(64) double tile[kTile];
    for (int64_t r = r0; r < r1; r += kTile) {
      const int64_t count = std::min(kTile, r1 - r);
      load_tile(tile, job.in(row, r), job.args->in.dtype, job.in_row.inner_stride(), count);
      add_lanes(tile, count, lane);
    }
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

// A long row: first the parts' totals, then every part, starting from the totals before it.
void scan_parts(Context& context, const Job& job, int64_t row) {
  const int64_t even = (job.n + kParts - 1) / kParts;
  const int64_t length = std::max(kGrain, (even + kTile - 1) / kTile * kTile);
  const int64_t parts = (job.n + length - 1) / length;
  double before[kParts + 1] = {kNothing};
  in_chunks(context, parts - 1, 1, [&](int64_t i, int64_t) {
    before[i + 1] = range_total(job, row, i * length, (i + 1) * length);
  });
  for (int64_t i = 1; i < parts; ++i) before[i] += before[i - 1];
  in_chunks(context, parts, 1, [&](int64_t i, int64_t) {
    const GroupScan scan;
    scan_range(job, scan, row, i * length, std::min((i + 1) * length, job.n), before[i]);
  });
}

// One vector of columns: 8 rows of it become their running sums.
HWY_INLINE V scan_columns_of_8(V* x, V carry) {
  const V s1 = hn::Add(x[0], x[1]), p3 = hn::Add(x[2], x[3]), s3 = hn::Add(s1, p3);
  const V p5 = hn::Add(x[4], x[5]), p6 = hn::Add(p5, x[6]);
  const V p7 = hn::Add(p5, hn::Add(x[6], x[7]));
  x[0] = hn::Add(carry, x[0]);
  x[1] = hn::Add(carry, s1);
  x[2] = hn::Add(carry, hn::Add(s1, x[2]));
  x[3] = hn::Add(carry, s3);
  x[4] = hn::Add(carry, hn::Add(s3, x[4]));
  x[5] = hn::Add(carry, hn::Add(s3, p5));
  x[6] = hn::Add(carry, hn::Add(s3, p6));
  return x[7] = hn::Add(carry, hn::Add(s3, p7));
}

// 8 rows of up to kColumns. The carry has room for whole vectors.
template <class E>
HWY_INLINE void scan_columns_run(const E* const* from, E* const* to, int64_t width, double* carry) {
  V x[kGroup];
  int64_t c = 0;
  for (; c + kN <= width; c += kN) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < kGroup; ++j) x[j] = load(from[j] + c);
    hn::StoreU(scan_columns_of_8(x, hn::LoadU(D(), carry + c)), D(), carry + c);
#pragma GCC unroll 8
    for (int64_t j = 0; j < kGroup; ++j) store(x[j], to[j] + c);
  }
  if (c == width) return;
  const int64_t left = width - c;
#pragma GCC unroll 8
  for (int64_t j = 0; j < kGroup; ++j) x[j] = load_first(from[j] + c, left);
  hn::StoreU(scan_columns_of_8(x, hn::LoadU(D(), carry + c)), D(), carry + c);
#pragma GCC unroll 8
  for (int64_t j = 0; j < kGroup; ++j) store_first(x[j], to[j] + c, left);
}

// Neighbouring rows [row, row + width) that are adjacent in memory.
template <class E>
void scan_columns(const Job& job, int64_t row, int64_t width) {
  alignas(64) double carry[kColumns];
  alignas(64) double tile[kGroup][kColumns] = {};
  std::fill_n(carry, kColumns, kNothing);
  const ScanArgs& a = *job.args;
  const int64_t side = job.in_rows.inner_stride();
  const bool direct = a.in.dtype == a.out.dtype && Job::is_plain(a.in.dtype) && side == 1 &&
                      job.out_rows.inner_stride() == 1;
  for (int64_t r = 0; r < job.n; r += kGroup) {
    const int64_t count = std::min(kGroup, job.n - r);
    // Whole groups of plain elements are scanned in place.
    if (direct && count == kGroup) {
      const E* from[kGroup];
      E* to[kGroup];
      for (int64_t j = 0; j < kGroup; ++j) {
        from[j] = reinterpret_cast<const E*>(job.in(row, r + j));
        to[j] = reinterpret_cast<E*>(job.out(row, r + j));
      }
      scan_columns_run(from, to, width, carry);
      continue;
    }
    // Others are converted in a tile.
    double* line[kGroup];
    for (int64_t j = 0; j < kGroup; ++j) {
      line[j] = tile[j];
      if (j < count) load_tile(tile[j], job.in(row, r + j), a.in.dtype, side, width);
    }
    scan_columns_run<double>(line, line, width, carry);
    for (int64_t j = 0; j < count; ++j) {
      store_tile(job.out(row, r + j), a.out.dtype, job.out_rows.inner_stride(), tile[j], width);
    }
  }
}

// Consecutive short rows: neighbouring ones are transposed to columns and back in cache.
constexpr int64_t kShort = 32;

template <class E>
void scan_short(const Job& job, int64_t row, int64_t width) {
  constexpr int64_t bytes = sizeof(E);
  alignas(64) E tile[kShort][kColumns];
  alignas(64) double carry[kColumns];
  std::fill_n(carry, kColumns, kNothing);
  for (int64_t r = job.n; r % kGroup != 0; ++r) std::fill_n(tile[r], width, E(0));
  const TransposeFn transpose = transposer(bytes);
  transpose(job.in(row, 0), job.in_rows.inner_stride() * bytes, width, job.n, tile[0], kColumns);
  for (int64_t r = 0; r < job.n; r += kGroup) {
    E* line[kGroup];
    for (int64_t j = 0; j < kGroup; ++j) line[j] = tile[r + j];
    scan_columns_run<E>(line, line, width, carry);
  }
  transpose(reinterpret_cast<const char*>(tile), kColumns * bytes, job.n, width, job.out(row, 0),
            job.out_rows.inner_stride());
}

// Adjacent rows, `width` of them in a tile; body(row, width) scans one tile.
template <class Body>
void in_tiles(Context& context, const Job& job, const Body& body) {
  const int64_t side = job.in_rows.inner_size(), tiles = (side + kColumns - 1) / kColumns;
  in_chunks(context, job.rows / side * tiles, std::max<int64_t>(1, kGrain / (job.n * kColumns)),
            [&](int64_t first, int64_t last) {
              for (int64_t t = first; t < last; ++t) {
                const int64_t c = t % tiles * kColumns;
                body(t / tiles * side + c, std::min(kColumns, side - c));
              }
            });
}

void cumsum_on(Context& context, const ScanArgs& args) {
  const Job job(args);
  if (job.n == 0 || job.rows == 0) return;
  if (job.n > kSplitRow && job.rows < 8) {
    for (int64_t row = 0; row < job.rows; ++row) scan_parts(context, job, row);
    return;
  }
  const int64_t side = job.in_rows.inner_size();
  const bool beside = side >= 4 && side == job.out_rows.inner_size();
  if (beside && std::abs(job.in_rows.inner_stride()) < std::abs(job.in_row.inner_stride())) {
    return in_tiles(context, job, [&](int64_t row, int64_t width) {
      job.single() ? scan_columns<float>(job, row, width) : scan_columns<double>(job, row, width);
    });
  }
  if (beside && job.direct && job.n <= kShort) {
    return in_tiles(context, job, [&](int64_t row, int64_t width) {
      job.single() ? scan_short<float>(job, row, width) : scan_short<double>(job, row, width);
    });
  }
  in_chunks(context, job.rows, std::max<int64_t>(1, kGrain / job.n),
            [&](int64_t first, int64_t last) {
              const GroupScan scan;
              for (int64_t row = first; row < last; ++row) {
                scan_range(job, scan, row, 0, job.n, kNothing);
              }
            });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void cumsum(Context& context, const ScanArgs& args) { LIBDL_ON_ISA(cumsum_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
