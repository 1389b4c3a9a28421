// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/gemv.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels/convert_value.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/load_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/gemv.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kK = 1024;  // values of k that are copied at once; a multiple of the lanes
constexpr int64_t kX = 4096;  // values of x that a copy holds for all rows

// Vectors of T from values of E: T itself, or a 16-bit float that is widened.
template <class T, class E>
struct Memory {
  using P = Pack<T>;
  static HWY_INLINE typename P::V load(const E* from) {
    if constexpr (std::is_same_v<T, E>) {
      return P::load(from);
    } else {
#if LIBDL_FUSED  // as in convert.cc
      using Bits = std::conditional_t<std::is_same_v<E, Bfloat>, hwy::bfloat16_t, hwy::float16_t>;
      const typename P::D d;
      const hn::Rebind<Bits, typename P::D> narrow;
      return hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const Bits*>(from)));
#else
      HWY_ALIGN T lane[P::n];
      for (int64_t i = 0; i < P::n; ++i) lane[i] = to_float(from[i]);
      return P::load(lane);
#endif
    }
  }
  // The first n; the others are zero.
  static HWY_INLINE typename P::V load_first(int64_t n, const E* from) {
    if constexpr (std::is_same_v<T, E>) {
      return first::load(typename P::D(), n, from);
    } else {
      HWY_ALIGN E lane[P::n] = {};
      std::copy_n(from, std::min<int64_t>(n, P::n), lane);
      return load(lane);
    }
  }
};

template <class T>
struct Job {
  GemvOperand w;
  const void* x;
  int64_t x_stride, bytes;

  Job(const GemvOperand& operand, const void* vector, int64_t stride)
      : w(operand), x(vector), x_stride(stride), bytes(dtype_bytes(operand.dtype)) {}

  const char* element(int64_t i, int64_t k) const {
    return static_cast<const char*>(w.data) + (i * w.row_stride + k * w.k_stride) * bytes;
  }
  // x[k0, k0 + count).
  void load_x(T* to, int64_t k0, int64_t count) const {
    load_tile(to, static_cast<const char*>(x) + k0 * x_stride * bytes, w.dtype, x_stride, count);
  }
};

// The loops over rows and packs are unrolled explicitly: at -O2 the sums would else stay in memory.
// sum[r][l] += the products of lane l, for kR rows of contiguous values.
template <int kR, class T, class E>
HWY_INLINE void add_rows(T (*sum)[kLanes<T>], const E* const* row, const T* x, int64_t count) {
  using P = Pack<T>;
  using M = Memory<T, E>;
  constexpr int64_t kPacks = kLanes<T> / P::n;
  typename P::V total[kR][kPacks];
  LIBDL_UNROLL
  for (int r = 0; r < kR; ++r) {
    LIBDL_UNROLL
    for (int64_t p = 0; p < kPacks; ++p) total[r][p] = P::load(sum[r] + p * P::n);
  }
  // Whole steps: one value for every lane.
  int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    LIBDL_UNROLL
    for (int64_t p = 0; p < kPacks; ++p) {
      const auto v = P::load(x + i + p * P::n);
      LIBDL_UNROLL
      for (int r = 0; r < kR; ++r) {
        total[r][p] = hn::MulAdd(v, M::load(row[r] + i + p * P::n), total[r][p]);
      }
    }
  }
  // The last step: lanes without a value keep their sum.
  for (int64_t p = 0; i + p * P::n < count; ++p) {
    const typename P::D d;
    const int64_t here = count - i - p * P::n;
    const auto there = hn::FirstN(d, static_cast<size_t>(here));
    const auto v = first::load(d, here, x + i + p * P::n);
    LIBDL_UNROLL
    for (int r = 0; r < kR; ++r) {
      const auto w = M::load_first(here, row[r] + i + p * P::n);
      total[r][p] = hn::IfThenElse(there, hn::MulAdd(v, w, total[r][p]), total[r][p]);
    }
  }
  LIBDL_UNROLL
  for (int r = 0; r < kR; ++r) {
    LIBDL_UNROLL
    for (int64_t p = 0; p < kPacks; ++p) P::store(total[r][p], sum[r] + p * P::n);
  }
}

template <class T, class E>
HWY_INLINE void add_rows(T (*sum)[kLanes<T>], const E* const* row, int64_t rows, const T* x,
                         int64_t count) {
  if constexpr (kLanes<T> == Pack<T>::n) {
    if (rows == 8) return add_rows<8, T, E>(sum, row, x, count);
  }
  int64_t r = 0;
  if (rows >= 4) add_rows<4, T, E>(sum, row, x, count), r = 4;
  for (; r < rows; ++r) add_rows<1, T, E>(sum + r, row + r, x, count);
}

