// SPDX-License-Identifier: Apache-2.0

// One pass over the input of a reduction: how it is cut into units and parts, and how each of them
// is combined to one value per column.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PASS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PASS_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PASS_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_PASS_INL_H
#endif

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/args.h"
#include "kernels/cpu/reduction/reduce.h"
#include "kernels/cpu/reduction/reduce_across-inl.h"
#include "kernels/cpu/traverse/columns-inl.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/rows.h"
#include "kernels/cpu/traverse/transposition.h"
#include "kernels/cpu/traverse/workspaces.h"
#include "kernels/reduction_order.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kParts = 16;        // at most, of one reduction that is split among threads
constexpr int64_t kPartAcross = 480;  // rows worth a part where rows are read together, some twice
constexpr int64_t kGrain = 1 << 14;   // elements worth a chunk of their own

// A unit is computed at once: one row, or up to kWidth neighbouring columns.
template <class T>
struct Job {
  Context* context;
  const ReduceArgs* args;
  Dims kept, reduced, out;
  Load load;
  bool direct;  // elements are T: read in place where contiguous
  bool columns;
  bool split;  // a unit's values are split among threads, rather than the units
  int64_t n, rows, bytes;
  int64_t tiles, units;
  Across across;
  Workspaces<T>* workspaces = nullptr;  // of strips, where rows are read across
  const T* column_scale = nullptr;      // values are multiplied by that of their column

  Job(Context& c, const ReduceArgs& a, Load how)
      : context(&c),
        args(&a),
        kept(a.in, 0, a.in.ndim - a.reduced),
        reduced(reduced_dims(a)),
        out(a.out, 0, a.out.ndim),
        load(how),
        across(reduced) {
    n = reduced.count();
    rows = kept.count();
    bytes = dtype_bytes(a.in.dtype);
    direct = how == Load::kIdentity && is_element(a.in.dtype);
    const int64_t inner = kept.inner_size();
    columns = kept.ndim > 0 && inner >= 4 &&
              (n < 32 || std::abs(kept.inner_stride()) < std::abs(reduced.inner_stride()));
    tiles = columns ? (inner + kWidth<T> - 1) / kWidth<T> : 1;
    units = columns ? rows / inner * tiles : rows;
    split = units < 8 && n >= 4 * kBlock<T> && rows * n >= 8 * kGrain;
  }

  // If the order does not matter, elements are taken in memory order, if there is one.
  static Dims reduced_dims(const ReduceArgs& a) {
    const int32_t first = a.in.ndim - a.reduced;
    bool free = order_is_free(static_cast<Reduction>(a.op), std::is_integral_v<T>);
    for (int32_t d = first; d < a.in.ndim; ++d) free &= a.in.strides[d] != 0;
    return free ? Dims::by_stride(a.in, first, a.in.ndim) : Dims(a.in, first, a.in.ndim);
  }

  static bool is_element(int32_t dtype) {
    if constexpr (std::is_same_v<T, float>) return dtype == LIBDL_DTYPE_FLOAT32;
    if constexpr (std::is_same_v<T, double>) return dtype == LIBDL_DTYPE_FLOAT64;
    if constexpr (std::is_same_v<T, int64_t>) return dtype == LIBDL_DTYPE_INT64;
    if constexpr (std::is_same_v<T, uint64_t>) return dtype == LIBDL_DTYPE_UINT64;
    if constexpr (std::is_same_v<T, Complex>) return dtype == LIBDL_DTYPE_COMPLEX128;
    return false;
  }

  // A row lies in memory without gaps.
  bool in_order() const {
    return reduced.ndim == 0 || (reduced.ndim == 1 && reduced.strides[0] == 1);
  }
  // The first output of a unit, and how many it has.
  int64_t first(int64_t unit) const {
    return columns ? unit / tiles * kept.inner_size() + unit % tiles * kWidth<T> : unit;
  }
  int64_t width(int64_t unit) const {
    return columns ? std::min(kWidth<T>, kept.inner_size() - unit % tiles * kWidth<T>) : 1;
  }
  const char* base(int64_t unit) const { return at(args->in, kept.offset(first(unit)), bytes); }

