// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/columns-inl.h"
#include "kernels/cpu/exp_shifted-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

using Complex = std::complex<double>;

// How elements become values: as they are, |z| of complex ones, or |x| to the power p.
enum class Load { kPlain, kModulus, kPower };

constexpr int64_t kParts = 16;       // of one reduction that is split among threads
constexpr int64_t kGrain = 1 << 14;  // elements worth a chunk of their own

// A unit is what is computed at once: one row, or up to kWidth neighbouring columns.
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

  Job(Context& c, const ReduceArgs& a, Load how)
      : context(&c),
        args(&a),
        kept(a.in, 0, a.in.ndim - a.reduced),
        reduced(a.in, a.in.ndim - a.reduced, a.in.ndim),
        out(a.out, 0, a.out.ndim),
        load(how) {
    n = reduced.count();
    rows = kept.count();
    bytes = dtype_bytes(a.in.dtype);
    direct = how == Load::kPlain && is_element(a.in.dtype);
    const int64_t inner = kept.inner_size();
    columns = kept.ndim > 0 && inner >= 4 &&
              (n < 32 || std::abs(kept.inner_stride()) < std::abs(reduced.inner_stride()));
    tiles = columns ? (inner + kWidth<T> - 1) / kWidth<T> : 1;
    units = columns ? rows / inner * tiles : rows;
    split = units < 8 && n >= 4 * kBlock<T> && rows * n >= 8 * kGrain;
  }

  static bool is_element(int32_t dtype) {
    if constexpr (std::is_same_v<T, float>) return dtype == LIBDL_DTYPE_FLOAT32;
    if constexpr (std::is_same_v<T, double>) return dtype == LIBDL_DTYPE_FLOAT64;
    if constexpr (std::is_same_v<T, int64_t>) return dtype == LIBDL_DTYPE_INT64;
    if constexpr (std::is_same_v<T, uint64_t>) return dtype == LIBDL_DTYPE_UINT64;
    if constexpr (std::is_same_v<T, Complex>) return dtype == LIBDL_DTYPE_COMPLEX128;
    return false;
  }

  // The first output of a unit, and how many it has.
  int64_t first(int64_t unit) const {
    return columns ? unit / tiles * kept.inner_size() + unit % tiles * kWidth<T> : unit;
  }
  int64_t width(int64_t unit) const {
    return columns ? std::min(kWidth<T>, kept.inner_size() - unit % tiles * kWidth<T>) : 1;
  }
  const char* base(int64_t unit) const { return at(args->in, kept.offset(first(unit)), bytes); }

  // n values `stride` apart; of a row: those from index r on.
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
        return;
      }
    }
    load_tile(tile, data, args->in.dtype, stride, count);
    power(tile, count);
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
};

// Values [r0, r1) of a row.
template <class C, class M, class T>
T row_part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T parameter) {
  const char* data = job.base(unit);
  if (job.direct &&
      (job.reduced.ndim == 0 || (job.reduced.ndim == 1 && job.reduced.strides[0] == 1))) {
    return combine<C, M, T>(reinterpret_cast<const T*>(data) + r0, r1 - r0, parameter);
  }
  alignas(64) T tile[kBlock<T>];
  Tree<C, T> tree;
  for (int64_t r = r0; r < r1; r += kBlock<T>) {
    const int64_t count = std::min(kBlock<T>, r1 - r);
    job.fetch_row(tile, data, r, count);
    tree.push(combine_block<C, M, T>(tile, count, parameter));
  }
  return tree.result();
}

// The rows of a unit of columns, as columns-inl.h takes them.
template <class T>
struct UnitRows {
  const Job<T>& job;
  const char* data;
  int64_t width, stride;
  bool there;

  UnitRows(const Job<T>& j, int64_t unit)
      : job(j),
        data(j.base(unit)),
        width(j.width(unit)),
        stride(j.kept.inner_stride()),
        there(j.direct && stride == 1) {}
  const T* operator()(int64_t r, T* tile) const {
    const char* from = data + job.reduced.offset(r) * job.bytes;
    if (there) return reinterpret_cast<const T*>(from);
    job.fetch(tile, from, stride, width);
    return tile;
  }
};

template <class C, class M, class T>
void part(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, const T* parameter, T* result) {
  if (job.columns) {
    const UnitRows<T> rows(job, unit);
    column_part<C, M, T>(rows, r0, r1, rows.width, parameter, result);
  } else {
    *result = row_part<C, M, T>(job, unit, r0, r1, parameter[0]);
  }
}

// A part of a split unit is a power of two of blocks, hence one node of the unsplit tree.
template <class T>
int64_t part_length(int64_t n) {
  int64_t length = kBlock<T>;
  while (length * kParts < n) length *= 2;
  return length;
}

