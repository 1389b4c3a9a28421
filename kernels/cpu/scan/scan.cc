// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/scan/cumsum.h"
#include "kernels/cpu/scan/running_extremum.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {
namespace {

constexpr int64_t kTile = 512;
constexpr int64_t kGrain = 1 << 14;  // elements worth a chunk of their own
constexpr int64_t kParts = 64;       // of one long row
constexpr int64_t kSegment = 128;    // of a tile, scanned for itself
constexpr int64_t kColumns = 256;    // rows that lie side by side, scanned together

template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// log(exp(a) + exp(b)); equal infinities are left alone, for inf - inf is NaN.
inline double log_add(double a, double b) {
  if (a != a || b != b) return a + b;
  const double top = std::max(a, b);
  return std::isinf(top) ? top : top + std::log1p(std::exp(std::min(a, b) - top));
}

// The scan of `before` followed by `next`.
template <Scan kOp, class T>
T join(T before, T next) {
  if constexpr (kOp == Scan::kSum) return wrap_add(before, next);
  if constexpr (kOp == Scan::kProd) return wrap_mul(before, next);
  if constexpr (kOp == Scan::kLogsumexp) return log_add(before, next);
}

template <class T>
struct Job {
  const ScanArgs* args;
  Dims in_rows, in_row, out_rows, out_row;
  int64_t n, rows, in_bytes, out_bytes;