  // Reads and converts count values `stride` apart; the other form: those of a row from index r on.
  void fetch(T* tile, const char* data, int64_t stride, int64_t count) const {
    if constexpr (std::is_same_v<T, double>) {
      if (load == Load::kModulus || (load == Load::kPower && is_complex())) {
        Complex z[64];
        for (int64_t i = 0; i < count; i += 64) {
          const int64_t run = std::min<int64_t>(64, count - i);
          load_tile(z, data + i * stride * bytes, args->in.dtype, stride, run);
          for (int64_t k = 0; k < run; ++k) tile[i + k] = std::hypot(z[k].real(), z[k].imag());
        }
        power(tile, count);
        scale(tile, count);
        return;
      }
    }
    if constexpr (std::is_same_v<T, int64_t>) {
      if (load == Load::kTruth) return fetch_truth(tile, data, stride, count);
    }
    load_tile(tile, data, args->in.dtype, stride, count);
    power(tile, count);
    scale(tile, count);
  }
  // The same job with values times what `by` has for each column of a unit.
  Job scaled(const T* by) const {
    Job job = *this;
    job.direct = false, job.column_scale = by;
    return job;
  }
  // Values are the elements, maybe in another dtype.
  bool as_they_are() const { return load == Load::kIdentity && column_scale == nullptr; }
  void fetch_truth(int64_t* tile, const char* data, int64_t stride, int64_t count) const {
    uint8_t truth[512];
    for (int64_t i = 0; i < count; i += 512) {
      const int64_t run = std::min<int64_t>(512, count - i);
      load_tile(truth, data + i * stride * bytes, args->in.dtype, stride, run);
      std::copy_n(truth, run, tile + i);
    }
  }
  void fetch_row(T* tile, const char* data, int64_t r, int64_t count) const {
    const int64_t inner = reduced.inner_size();
    while (count > 0) {
      const int64_t run = std::min(count, inner - r % inner);
      fetch(tile, data + reduced.offset(r) * bytes, reduced.inner_stride(), run);
      tile += run, r += run, count -= run;
    }
  }
  bool is_complex() const {
    return args->in.dtype == LIBDL_DTYPE_COMPLEX64 || args->in.dtype == LIBDL_DTYPE_COMPLEX128;
  }
  void power(T* tile, int64_t count) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (load != Load::kPower) return;
      for (int64_t i = 0; i < count; ++i) {
        tile[i] = static_cast<T>(std::pow(static_cast<double>(std::abs(tile[i])), args->number));
      }
    }
  }
  void scale(T* tile, int64_t count) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (column_scale == nullptr) return;
      const hn::ScalableTag<T> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      const auto same = hn::Set(d, *column_scale);
      int64_t i = 0;
      for (; i + lanes <= count; i += lanes) {
        const auto factor = columns ? hn::LoadU(d, column_scale + i) : same;
        hn::StoreU(hn::Mul(hn::LoadU(d, tile + i), factor), d, tile + i);
      }
      for (; i < count; ++i) tile[i] *= column_scale[columns ? i : 0];
    }
  }
};

template <class C>
HWY_INLINE auto extreme(auto a, auto b) {
  return std::is_same_v<C, Max> ? hn::Max(a, b) : hn::Min(a, b);
}

// The extremum of count >= 1 contiguous integers: their order does not matter, and they are
// compared in their own width.
template <class C, class E>
HWY_INLINE E narrow_extremum(const E* x, int64_t count) {
  const hn::ScalableTag<E> d;
  constexpr int64_t kN = hn::MaxLanes(d), kPacks = 4;
  E best = x[0];
  int64_t i = 0;
  if (count >= kN) {
    auto top = hn::LoadU(d, x);
    auto top1 = top, top2 = top, top3 = top;
    for (; i + kPacks * kN <= count; i += kPacks * kN) {
      top = extreme<C>(top, hn::LoadU(d, x + i));
      top1 = extreme<C>(top1, hn::LoadU(d, x + i + kN));
      top2 = extreme<C>(top2, hn::LoadU(d, x + i + 2 * kN));
      top3 = extreme<C>(top3, hn::LoadU(d, x + i + 3 * kN));
    }
    for (; i + kN <= count; i += kN) top = extreme<C>(top, hn::LoadU(d, x + i));
    // The last vector may overlap what was seen.
    top = extreme<C>(extreme<C>(top, top1), extreme<C>(top2, top3));
    top = extreme<C>(top, hn::LoadU(d, x + count - kN));
    E lane[kN];
    hn::StoreU(top, d, lane);
    for (const E y : lane) best = C::template one<E>(best, y);
    return best;
  }
  for (; i < count; ++i) best = C::template one<E>(best, x[i]);
  return best;
}