// Merges all lanes, in the order of merge_lanes.
template <class T>
HWY_INLINE T merged(const T* sum) {
  using P = Pack<T>;
  typename P::V packs[kLanes<T> / P::n];
  for (int64_t p = 0; p < kLanes<T> / P::n; ++p) packs[p] = P::load(sum + p * P::n);
  return merge_packs<Sum, T>(packs);
}

// By rows: along k they are contiguous, or copied so that they are.
template <class T, class E>
void by_rows(const Job<T>& job, int64_t k, int64_t i0, int64_t i1, T* y) {
  constexpr int kR = 8, kCopied = 4;  // rows at once: as many as hide an addition's latency
  alignas(64) T x_copy[kX], copy[kCopied][kK];
  const bool there = job.w.k_stride == 1;
  const int64_t taken = there && kLanes<T> == Pack<T>::n ? kR : kCopied;
  const bool x_there = std::is_same_v<T, E> && job.x_stride == 1, x_fits = k <= kX;
  if (x_fits && !x_there) job.load_x(x_copy, 0, k);
  for (int64_t i = i0; i < i1; i += taken) {
    const int64_t rows = std::min(taken, i1 - i);
    alignas(64) T sum[kR][kLanes<T>] = {};
    for (int64_t k0 = 0; k0 < k; k0 += kK) {
      const int64_t count = std::min(kK, k - k0);
      const T* x = x_there ? static_cast<const T*>(job.x) + k0 : x_fits ? x_copy + k0 : x_copy;
      if (!x_there && !x_fits) job.load_x(x_copy, k0, count);
      // Rows that are contiguous in memory are read in place, others copied first.
      if (there) {
        const E* row[kR];
        for (int64_t r = 0; r < rows; ++r) {
          row[r] = reinterpret_cast<const E*>(job.element(i + r, k0));
        }
        add_rows(sum, row, rows, x, count);
        continue;
      }
      const T* row[kR];
      for (int64_t r = 0; r < rows; ++r) {
        load_tile(copy[r], job.element(i + r, k0), job.w.dtype, job.w.k_stride, count);
        row[r] = copy[r];
      }
      add_rows(sum, row, rows, x, count);
    }
    for (int64_t r = 0; r < rows; ++r) y[i - i0 + r] = merged(sum[r]);
  }
}

// A single row. With one vector of sums each addition would wait for the one before, so there are
// four: value k goes to lane k % (4 kLanes), and the four are added by halves before the lanes are.
template <class T>
T one_row(const Job<T>& job, int64_t k) {
  using P = Pack<T>;
  constexpr int64_t kL = kLanes<T>;
  const bool there = job.bytes == sizeof(T) && job.w.k_stride == 1 && job.x_stride == 1;
  alignas(64) T x_copy[kK], w_copy[kK], sum[4][kL] = {};
  for (int64_t k0 = 0; k0 < k; k0 += kK) {
    const int64_t count = std::min(kK, k - k0), padded = (count + 4 * kL - 1) / (4 * kL) * (4 * kL);
    const T* x = static_cast<const T*>(job.x) + k0;
    const T* w = static_cast<const T*>(job.w.data) + k0;
    // Copy the block, padded with zeros, unless it can be read in place.
    if (!there || count < padded) {
      job.load_x(x_copy, k0, count);
      load_tile(w_copy, job.element(0, k0), job.w.dtype, job.w.k_stride, count);
      std::fill(x_copy + count, x_copy + padded, T(0));
      std::fill(w_copy + count, w_copy + padded, T(0));
      x = x_copy, w = w_copy;
    }
    // Add its products to the four vectors of sums.
    for (int64_t p = 0; p < kL; p += P::n) {
      auto s0 = P::load(sum[0] + p), s1 = P::load(sum[1] + p);
      auto s2 = P::load(sum[2] + p), s3 = P::load(sum[3] + p);
      for (int64_t i = p; i < padded; i += 4 * kL) {
        s0 = hn::MulAdd(P::load(x + i), P::load(w + i), s0);
        s1 = hn::MulAdd(P::load(x + i + kL), P::load(w + i + kL), s1);
        s2 = hn::MulAdd(P::load(x + i + 2 * kL), P::load(w + i + 2 * kL), s2);
        s3 = hn::MulAdd(P::load(x + i + 3 * kL), P::load(w + i + 3 * kL), s3);
      }
      P::store(s0, sum[0] + p), P::store(s1, sum[1] + p);
      P::store(s2, sum[2] + p), P::store(s3, sum[3] + p);
    }
  }
  // Merge the four vectors, then the lanes.
  for (int64_t l = 0; l < kL; ++l) sum[0][l] = (sum[0][l] + sum[2][l]) + (sum[1][l] + sum[3][l]);
  return merge_lanes<Sum, T>(sum[0], kL);
}

