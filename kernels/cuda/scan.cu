// SPDX-License-Identifier: Apache-2.0

// Inclusive scans along the last dimension. A row is cut into parts by its length alone; within a
// part 32 lanes scan four neighbouring values each, and then scan their totals at doubling
// distances. A thread block takes several rows, adjacent ones if possible. If there are several
// parts, their totals are computed first and scanned as rows of their own, and every part starts
// from the total before it.

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/merged.h"
#include "kernels/cuda/order.h"
#include "kernels/cuda/plan.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

constexpr int kScanLanes = 32;
constexpr int kEach = 4;                        // neighbouring values of a lane
constexpr int64_t kReach = kScanLanes * kEach;  // what the lanes take at once
constexpr int kScanThreads = 8 * kScanLanes;
constexpr int64_t kPartLength = 16 * kReach;

struct ScanLaunch {
  int32_t width, others;  // rows of a block: adjacent, and further ones
  int32_t in_dtype, out_dtype;
  bool carried;  // `in` and `out` hold carries, not elements
  int64_t n, rows, parts;
  int64_t in_step, out_step, index_step;
  const void* in;
  void* out;
  void* indices;
  void* totals;      // [rows, parts]: written if out is NULL, else the scanned totals of the parts
  Geometry<3> kept;  // in, out, indices
};

}  // namespace

#ifdef LIBDL_KERNELS

// What has been scanned so far, with the index of the running extremum.
template <class V>
using Carry = Located<V>;

struct ScanSum {
  template <class T>
  static LIBDL_DEVICE T of(T before, T next) {
    return before + next;
  }
};
struct ScanProd {
  template <class T>
  static LIBDL_DEVICE T of(T before, T next) {
    return Prod::of(before, next);
  }
};
// Of equal extrema, and of NaNs, the last is kept.
template <bool kMax>
struct ScanExtreme {
  template <class V>
  static LIBDL_DEVICE Carry<V> of(Carry<V> before, Carry<V> next) {
    const bool as_good = kMax ? next.value >= before.value : next.value <= before.value;
    const bool next_nan = next.value != next.value, before_nan = before.value != before.value;
    return next_nan || (!before_nan && as_good) ? next : before;
  }
};
// log(exp(a) + exp(b)); equal infinities are returned unchanged, because inf - inf is NaN.
struct ScanLogsumexp {
  static LIBDL_DEVICE double of(double a, double b) {
    if (a != a || b != b) return a + b;
    const double top = a > b ? a : b, low = a > b ? b : a;
    return Math<double>::isinf(top) ? top : top + Math<double>::log1p(Math<double>::exp(low - top));
  }
};

// Converts elements to the carried type, and back.
template <class T>
struct Carried {
  using V = T;
  static LIBDL_DEVICE T make(V x, int64_t) { return x; }
  static LIBDL_DEVICE void put(const ScanLaunch& p, int64_t at, int64_t, T x) {
    store(p.out, at, p.out_dtype, x);
  }
};
template <class W>
struct Carried<Carry<W>> {
  using V = W;
  static LIBDL_DEVICE Carry<W> make(V x, int64_t i) { return {x, i}; }
  static LIBDL_DEVICE void put(const ScanLaunch& p, int64_t at, int64_t index_at, Carry<W> x) {
    if (p.out_dtype) store(p.out, at, p.out_dtype, x.value);
    if (p.indices) static_cast<int64_t*>(p.indices)[index_at] = x.index;
  }
};

// The value of the lane `distance` before; false if there is none.
template <class T>
LIBDL_DEVICE bool before(T x, int distance, int width, int lane, T& value) {
  __shared__ T held[kScanThreads];
  held[threadIdx.x] = x;
  __syncthreads();
  const bool there = lane >= distance;
  if (there) value = held[threadIdx.x - static_cast<unsigned>(distance * width)];
  __syncthreads();
  return there;
}