  explicit Job(const ScanArgs& a)
      : args(&a),
        in_rows(a.in, 0, a.in.ndim - 1),
        in_row(a.in, a.in.ndim - 1, a.in.ndim),
        out_rows(a.out, 0, a.out.ndim - 1),
        out_row(a.out, a.out.ndim - 1, a.out.ndim) {
    n = in_row.count();
    rows = in_rows.count();
    in_bytes = dtype_bytes(a.in.dtype);
    out_bytes = dtype_bytes(a.out.dtype);
  }
};

// The first kCount segments of a tile, each for itself and all at once.
template <Scan kOp, int kCount, class T>
void scan_segments(T* tile) {
  T last[kCount];  // unrolled by name: at -O2 they would else stay in memory
#pragma GCC unroll 4
  for (int s = 0; s < kCount; ++s) last[s] = tile[s * kSegment];
  for (int64_t i = 1; i < kSegment; ++i) {
#pragma GCC unroll 4
    for (int s = 0; s < kCount; ++s) {
      T& x = tile[s * kSegment + i];
      x = last[s] = join<kOp, T>(last[s], x);
    }
  }
}
static_assert(kTile == 4 * kSegment);

// Scans a tile in place after `before`, if there is one. Segments are scanned each for itself,
// which lets four run at once, and joined to what stands before them.
template <Scan kOp, bool kWrite, class T>
T scan_tile(T* tile, int64_t count, const T* before) {
  const auto joined = [](T a, T b) { return join<kOp, T>(a, b); };
  const int64_t whole = count / kSegment;
  if (whole == 4) scan_segments<kOp, 4>(tile);
  if (whole == 3) scan_segments<kOp, 3>(tile);
  if (whole == 2) scan_segments<kOp, 2>(tile);
  if (whole == 1) scan_segments<kOp, 1>(tile);
  for (int64_t i = whole * kSegment + 1; i < count; ++i) tile[i] = joined(tile[i - 1], tile[i]);
  T total = before == nullptr ? tile[std::min(kSegment, count) - 1] : *before;
  for (int64_t first = before == nullptr ? kSegment : 0; first < count; first += kSegment) {
    const int64_t end = std::min(first + kSegment, count);
    const T offset = total;
    total = joined(offset, tile[end - 1]);
    if constexpr (kWrite) {
      for (int64_t i = first; i < end; ++i) tile[i] = joined(offset, tile[i]);
    }
  }
  return total;
}

// Scans a tile in sequence.
template <Scan kOp, class T>
T scan_in_order(T* tile, int64_t count, const T* before) {
  if (before != nullptr) tile[0] = join<kOp, T>(*before, tile[0]);
  for (int64_t i = 1; i < count; ++i) tile[i] = join<kOp, T>(tile[i - 1], tile[i]);
  return tile[count - 1];
}

// Scans [r0, r1) of a row, r0 < r1, starting from `carry` if given, and returns the last value.
template <Scan kOp, bool kWrite, class T>
T scan_range(const Job<T>& job, int64_t row, int64_t r0, int64_t r1, const T* carry) {
  const ScanArgs& a = *job.args;
  const char* in = at(a.in, job.in_rows.offset(row), job.in_bytes);
  char* out = const_cast<char*>(at(a.out, job.out_rows.offset(row), job.out_bytes));
  T tile[kTile];
  T last{};
  for (int64_t r = r0; r < r1; r += kTile) {
    const int64_t count = std::min(kTile, r1 - r);
    const T* before = r == r0 ? carry : &last;
    load_tile(tile, in + job.in_row.offset(r) * job.in_bytes, a.in.dtype, job.in_row.inner_stride(),
              count);
    if constexpr (kOp == Scan::kLogsumexp) {
      last = scan_in_order<kOp, T>(tile, count, before);
    } else {
      last = scan_tile<kOp, kWrite, T>(tile, count, before);
    }
    if constexpr (kWrite) {
      store_tile(out + job.out_row.offset(r) * job.out_bytes, a.out.dtype,
                 job.out_row.inner_stride(), tile, count);
    }
  }
  return last;
}

// Neighbouring rows [row, row + width) that are adjacent in memory, in the order of scan_tile.
template <Scan kOp, class T>
void scan_columns(const Job<T>& job, int64_t row, int64_t width) {
  const auto joined = [](T a, T b) { return join<kOp, T>(a, b); };
  const ScanArgs& a = *job.args;
  const char* in = at(a.in, job.in_rows.offset(row), job.in_bytes);
  char* out = const_cast<char*>(at(a.out, job.out_rows.offset(row), job.out_bytes));
  T x[kColumns], local[kColumns], total[kColumns], offset[kColumns];
  for (int64_t r = 0; r < job.n; ++r) {
    load_tile(x, in + job.in_row.offset(r) * job.in_bytes, a.in.dtype, job.in_rows.inner_stride(),
              width);
    if constexpr (std::is_integral_v<T>) {  // the order does not matter
      for (int64_t c = 0; c < width; ++c) total[c] = r == 0 ? x[c] : joined(total[c], x[c]);
      store_tile(out + job.out_row.offset(r) * job.out_bytes, a.out.dtype,
                 job.out_rows.inner_stride(), total, width);
      continue;
    }
    const bool start = r % kSegment == 0, first = r < kSegment;  // segment's totals are its own
    if (start && !first) std::copy_n(r == kSegment ? local : total, width, offset);
    if (start) std::copy_n(x, width, local);
    for (int64_t c = 0; !start && c < width; ++c) local[c] = joined(local[c], x[c]);
    for (int64_t c = 0; !first && c < width; ++c) total[c] = joined(offset[c], local[c]);
    store_tile(out + job.out_row.offset(r) * job.out_bytes, a.out.dtype,
               job.out_rows.inner_stride(), first ? local : total, width);
  }
}

// A long row: first the total of each part, then every part is scanned, starting from the totals
// before it.
template <Scan kOp, class T>
void scan_parts(Context& context, const Job<T>& job, int64_t row) {
  struct Split {
    const Job<T>* job;
    int64_t row, length;
    T part[kParts];
  } split{&job, row, std::max(kGrain, (job.n + kParts - 1) / kParts), {}};
  // First pass: each part's total.
  const int64_t parts = (job.n + split.length - 1) / split.length;
  context.parallel(
      parts,
      [](void* arg, int64_t first, int64_t last) {
        Split& s = *static_cast<Split*>(arg);
        for (int64_t i = first; i < last; ++i) {
          s.part[i] = scan_range<kOp, false, T>(*s.job, s.row, i * s.length,
                                                std::min((i + 1) * s.length, s.job->n), nullptr);
        }
      },
      &split);
  // The totals up to the end of each part.
  for (int64_t i = 1; i < parts; ++i) {
    split.part[i] = join<kOp, T>(split.part[i - 1], split.part[i]);
  }
  // Second pass: scan each part, starting from the total before it.
  context.parallel(
      parts,
      [](void* arg, int64_t first, int64_t last) {
        Split& s = *static_cast<Split*>(arg);
        for (int64_t i = first; i < last; ++i) {
          scan_range<kOp, true, T>(*s.job, s.row, i * s.length,
                                   std::min((i + 1) * s.length, s.job->n),
                                   i == 0 ? nullptr : &s.part[i - 1]);
        }
      },
      &split);
}

// Integers wrap to the same sums in any order: one addition each, from the input directly to int64.
template <class Read, class In>
inline __attribute__((always_inline)) void sum_row(const Read& read, const In* in, int64_t in_step,
                                                   int64_t* out, int64_t out_step, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += read(in[i * in_step]);
    out[i * out_step] = static_cast<int64_t>(sum);
  }
}
// False if the input's dtype is not among those commonly summed.
bool sum_row_of_integers(const Job<int64_t>& job, int64_t row) {
  const ScanArgs& a = *job.args;
  const char* in = at(a.in, job.in_rows.offset(row), job.in_bytes);
  auto* out = reinterpret_cast<int64_t*>(
      const_cast<char*>(at(a.out, job.out_rows.offset(row), job.out_bytes)));
  const auto sum = [&]<class In>(const auto& read, In) {
    if (job.in_row.inner_stride() == 1 && job.out_row.inner_stride() == 1) {
      sum_row(read, reinterpret_cast<const In*>(in), 1, out, 1, job.n);
      return true;
    }
    sum_row(read, reinterpret_cast<const In*>(in), job.in_row.inner_stride(), out,
            job.out_row.inner_stride(), job.n);
    return true;
  };
  const auto wide = [](auto x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); };
  switch (a.in.dtype) {
    case LIBDL_DTYPE_INT64: return sum(wide, int64_t{});
    case LIBDL_DTYPE_INT32: return sum(wide, int32_t{});
    case LIBDL_DTYPE_UINT8: return sum(wide, uint8_t{});
    case LIBDL_DTYPE_BOOL: return sum([](uint8_t x) { return uint64_t{x != 0}; }, uint8_t{});
    default: return false;
  }
}