// to[i] += x[s] w[s][i] for kS rows of w in sequence, the first at `from` and the others `stride`
// apart; x is kLanes apart. With kFetches the next row is fetched from memory: the processor
// foresees no row's beginning.
template <int kS, bool kFetches, class T, class E>
HWY_INLINE void add_columns(T* to, const E* from, int64_t stride, int64_t next, const T* x,
                            int64_t rows) {
  using P = Pack<T>;
  using M = Memory<T, E>;
  typename P::V v[kS];
  LIBDL_UNROLL
  for (int s = 0; s < kS; ++s) v[s] = P::set(x[s * kLanes<T>]);
  int64_t i = 0;
  for (; i + P::n <= rows; i += P::n) {
    auto sum = P::load(to + i);
    LIBDL_UNROLL
    for (int s = 0; s < kS; ++s) {
      if (kFetches) hwy::Prefetch(from + s * stride + next + i);
      sum = hn::MulAdd(v[s], M::load(from + s * stride + i), sum);
    }
    P::store(sum, to + i);
  }
  if (i == rows) return;
  auto sum = P::load(to + i);  // of a whole vector: kGemvRows is a multiple of it
  LIBDL_UNROLL
  for (int s = 0; s < kS; ++s) {
    sum = hn::MulAdd(v[s], M::load_first(rows - i, from + s * stride + i), sum);
  }
  P::store(sum, to + i);
}

// By contiguous columns of w: every value of k is added to its lane of all rows, several values of
// a lane at a time.
template <class T, class E>
void by_columns(const Job<T>& job, int64_t k, int64_t i0, int64_t i1, T* y) {
  using P = Pack<T>;
  constexpr int64_t kL = kLanes<T>;
  alignas(64) T sums[kL * (kGemvRows + kL)];
  alignas(64) T x[kK];
  const int64_t rows = i1 - i0, padded = (rows + P::n - 1) / P::n * P::n;
  const int64_t stride = job.w.k_stride;
  // One line more than a lane needs: lanes that are whole pages apart map to one cache set.
  const auto sum = [&](int64_t lane) { return sums + lane * (padded + kL); };
  std::fill_n(sums, kL * (padded + kL), T(0));
  const bool cached = stays_cached(job.w.rows, k, job.bytes);
  for (int64_t k0 = 0; k0 < k; k0 += kK) {
    const int64_t count = std::min(kK, k - k0);
    job.load_x(x, k0, count);
    const E* from = reinterpret_cast<const E*>(job.element(i0, k0));
    int64_t s = 0;
    const auto add = [&]<int kS, bool kFetches>() {
      for (; s + kS * kL <= count; s += kS * kL) {
        for (int64_t l = s; l < s + kL; ++l) {
          add_columns<kS, kFetches>(sum(l - s), from + l * stride, kL * stride, stride, x + l,
                                    rows);
        }
      }
    };
    if (cached) {
      add.template operator()<8, false>();
      add.template operator()<4, false>();
    }
    add.template operator()<4, true>();
    for (; s < count; ++s) {
      add_columns<1, true>(sum(s % kL), from + s * stride, 0, stride, x + s, rows);
    }
  }
  for (int64_t half = kL / 2; half > 0; half /= 2) {  // merge_lanes, for all rows
    for (int64_t l = 0; l < half; ++l) {
      for (int64_t i = 0; i < padded; i += P::n) {
        P::store(hn::Add(P::load(sum(l) + i), P::load(sum(l + half) + i)), sum(l) + i);
      }
    }
  }
  std::copy_n(sums, rows, y);
}

template <class T, class E>
void run(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0, int64_t i1,
         void* y) {
  const Job<T> job(w, x, x_stride);
  if (w.rows == 1) {
    *static_cast<T*>(y) = one_row<T>(job, k);
  } else if (w.row_stride == 1 && w.k_stride != 1) {
    by_columns<T, E>(job, k, i0, i1, static_cast<T*>(y));
  } else {
    by_rows<T, E>(job, k, i0, i1, static_cast<T*>(y));
  }
}

void gemv_on(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0,
             int64_t i1, void* y) {
  switch (w.dtype) {
    case LIBDL_DTYPE_FLOAT64: return run<double, double>(w, x, x_stride, k, i0, i1, y);
    case LIBDL_DTYPE_BFLOAT16: return run<float, Bfloat>(w, x, x_stride, k, i0, i1, y);
    case LIBDL_DTYPE_FLOAT16: return run<float, Half>(w, x, x_stride, k, i0, i1, y);
    default: return run<float, float>(w, x, x_stride, k, i0, i1, y);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void gemv(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0, int64_t i1,
          void* y) {
  LIBDL_ON_ISA(gemv_on, w, x, x_stride, k, i0, i1, y);
}

}  // namespace libdl::kernels::cpu
#endif
