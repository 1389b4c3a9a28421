// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemv.h"

#include <libdl/dtype.h>

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemv.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kK = 1024;  // values of k whose x is held at once; a multiple of the lanes

template <class T>
struct Job {
  GemvOperand w;
  const void* x;
  int64_t x_stride, bytes;
  bool direct;

  Job(const GemvOperand& operand, const void* vector, int64_t stride)
      : w(operand),
        x(vector),
        x_stride(stride),
        bytes(dtype_bytes(operand.dtype)),
        direct(operand.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64)) {}

  const char* element(int64_t i, int64_t k) const {
    return static_cast<const char*>(w.data) + (i * w.row_stride + k * w.k_stride) * bytes;
  }
  // x[k0, k0 + count).
  void load_x(T* to, int64_t k0, int64_t count) const {
    load_tile(to, static_cast<const char*>(x) + k0 * x_stride * bytes, w.dtype, x_stride, count);
  }
};

// sum[r][l] += the products of lane l, for kR rows of contiguous values.
template <int kR, class T>
HWY_INLINE void add_rows(T (*sum)[kLanes<T>], const T* const* row, const T* x, int64_t count) {
  using P = Pack<T>;
  constexpr int64_t kPacks = kLanes<T> / P::n;
  typename P::V total[kR][kPacks];
  for (int r = 0; r < kR; ++r) {
    for (int64_t p = 0; p < kPacks; ++p) total[r][p] = P::load(sum[r] + p * P::n);
  }
  int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int64_t p = 0; p < kPacks; ++p) {
      const auto v = P::load(x + i + p * P::n);
      for (int r = 0; r < kR; ++r) {
        total[r][p] = hn::MulAdd(v, P::load(row[r] + i + p * P::n), total[r][p]);
      }
    }
  }
  for (int r = 0; r < kR; ++r) {
    for (int64_t p = 0; p < kPacks; ++p) P::store(total[r][p], sum[r] + p * P::n);
    if (i == count) continue;
    // The last step: lanes without a value keep their sum.
    alignas(64) T a[kLanes<T>] = {}, b[kLanes<T>] = {}, y[kLanes<T>];
    std::copy(row[r] + i, row[r] + count, a);
    std::copy(x + i, x + count, b);
    for (int64_t p = 0; p < kPacks; ++p) {
      const int64_t at = p * P::n;
      P::store(hn::MulAdd(P::load(b + at), P::load(a + at), P::load(sum[r] + at)), y + at);
    }
    std::copy_n(y, count - i, sum[r]);
  }
}

// Rows whose k is contiguous, or is made so.
template <class T>
void by_rows(const Job<T>& job, int64_t k, int64_t i0, int64_t i1, T* y) {
  constexpr int kR = 4;
  alignas(64) T x[kK], copy[kR][kK];
  for (int64_t i = i0; i < i1; i += kR) {
    const int64_t rows = std::min<int64_t>(kR, i1 - i);
    alignas(64) T sum[kR][kLanes<T>] = {};
    for (int64_t k0 = 0; k0 < k; k0 += kK) {
      const int64_t count = std::min(kK, k - k0);
      const T* row[kR];
      job.load_x(x, k0, count);
      for (int64_t r = 0; r < rows; ++r) {
        const char* from = job.element(i + r, k0);
        const bool there = job.direct && job.w.k_stride == 1;
        if (!there) load_tile(copy[r], from, job.w.dtype, job.w.k_stride, count);
        row[r] = there ? reinterpret_cast<const T*>(from) : copy[r];
      }
      if (rows == kR) {
        add_rows<kR, T>(sum, row, x, count);
      } else {
        for (int64_t r = 0; r < rows; ++r) add_rows<1, T>(sum + r, row + r, x, count);
      }
    }
    for (int64_t r = 0; r < rows; ++r) y[i - i0 + r] = merge_lanes<Sum, T>(sum[r], kLanes<T>);
  }
}

// Columns of w are contiguous: every value of k adds to its lane of all rows.
template <class T>
void by_columns(const Job<T>& job, int64_t k, int64_t i0, int64_t i1, T* y) {
  using P = Pack<T>;
  alignas(64) T sum[kLanes<T>][kGemvRows];
  alignas(64) T x[kK];
  const int64_t rows = i1 - i0, whole = rows / P::n * P::n;
  for (auto& lane : sum) std::fill_n(lane, rows, T(0));
  for (int64_t k0 = 0; k0 < k; k0 += kK) {
    const int64_t count = std::min(kK, k - k0);
    job.load_x(x, k0, count);
    for (int64_t s = 0; s < count; ++s) {
      const T* from = reinterpret_cast<const T*>(job.element(i0, k0 + s));
      T* to = sum[s % kLanes<T>];
      const auto v = P::set(x[s]);
      int64_t i = 0;
      for (; i < whole; i += P::n) {
        P::store(hn::MulAdd(v, P::load(from + i), P::load(to + i)), to + i);
      }
      if (i == rows) continue;
      alignas(64) T a[P::n] = {}, b[P::n] = {};
      std::copy(from + i, from + rows, a);
      std::copy(to + i, to + rows, b);
      P::store(hn::MulAdd(v, P::load(a), P::load(b)), b);
      std::copy_n(b, rows - i, to + i);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    T lane[kLanes<T>];
    for (int64_t l = 0; l < kLanes<T>; ++l) lane[l] = sum[l][i];
    y[i] = merge_lanes<Sum, T>(lane, kLanes<T>);
  }
}

template <class T>
void run(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0, int64_t i1,
         void* y) {
  const Job<T> job(w, x, x_stride);
  if (job.direct && w.row_stride == 1 && w.k_stride != 1) {
    by_columns<T>(job, k, i0, i1, static_cast<T*>(y));
  } else {
    by_rows<T>(job, k, i0, i1, static_cast<T*>(y));
  }
}

void gemv_on(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0,
             int64_t i1, void* y) {
  if (w.dtype == LIBDL_DTYPE_FLOAT64) return run<double>(w, x, x_stride, k, i0, i1, y);
  run<float>(w, x, x_stride, k, i0, i1, y);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void gemv(const GemvOperand& w, const void* x, int64_t x_stride, int64_t k, int64_t i0, int64_t i1,
          void* y) {
  static constexpr decltype(&HWY_STATIC_DISPATCH(gemv_on)) kOn[] = LIBDL_FOR_EACH_ISA(gemv_on);
  kOn[static_cast<int>(isa())](w, x, x_stride, k, i0, i1, y);
}

}  // namespace libdl::kernels::cpu
#endif