template <class C, class M, class T>
void split_pass(const Job<T>& job, int64_t unit, const T* parameter, T* result) {
  struct Split {
    const Job<T>* job;
    int64_t unit, length;
    const T* parameter;
    T part[kParts][kWidth<T>];
  } split{&job, unit, part_length<T>(job.n), parameter, {}};
  job.context->parallel(
      job.context->pool, (job.n + split.length - 1) / split.length,
      [](void* arg, int64_t first, int64_t last) {
        Split& s = *static_cast<Split*>(arg);
        for (int64_t i = first; i < last; ++i) {
          part<C, M, T>(*s.job, s.unit, i * s.length, std::min((i + 1) * s.length, s.job->n),
                        s.parameter, s.part[i]);
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

template <class T>
void norm(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const double p = job.args->number;
  const int64_t width = job.width(unit);
  if (p == 0) return pass<Sum, NotZero, T>(job, unit, none, result);
  if (p == 1) return pass<Sum, Magnitude, T>(job, unit, none, result);
  if (p == std::numeric_limits<double>::infinity()) {
    pass<Max, Magnitude, T>(job, unit, none, result);
    if (job.n == 0) std::fill_n(result, width, T(0));
    return;
  }
  if (p == -std::numeric_limits<double>::infinity()) {
    return pass<Min, Magnitude, T>(job, unit, none, result);
  }
  if (p == 2) {
    pass<Sum, Square, T>(job, unit, none, result);
    for (int64_t i = 0; i < width; ++i) result[i] = std::sqrt(result[i]);
    return;
  }
  pass<Sum, Plain, T>(job, unit, none, result);
  for (int64_t i = 0; i < width; ++i) {
    result[i] = static_cast<T>(std::pow(static_cast<double>(result[i]), 1 / p));
  }
}

template <class T>
void variance(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  T mean[kWidth<T>];
  pass<Sum, Plain, T>(job, unit, none, mean);
  for (int64_t i = 0; i < width; ++i) mean[i] /= static_cast<T>(job.n);
  pass<Sum, CentredSquare, T>(job, unit, mean, result);
  const T freedom = static_cast<T>(std::max(0.0, static_cast<double>(job.n) - job.args->number));
  for (int64_t i = 0; i < width; ++i) {
    result[i] /= freedom;
    if (job.args->root) result[i] = std::sqrt(result[i]);
  }
}

template <class T>
void logsumexp(const Job<T>& job, int64_t unit, const T* none, T* result) {
  const int64_t width = job.width(unit);
  T top[kWidth<T>], shift[kWidth<T>];
  pass<Max, Plain, T>(job, unit, none, top);
  for (int64_t i = 0; i < width; ++i) shift[i] = std::isinf(top[i]) ? 0 : top[i];
  pass<Sum, ShiftedExp, T>(job, unit, shift, result);
  for (int64_t i = 0; i < width; ++i) {
    result[i] = std::isinf(top[i]) ? top[i] : std::log(result[i]) + top[i];
  }
}

template <class T>
void values(const Job<T>& job, int64_t unit, T* result) {
  static constexpr T none[kWidth<T>] = {};
  const auto op = static_cast<Reduction>(job.args->op);
  if constexpr (std::is_same_v<T, Complex>) {
    if (op == Reduction::kProd) return pass<Prod, Plain, T>(job, unit, none, result);
    return pass<Sum, Plain, T>(job, unit, none, result);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    if (op == Reduction::kAny) return pass<Max, Plain, T>(job, unit, none, result);
    return pass<Min, Plain, T>(job, unit, none, result);
  } else {
    switch (op) {
      case Reduction::kProd:
        return pass<Prod, Plain, T>(job, unit, none, result);
      case Reduction::kMax:
        return pass<Max, Plain, T>(job, unit, none, result);
      case Reduction::kMin:
        return pass<Min, Plain, T>(job, unit, none, result);
      default:
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      switch (op) {
        case Reduction::kNorm:
          return norm(job, unit, none, result);
        case Reduction::kVar:
          return variance(job, unit, none, result);
        case Reduction::kLogsumexp:
          return logsumexp(job, unit, none, result);
        default:
          break;
      }
    }
    pass<Sum, Plain, T>(job, unit, none, result);
  }
}

template <class T>
void finish_values(const Job<T>& job, int64_t unit) {
  T result[kWidth<T>];
  values(job, unit, result);
  const View& out = job.args->out;
  if (job.out.ndim == 0) return store_tile(out.data, out.dtype, 1, result, 1);
  store_range(result, static_cast<char*>(out.data), out.dtype, dtype_bytes(out.dtype), job.out,
              job.first(unit), job.width(unit));
}

// The first extremum of [r0, r1) of every column of the unit; a NaN is the extremum.
template <class C, class T>
void locate(const Job<T>& job, int64_t unit, int64_t r0, int64_t r1, T* value, int64_t* index) {
  const char* data = job.base(unit);
  const int64_t width = job.width(unit);
  std::fill_n(value, width, C::template identity<T>());
  std::fill_n(index, width, r0);
  alignas(64) T tile[std::max(kBlock<T>, kWidth<T>)];
  if (job.columns) {
    for (int64_t r = r0; r < r1; ++r) {
      job.fetch(tile, data + job.reduced.offset(r) * job.bytes, job.kept.inner_stride(), width);
      for (int64_t c = 0; c < width; ++c) {
        const T best = C::template one<T>(value[c], tile[c]);
        const bool same = best == value[c] || value[c] != value[c];
        index[c] = same ? index[c] : r;
        value[c] = best;
      }
    }
    return;
  }
  for (int64_t r = r0; r < r1 && *value == *value; r += kBlock<T>) {
    const int64_t count = std::min(kBlock<T>, r1 - r);
    job.fetch_row(tile, data, r, count);
    const T block = combine_block<C, Plain, T>(tile, count, T(0));
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
  const int64_t parts = (job.n + split.length - 1) / split.length;
  job.context->parallel(
      job.context->pool, parts,
      [](void* arg, int64_t first, int64_t last) {
        Split& s = *static_cast<Split*>(arg);
        for (int64_t i = first; i < last; ++i) {
          locate<C, T>(*s.job, s.unit, i * s.length, std::min((i + 1) * s.length, s.job->n),
                       s.value[i], s.index[i]);
        }
      },
      &split);
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

// Contiguous rows of T, one result each.
template <class C, class T>
void plain_rows(const Job<T>& job, int64_t first, int64_t last) {
  const auto* in = static_cast<const T*>(job.args->in.data) + first * job.kept.inner_stride();
  auto* out = static_cast<T*>(job.args->out.data) + first * job.out.inner_stride();
  for (int64_t unit = first; unit < last; ++unit) {
    *out = combine<C, Plain, T>(in, job.n, T(0));
    in += job.kept.inner_stride();
    out += job.out.inner_stride();
  }
}

template <class T>
using Finish = void (*)(const Job<T>& job, int64_t first, int64_t last);

template <class T>
Finish<T> finish_for(const Job<T>& job) {
  const auto op = static_cast<Reduction>(job.args->op);
  if (op == Reduction::kArgmax || op == Reduction::kArgmin || op == Reduction::kMaxIndex ||
      op == Reduction::kMinIndex) {
    return [](const Job<T>& j, int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) finish_index<T>(j, unit);
    };
  }
  if constexpr (kIsVector<T>) {
    const bool plain =
        job.direct && !job.columns && !job.split && job.kept.ndim <= 1 && job.out.ndim <= 1 &&
        job.args->out.dtype == job.args->in.dtype &&
        (job.reduced.ndim == 0 || (job.reduced.ndim == 1 && job.reduced.strides[0] == 1));
    if (plain && op == Reduction::kSum) return plain_rows<Sum, T>;
    if (plain && op == Reduction::kMax) return plain_rows<Max, T>;
    if (plain && op == Reduction::kMin) return plain_rows<Min, T>;
  }
  return [](const Job<T>& j, int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) finish_values<T>(j, unit);
  };
}

template <class T>
void run(Context& context, const ReduceArgs& args, Load load) {
  const Job<T> job(context, args, load);
  struct Task {
    const Job<T>* job;
    Finish<T> finish;
    int64_t grain;
  } task{&job, finish_for(job), 1};
  if (job.split || job.rows * job.n < 4 * kGrain) return task.finish(job, 0, job.units);
  const int64_t each = std::max<int64_t>(1, job.n * job.rows / std::max<int64_t>(1, job.units));
  task.grain = std::max<int64_t>(1, kGrain / each);
  context.parallel(
      context.pool, (job.units + task.grain - 1) / task.grain,
      [](void* arg, int64_t first, int64_t last) {
        const Task& t = *static_cast<Task*>(arg);
        t.finish(*t.job, first * t.grain, std::min(last * t.grain, t.job->units));
      },
      &task);
}

bool is_complex(int32_t dtype) { return dtype >= LIBDL_DTYPE_COMPLEX64; }

void run_in(int32_t dtype, Context& context, const ReduceArgs& args, Load load) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32:
      return run<float>(context, args, load);
    case LIBDL_DTYPE_FLOAT64:
      return run<double>(context, args, load);
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128:
      return run<Complex>(context, args, load);
    case LIBDL_DTYPE_UINT64:
      return run<uint64_t>(context, args, load);
    default:
      return run<int64_t>(context, args, load);
  }
}

void reduce_on(Context& context, const ReduceArgs& args) {
  switch (static_cast<Reduction>(args.op)) {
    case Reduction::kAll:
    case Reduction::kAny:
      return run<uint8_t>(context, args, Load::kPlain);
    case Reduction::kNorm: {
      const double p = args.number;
      const bool power = p != 0 && p != 1 && p != 2 && !std::isinf(p);
      if (is_complex(args.in.dtype)) {
        return run<double>(context, args, power ? Load::kPower : Load::kModulus);
      }
      return run_in(args.out.dtype, context, args, power ? Load::kPower : Load::kPlain);
    }
    case Reduction::kSum:
    case Reduction::kProd:
    case Reduction::kVar:
    case Reduction::kLogsumexp:
      return run_in(args.out.dtype, context, args, Load::kPlain);
    default:
      return run_in(args.in.dtype, context, args, Load::kPlain);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void reduce(Context& context, const ReduceArgs& args) { LIBDL_ON_ISA(reduce_on, context, args); }

}  // namespace libdl::kernels::cpu
#endif