template <class Op, class T>
LIBDL_DEVICE void scan_part(const ScanLaunch& p) {
  using Kind = Carried<T>;
  const int x = static_cast<int>(threadIdx.x) % p.width;
  const int lane = static_cast<int>(threadIdx.x) / p.width % kScanLanes;
  const int other = static_cast<int>(threadIdx.x) / p.width / kScanLanes;
  const int64_t part = blockIdx.x % p.parts;
  const int64_t row = (blockIdx.x / p.parts * p.others + other) * p.width + x;
  const bool there = row < p.rows;
  int64_t offset[3];
  offsets_of(p.kept, there ? row : 0, offset);
  const int64_t first = part * kPartLength;
  const int64_t end = first + kPartLength < p.n ? first + kPartLength : p.n;
  T* const totals = static_cast<T*>(p.totals) + row * p.parts;
  __shared__ T last[kScanThreads];  // of a row of the block
  const int position = x + other * p.width;

  bool begun = p.out && part > 0;
  T carry{};
  if (begun && there) carry = totals[part - 1];
  for (int64_t base = first; base < end; base += kReach) {
    // Each thread scans its own kEach values.
    const int64_t i0 = base + int64_t{lane} * kEach;
    T value[kEach] = {};
    if (there) {
      LIBDL_ROLLED
      for (int k = 0; k < kEach; ++k) {
        if (i0 + k >= end) break;
        const int64_t at = offset[0] + (i0 + k) * p.in_step;
        const T next = p.carried ? static_cast<const T*>(p.in)[at]
                                 : Kind::make(load<typename Kind::V>(p.in, at, p.in_dtype), i0 + k);
        value[k] = k == 0 ? next : Op::of(value[k - 1], next);
      }
    }
    // The threads' last values, if they have any, are scanned over the lanes.
    const int64_t left = end - i0;
    const int count = left <= 0 ? 0 : left < kEach ? static_cast<int>(left) : kEach;
    T sum = count > 0 ? value[count - 1] : T{};
    LIBDL_ROLLED
    for (int distance = 1; distance < kScanLanes; distance *= 2) {
      T neighbour{};
      if (before(sum, distance, p.width, lane, neighbour) && count > 0)
        sum = Op::of(neighbour, sum);
    }
    // The carry into each thread's values.
    T ahead{};
    const bool some = before(sum, 1, p.width, lane, ahead);
    if (begun && count > 0) {
      ahead = some ? Op::of(carry, ahead) : carry;
      sum = Op::of(carry, sum);
    }
    // Write the results.
    if (there && p.out) {
      for (int k = 0; k < count; ++k) {
        const T y = begun || some ? Op::of(ahead, value[k]) : value[k];
        const int64_t at = offset[1] + (i0 + k) * p.out_step;
        if (p.carried) {
          static_cast<T*>(p.out)[at] = y;
        } else {
          Kind::put(p, at, offset[2] + (i0 + k) * p.index_step, y);
        }
      }
    }
    // The last value so far is the next round's carry.
    if (count > 0 && left <= kEach) last[position] = sum;
    if (lane == kScanLanes - 1 && left > kEach) last[position] = sum;
    __syncthreads();
    carry = last[position];
    begun = true;
    __syncthreads();
  }
  if (!p.out && there && lane == 0) totals[part] = carry;
}