// The same by columns, for n >= 1 rows `apart` elements apart; from column c on, in vectors of at
// most kMost. Returns how many columns are done.
template <size_t kMost, class C, class E>
HWY_INLINE int64_t narrow_columns(const E* x, int64_t apart, int64_t n, int64_t c, int64_t width,
                                  E* best) {
  const hn::CappedTag<E, kMost> d;
  constexpr int64_t kN = hn::MaxLanes(d);
  for (; c + kN <= width; c += kN) {
    const E* row = x + c;
    auto top = hn::LoadU(d, row);
    for (int64_t r = 1; r < n; ++r) top = extreme<C>(top, hn::LoadU(d, row += apart));
    hn::StoreU(top, d, best + c);
  }
  return c;
}

// The extrema of a unit's integers E; false if they are not contiguous.
template <class C, class E, class T>
bool narrow_unit(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, bool truth, T* result) {
  const auto* x = reinterpret_cast<const E*>(job.base(unit));
  E best[kWidth<T>];
  int64_t width = 1;
  if (job.columns) {
    if (job.kept.inner_stride() != 1 || job.reduced.ndim > 1) return false;
    width = job.width(unit);
    const int64_t apart = job.reduced.ndim == 1 ? job.reduced.strides[0] : 0;
    x += r0 * apart;
    int64_t c = narrow_columns<HWY_MAX_BYTES / sizeof(E), C>(x, apart, r1 - r0, 0, width, best);
    c = narrow_columns<16 / sizeof(E), C>(x, apart, r1 - r0, c, width, best);
    narrow_columns<1, C>(x, apart, r1 - r0, c, width, best);
  } else {
    if (!job.in_order()) return false;
    best[0] = narrow_extremum<C>(x + r0, r1 - r0);
  }
  for (int64_t c = 0; c < width; ++c) result[c] = truth ? best[c] != 0 : static_cast<T>(best[c]);
  return true;
}

// Extrema of integers narrower than T, and of bools, which are treated as unsigned bytes.
template <class C, class T>
bool narrow_part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T* result) {
  if (job.direct || r1 <= r0) return false;
  const int32_t dtype = job.args->in.dtype;
  if (std::is_same_v<T, uint8_t> || dtype == LIBDL_DTYPE_BOOL) {
    return job.bytes == 1 && narrow_unit<C, uint8_t>(job, unit, r0, r1, true, result);
  }
  switch (dtype) {
    case LIBDL_DTYPE_UINT8: return narrow_unit<C, uint8_t>(job, unit, r0, r1, false, result);
    case LIBDL_DTYPE_INT8: return narrow_unit<C, int8_t>(job, unit, r0, r1, false, result);
    case LIBDL_DTYPE_INT16: return narrow_unit<C, int16_t>(job, unit, r0, r1, false, result);
    case LIBDL_DTYPE_INT32: return narrow_unit<C, int32_t>(job, unit, r0, r1, false, result);
    default: return false;
  }
}

template <class C, class M, class T>
constexpr bool is_taken_across() {
  if constexpr (HWY_TARGET == HWY_SCALAR || !std::is_floating_point_v<T>) {
    return false;
  } else {
    return std::is_same_v<C, Sum> && SummedAs<T, M>::exists;
  }
}