template <Scan kOp, class T>
void run(Context& context, const ScanArgs& args) {
  const Job<T> job(args);
  if (job.n == 0 || job.rows == 0) return;
  // A few long rows: each is split among threads.
  if (job.n >= 4 * kGrain && job.rows < 8) {
    for (int64_t row = 0; row < job.rows; ++row) scan_parts<kOp, T>(context, job, row);
    return;
  }
  // Adjacent rows: many at once, by columns.
  const int64_t side = job.in_rows.inner_size();
  const bool columns = kOp != Scan::kLogsumexp && side >= 4 && side == job.out_rows.inner_size() &&
                       std::abs(job.in_rows.inner_stride()) < std::abs(job.in_row.inner_stride());
  if (columns) {
    const int64_t tiles = (side + kColumns - 1) / kColumns;
    in_chunks(context, job.rows / side * tiles, std::max<int64_t>(1, kGrain / (job.n * kColumns)),
              [&](int64_t first, int64_t last) {
                for (int64_t t = first; t < last; ++t) {
                  const int64_t c = t % tiles * kColumns;
                  scan_columns<kOp, T>(job, t / tiles * side + c, std::min(kColumns, side - c));
                }
              });
    return;
  }
  // Any other rows, one after another.
  in_chunks(context, job.rows, std::max<int64_t>(1, kGrain / job.n),
            [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row) {
                if constexpr (kOp == Scan::kSum && std::is_same_v<T, int64_t>) {
                  const bool wide = args.out.dtype == LIBDL_DTYPE_INT64;
                  if (wide && sum_row_of_integers(job, row)) continue;
                }
                scan_range<kOp, true, T>(job, row, 0, job.n, nullptr);
              }
            });
}

template <class T>
void run_op(Context& context, const ScanArgs& args) {
  switch (static_cast<Scan>(args.op)) {
    case Scan::kSum:
      if constexpr (std::is_same_v<T, double>) return cumsum(context, args);
      return run<Scan::kSum, T>(context, args);
    case Scan::kProd: return run<Scan::kProd, T>(context, args);
    case Scan::kMax:
    case Scan::kMin: return running_extremum(context, args);
    case Scan::kLogsumexp:
      if constexpr (std::is_same_v<T, double>) run<Scan::kLogsumexp, T>(context, args);
      return;
  }
}

}  // namespace

void scan(Context& context, const ScanArgs& args) {
  switch (args.out.dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32:
    case LIBDL_DTYPE_FLOAT64: return run_op<double>(context, args);
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: return run_op<std::complex<double>>(context, args);
    case LIBDL_DTYPE_UINT64: return run_op<uint64_t>(context, args);
    default: return run_op<int64_t>(context, args);
  }
}

}  // namespace libdl::kernels::cpu