#define SCAN(name, Op, T) \
  LIBDL_BLOCK_KERNEL(scan_##name, ScanLaunch) { scan_part<Op, T>(p); }
SCAN(sum_f64, ScanSum, double)
SCAN(sum_i64, ScanSum, Int64)
SCAN(sum_u64, ScanSum, Uint64)
SCAN(sum_c128, ScanSum, Complex)
SCAN(prod_f64, ScanProd, double)
SCAN(prod_i64, ScanProd, Int64)
SCAN(prod_u64, ScanProd, Uint64)
SCAN(prod_c128, ScanProd, Complex)
SCAN(max_f64, ScanExtreme<true>, Carry<double>)
SCAN(max_i64, ScanExtreme<true>, Carry<Int64>)
SCAN(max_u64, ScanExtreme<true>, Carry<Uint64>)
SCAN(min_f64, ScanExtreme<false>, Carry<double>)
SCAN(min_i64, ScanExtreme<false>, Carry<Int64>)
SCAN(min_u64, ScanExtreme<false>, Carry<Uint64>)
SCAN(logsumexp_f64, ScanLogsumexp, double)

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

constexpr const char* kScans[5][4] = {
    {"scan_sum_f64", "scan_sum_i64", "scan_sum_u64", "scan_sum_c128"},
    {"scan_prod_f64", "scan_prod_i64", "scan_prod_u64", "scan_prod_c128"},
    {"scan_max_f64", "scan_max_i64", "scan_max_u64", nullptr},
    {"scan_min_f64", "scan_min_i64", "scan_min_u64", nullptr},
    {"scan_logsumexp_f64", nullptr, nullptr, nullptr},
};

const char* scan_kernel(const ScanArgs& a) {
  const char* const(&names)[4] = kScans[a.op];
  if (a.out.dtype >= LIBDL_DTYPE_COMPLEX64) return names[3];
  if (a.out.dtype >= LIBDL_DTYPE_FLOAT16) return names[0];
  return names[a.out.dtype == LIBDL_DTYPE_UINT64 ? 2 : 1];
}

void scan_rows(Context& context, const char* name, int64_t carry_bytes, ScanLaunch p);

// The totals of the parts, scanned.
void scan_totals(Context& context, const char* name, int64_t carry_bytes, const ScanLaunch& p) {
  ScanLaunch next{};
  next.carried = true;
  next.n = p.parts;
  next.rows = p.rows;
  next.in = next.out = p.totals;
  next.in_step = next.out_step = 1;
  next.kept.ndim = 1;
  next.kept.numel = next.kept.sizes[0] = p.rows;
  next.kept.strides[0][0] = next.kept.strides[1][0] = p.parts;
  scan_rows(context, name, carry_bytes, next);
}

void scan_rows(Context& context, const char* name, int64_t carry_bytes, ScanLaunch p) {
  const int last = p.kept.ndim - 1;
  const int64_t side = p.kept.ndim > 0 ? p.kept.sizes[last] : 1;
  const bool columns = side > 1 && std::abs(p.kept.strides[0][last]) < std::abs(p.in_step);
  p.width = columns ? static_cast<int32_t>(power_of_two_from(std::min<int64_t>(side, 8))) : 1;
  p.others = static_cast<int32_t>(
      std::min<int64_t>(8 / p.width, power_of_two_from(ceil_div(p.rows, p.width))));
  p.parts = ceil_div(p.n, kPartLength);
  const Grid grid{ceil_div(p.rows, int64_t{p.width} * p.others) * p.parts,
                  p.width * p.others * kScanLanes, 1};
  if (p.parts == 1) return launch(context, name, grid, p);
  const Scratch totals(context, p.rows * p.parts * carry_bytes);
  p.totals = totals.data();
  ScanLaunch first = p;
  first.out = nullptr;
  launch(context, name, grid, first);
  scan_totals(context, name, carry_bytes, p);
  launch(context, name, grid, p);
}

}  // namespace

void scan(Context& context, const ScanArgs& a) {
  const int32_t kept = a.in.ndim - 1;
  const char* const name = scan_kernel(a);
  if (numel(a.in) == 0 || !name) return;
  const bool indexed = a.indices.data != nullptr;
  const View* const views[3] = {&a.in, &a.out, &a.indices};
  const Merged<3> rows(views, 0, kept);
  ScanLaunch p{};
  p.in_dtype = a.in.dtype;
  p.out_dtype = a.out.dtype;
  p.n = a.in.sizes[kept];
  p.in_step = a.in.strides[kept];
  p.out_step = a.out.strides[kept];
  p.index_step = indexed ? a.indices.strides[kept] : 0;
  const View merged[3] = {rows.view(0, a.in), rows.view(1, a.out), rows.view(2, a.indices)};
  const View* const shown[3] = {&merged[0], &merged[1], indexed ? &merged[2] : nullptr};
  const bool extreme =
      a.op == static_cast<int32_t>(Scan::kMax) || a.op == static_cast<int32_t>(Scan::kMin);
  const int64_t carry_bytes = extreme || a.out.dtype >= LIBDL_DTYPE_COMPLEX64 ? 16 : 8;
  each_part(shown, 3, p.kept, [&](void* const* data) {
    p.in = data[0];
    p.out = data[1];
    p.indices = data[2];
    p.rows = p.kept.numel;
    scan_rows(context, name, carry_bytes, p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