// The elements of T that a chunk needs where rows are read across; 0 where they are not.
template <class T>
int64_t strip_size(const Job<T>& job) {
  if constexpr (HWY_TARGET == HWY_SCALAR || !std::is_floating_point_v<T>) {
    return 0;
  } else {
    const bool across = job.across.rows != 0 && job.as_they_are();
    return across ? Strip<T>::workspace_size(job.across) : 0;
  }
}

// Values [r0, r1) of a row whose elements lie across memory; false if they are not summed so.
template <class M, class T>
bool part_across(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T parameter, T* result) {
  if (job.across.rows == 0 || !job.as_they_are() || !job.workspaces) return false;
  const char* data = job.base(unit);
  const auto fetch = [&](T* tile, int64_t r, int64_t count) {
    job.fetch_row(tile, data, r, count);
  };
  const auto by = [&](auto element) {
    const auto* from = reinterpret_cast<const decltype(element)*>(data);
    job.workspaces->with_one([&](T* workspace) {
      *result =
          sum_across<M, T>(job.across, job.reduced, from, r0, r1, parameter, fetch, workspace);
    });
    return true;
  };
  if (job.direct) return by(T());
  if constexpr (std::is_same_v<T, float>) {
    if (job.args->in.dtype == LIBDL_DTYPE_BFLOAT16) return by(StoredBfloat());
#if LIBDL_FUSED  // targets with fma have F16C too
    if (job.args->in.dtype == LIBDL_DTYPE_FLOAT16) return by(StoredHalf());
#endif
  }
  return false;
}

// Values [r0, r1) of a row.
template <class C, class M, class T>
T row_part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T parameter) {
  const char* data = job.base(unit);
  if (job.direct && job.in_order()) {
    return combine_blocks<C, M, T>(reinterpret_cast<const T*>(data) + r0, r1 - r0, parameter);
  }
  if constexpr (is_taken_across<C, M, T>()) {
    T sum;
    if (part_across<M, T>(job, unit, r0, r1, parameter, &sum)) return sum;
  }
  alignas(64) T tile[kBlock<T>];
  Tree<C, T> tree;
  for (int64_t r = r0; r < r1; r += kBlock<T>) {
    const int64_t count = std::min(kBlock<T>, r1 - r);
    job.fetch_row(tile, data, r, count);
    tree.push(combine_one_block<C, M, T>(tile, count, parameter));
  }
  return tree.result();
}

// The rows of a unit of columns, in the form that columns-inl.h expects.
template <class T>
struct UnitRows {
  const Job<T>& job;
  const char* data;
  int64_t width, stride;
  bool there;     // they can be read in place
  bool across;    // they are the columns of what is in memory
  int64_t apart;  // elements from row to row in memory, or 0: they are not evenly spaced

  UnitRows(const Job<T>& j, int64_t unit)
      : job(j),
        data(j.base(unit)),
        width(j.width(unit)),
        stride(j.kept.inner_stride()),
        there(j.direct && stride == 1),
        across(kIsVector<T> && j.direct && !there && j.reduced.ndim == 1 &&
               j.reduced.strides[0] == 1),
        apart(there && j.reduced.ndim == 1 ? j.reduced.strides[0] : 0) {}
  const T* operator()(int64_t r, T* tile) const {
    const char* from = data + job.reduced.offset(r) * job.bytes;
    if (there) return reinterpret_cast<const T*>(from);
    job.fetch(tile, from, stride, width);
    return tile;
  }
  void transpose(int64_t r0, int64_t n, T* tile) const {
    transposer(sizeof(T))(data + r0 * job.bytes, stride * job.bytes, width, n, tile, kWidth<T>);
  }
};

// The same for elements S that are converted to T as they are loaded.
template <class T, class S>
struct StoredRows {
  const Job<T>& job;
  const S* data;
  int64_t width;
  int64_t apart;

  StoredRows(const Job<T>& j, int64_t unit)
      : job(j),
        data(reinterpret_cast<const S*>(j.base(unit))),
        width(j.width(unit)),
        apart(j.reduced.ndim == 1 ? j.reduced.strides[0] : 0) {}
  const S* operator()(int64_t r, T*) const { return data + job.reduced.offset(r); }
};

// False if the elements are not contiguous.
template <class C, class M, class S, class T>
bool stored_part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, const T* parameter,
                 T* result) {
  if (job.columns) {
    if (job.kept.inner_stride() != 1) return false;
    const StoredRows<T, S> rows(job, unit);
    column_part<C, M, T>(rows, r0, r1, rows.width, parameter, result);
    return true;
  }
  if (!job.in_order()) return false;
  const S* row = reinterpret_cast<const S*>(job.base(unit));
  *result = combine_blocks<C, M, T>(row + r0, r1 - r0, parameter[0]);
  return true;
}

// Sums of elements that are not T in memory, without buffers of T. (Only sums: each further
// reduction would take the compiler as long as one of T.)
template <class C, class M, class T>
bool converted_part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, const T* parameter,
                    T* result) {
  if (job.direct || !job.as_they_are()) return false;
  const auto by = [&](auto element) {
    return stored_part<C, M, decltype(element), T>(job, unit, r0, r1, parameter, result);
  };
  if constexpr (std::is_same_v<T, float> && std::is_same_v<C, Sum> && std::is_same_v<M, Identity>) {
    if (job.args->in.dtype == LIBDL_DTYPE_BFLOAT16) return by(StoredBfloat());
#if LIBDL_FUSED  // targets with fma have F16C too
    if (job.args->in.dtype == LIBDL_DTYPE_FLOAT16) return by(StoredHalf());
#endif
  }
  if constexpr (std::is_same_v<T, Complex> && std::is_same_v<C, Sum>) {
    if (job.args->in.dtype == LIBDL_DTYPE_COMPLEX64) return by(StoredComplex());
  }
  return false;
}

template <class C, class M, class T>
void part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, const T* parameter, T* result) {
  constexpr bool kExtremum = std::is_same_v<C, Max> || std::is_same_v<C, Min>;
  if constexpr (kExtremum && (std::is_same_v<T, int64_t> || std::is_same_v<T, uint8_t>)) {
    if (narrow_part<C>(job, unit, r0, r1, result)) return;
  }
  if (converted_part<C, M>(job, unit, r0, r1, parameter, result)) return;
  if (job.columns) {
    const UnitRows<T> rows(job, unit);
    column_part<C, M, T>(rows, r0, r1, rows.width, parameter, result);
  } else {
    *result = row_part<C, M, T>(job, unit, r0, r1, parameter[0]);
  }
}

// A part of a split unit has a power of two of blocks, so it is one node of the unsplit tree.
template <class T>
int64_t part_length(int64_t n, int64_t parts = kParts) {
  int64_t length = kBlock<T>;
  while (length * parts < n) length *= 2;
  return length;
}

template <class T>
int64_t parts(const Job<T>& job) {
  if (job.across.rows == 0) return kParts;
  return std::clamp<int64_t>(job.n / job.across.columns / kPartAcross, 2, kParts);
}

template <class C, class M, class T>
void split_pass(const Job<T>& job, int64_t unit, const T* parameter, T* result) {
  struct Split {
    const Job<T>* job;
    int64_t unit, length;
    const T* parameter;
    T part[kParts][kWidth<T>];
  } split{&job, unit, part_length<T>(job.n, parts(job)), parameter, {}};
  job.context->parallel((job.n + split.length - 1) / split.length,
                        [](void* arg, int64_t first, int64_t last) {
                          Split& s = *static_cast<Split*>(arg);
                          for (int64_t i = first; i < last; ++i) {
                            part<C, M, T>(*s.job, s.unit, i * s.length,
                                          std::min((i + 1) * s.length, s.job->n), s.parameter,
                                          s.part[i]);
                          }
                        },
                        &split);
  ColumnTree<C, T> tree;
  tree.width = job.width(unit);
  for (int64_t i = 0; i * split.length < job.n; ++i) tree.push(split.part[i]);
  tree.result(result);
}

template <class C, class M, class T>
void pass(const Job<T>& job, int64_t unit, const T* parameter, T* result) {
  if (job.split) {
    split_pass<C, M, T>(job, unit, parameter, result);
  } else {
    part<C, M, T>(job, unit, 0, job.n, parameter, result);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
