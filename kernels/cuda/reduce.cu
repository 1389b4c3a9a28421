// SPDX-License-Identifier: Apache-2.0

// Reductions in the order of order.h. A block's threads are distributed over outputs, lanes and
// blocks of values depending on strides and sizes; what exceeds one thread block's share is cut
// into parts, whose results a second kernel merges.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/merged.h"
#include "kernels/cuda/order.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/reduce_values.h"

namespace libdl::kernels::cuda {

#ifdef LIBDL_KERNELS

// -- an output ----------------------------------------------------------------------------------

template <class T>
LIBDL_OUTLINED T finished(const Reduce& p, T x, T parameter) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (static_cast<Finish>(p.finish)) {
      case Finish::kMean: return x / static_cast<T>(p.n);
      case Finish::kRoot2: return Math<T>::sqrt(x);
      case Finish::kRoot: return static_cast<T>(::pow(static_cast<double>(x), 1 / p.number));
      case Finish::kZeroOfNone: return p.n == 0 ? T(0) : x;
      case Finish::kVar: {
        const double freedom = static_cast<double>(p.n) - p.number;
        const T variance = x / static_cast<T>(freedom > 0 ? freedom : 0.0);
        return p.root ? Math<T>::sqrt(variance) : variance;
      }
      case Finish::kLogsumexp:
        return Math<T>::isinf(parameter) ? parameter : Math<T>::log(x) + parameter;
      default: break;
    }
  }
  return x;
}

template <class T>
LIBDL_DEVICE void put(const Reduce& p, const int64_t* offset, T x, T parameter) {
  store_called(p.out, offset[1], p.out_dtype, finished(p, x, parameter));
}
template <class V>
LIBDL_DEVICE void put(const Reduce& p, const int64_t* offset, Located<V> x, Located<V>) {
  if (p.out) store_called(p.out, offset[1], p.out_dtype, x.value);
  if (p.indices) static_cast<int64_t*>(p.indices)[offset[2]] = p.n == 0 ? 0 : x.index;
}

template <class T>
LIBDL_DEVICE T parameter_of(const Reduce& p, const int64_t* offset) {
  if constexpr (std::is_floating_point_v<T>)
    return p.parameter ? static_cast<const T*>(p.parameter)[offset[3]] : T(0);
  return T{};
}

// What a thread combines: part `part` of output `unit`.
struct OutputPosition {
  ThreadPosition at;
  int64_t unit, part;
  bool there;
  int64_t offset[4];
  LIBDL_DEVICE explicit OutputPosition(const Reduce& p) : at(p.team) {
    part = blockIdx.x % p.parts;
    const int64_t tile = blockIdx.x / p.parts;
    unit = (tile * p.team.others + at.other) * p.team.width + at.x;
    there = unit < p.units;
    offsets_of(p.kept, there ? unit : 0, offset);
  }
};

template <class C, class M, bool kUsual, class T>
LIBDL_DEVICE T combined(const Reduce& p, const OutputPosition& position, T parameter) {
  using V = typename ValueOf<T>::Type;
  const int64_t blocks = (p.n + kBlock<T> - 1) / kBlock<T>;
  const int64_t first = position.part * p.chunk;
  const int64_t end = first + p.chunk < blocks ? first + p.chunk : blocks;
  const int64_t n =
      position.there ? p.n : 0;  // with as many steps: the block's threads synchronise
  return with_reader<V, kUsual>(p, position.offset[0], [&](const auto& read) {
    const auto make = [&](int64_t r) { return M::template of<T>(read(r), r, parameter, p.number); };
    return combine<C, T, std::decay_t<decltype(read)>::kAtOnce>(make, first, end, n, p.team,
                                                                position.at);
  });
}

template <class T, class C, class M, bool kUsual>
LIBDL_DEVICE void reduce_once(const Reduce& p) {
  const OutputPosition position(p);
  const T parameter = parameter_of<T>(p, position.offset);
  const T x = combined<C, M, kUsual>(p, position, parameter);
  if (!position.there || !position.at.leads()) return;
  if (p.partial) {
    static_cast<T*>(p.partial)[position.unit * p.parts + position.part] = x;
  } else {
    put(p, position.offset, x, parameter);
  }
}

// Outputs of one part: the first pass makes the parameter of the second.
template <class T, class C1, class C2, class M>
LIBDL_DEVICE void reduce_twice(const Reduce& p) {
  if (p.parameter) return reduce_once<T, C2, M, true>(p);
  const OutputPosition position(p);
  T parameter = combined<C1, Identity, true>(p, position, T(0));
  if (static_cast<Finish>(p.finish) == Finish::kVar) parameter = parameter / static_cast<T>(p.n);
  parameter = from_leader(parameter, p.team, position.at);
  const T x = combined<C2, M, true>(p, position, parameter);
  if (position.there && position.at.leads()) put(p, position.offset, x, parameter);
}

constexpr int kMergedEach = 4;  // parts that a thread takes

template <class T, class C>
LIBDL_DEVICE void merge_parts(const Reduce& p) {
  const ThreadPosition at(p.team);
  const int64_t unit = int64_t{blockIdx.x} * p.team.others + at.other;
  T x[kMergedEach];
  for (int k = 0; k < kMergedEach; ++k) {
    const int64_t part = int64_t{at.block} * kMergedEach + k;
    x[k] = unit < p.units && part < p.parts
               ? static_cast<const T*>(p.partial)[unit * p.parts + part]
               : C::template identity<T>();
  }
  const T sum = join_team<C>(C::of(C::of(x[0], x[1]), C::of(x[2], x[3])), p.team, at);
  if (unit >= p.units || !at.leads()) return;
  int64_t offset[4];
  offsets_of(p.kept, unit, offset);
  put(p, offset, sum, parameter_of<T>(p, offset));
}

// -- kernels ------------------------------------------------------------------------------------

#define REDUCTION(name, T, C, M, usual) \
  LIBDL_TEAM_KERNEL(reduce_##name, Reduce) { reduce_once<T, C, M, usual>(p); }
#define MERGE(name, T, C) \
  LIBDL_TEAM_KERNEL(merge_##name, Reduce) { merge_parts<T, C>(p); }

#define OF_NUMBERS(suffix, T)                       \
  REDUCTION(sum_##suffix, T, Sum, Identity, true)   \
  REDUCTION(prod_##suffix, T, Prod, Identity, true) \
  MERGE(sum_##suffix, T, Sum)                       \
  MERGE(prod_##suffix, T, Prod)
#define OF_ORDERED(suffix, T)                                           \
  REDUCTION(max_##suffix, T, Max, Identity, true)                       \
  REDUCTION(min_##suffix, T, Min, Identity, true)                       \
  REDUCTION(first_max_##suffix, Located<T>, First<true>, Locate, true)  \
  REDUCTION(first_min_##suffix, Located<T>, First<false>, Locate, true) \
  MERGE(max_##suffix, T, Max)                                           \
  MERGE(min_##suffix, T, Min)                                           \
  MERGE(first_max_##suffix, Located<T>, First<true>)                    \
  MERGE(first_min_##suffix, Located<T>, First<false>)
#define OF_REALS(suffix, T)                                                                       \
  REDUCTION(norm0_##suffix, T, Sum, NotZero, false)                                               \
  REDUCTION(norm1_##suffix, T, Sum, Magnitude, false)                                             \
  REDUCTION(norm2_##suffix, T, Sum, Square, true)                                                 \
  REDUCTION(norm_##suffix, T, Sum, Power, false)                                                  \
  REDUCTION(norm_max_##suffix, T, Max, Magnitude, false)                                          \
  REDUCTION(norm_min_##suffix, T, Min, Magnitude, false)                                          \
  LIBDL_TEAM_KERNEL(reduce_var_##suffix, Reduce) { reduce_twice<T, Sum, Sum, CentredSquare>(p); } \
  LIBDL_TEAM_KERNEL(reduce_logsumexp_##suffix, Reduce) { reduce_twice<T, Max, Sum, ShiftedExp>(p); }

OF_NUMBERS(f32, float)
OF_NUMBERS(f64, double)
OF_NUMBERS(i64, Int64)
OF_NUMBERS(u64, Uint64)
OF_NUMBERS(c128, Complex)
OF_ORDERED(f32, float)
OF_ORDERED(f64, double)
OF_ORDERED(i64, Int64)
OF_ORDERED(u64, Uint64)
OF_REALS(f32, float)
OF_REALS(f64, double)
REDUCTION(max_bool, Bool, Max, Identity, true)
REDUCTION(min_bool, Bool, Min, Identity, true)
MERGE(max_bool, Bool, Max)
MERGE(min_bool, Bool, Min)

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

static_assert(sizeof(Reduce) <= 4096, "a launch's parameters hold 4 KB");

// The compute type of a reduction.
enum Compute { kF32, kF64, kI64, kU64, kC128, kBool };
constexpr int32_t kBytes[] = {4, 8, 8, 8, 16, 1};

Compute compute_of(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32: return kF32;
    case LIBDL_DTYPE_FLOAT64: return kF64;
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: return kC128;
    case LIBDL_DTYPE_UINT64: return kU64;
    default: return kI64;
  }
}

// A pass's kernel for each compute type, and the one that merges its parts.
struct Pass {
  const char *kernel[6], *merge[6];
  bool located = false;
};
#define REALS(name) {"reduce_" name "_f32", "reduce_" name "_f64"}
#define NUMBERS(name, prefix)                                                      \
  {prefix name "_f32", prefix name "_f64", prefix name "_i64", prefix name "_u64", \
   prefix name "_c128"}
#define ORDERED(name, prefix)                                                               \
  {prefix name "_f32", prefix name "_f64", prefix name "_i64", prefix name "_u64", nullptr, \
   prefix name "_bool"}
#define MERGE_SUM NUMBERS("sum", "merge_")
#define MERGE_MAX ORDERED("max", "merge_")
#define MERGE_MIN ORDERED("min", "merge_")
constexpr Pass kSumPass{NUMBERS("sum", "reduce_"), MERGE_SUM};
constexpr Pass kProdPass{NUMBERS("prod", "reduce_"), NUMBERS("prod", "merge_")};
constexpr Pass kMaxPass{ORDERED("max", "reduce_"), MERGE_MAX};
constexpr Pass kMinPass{ORDERED("min", "reduce_"), MERGE_MIN};
constexpr Pass kFirstMax{ORDERED("first_max", "reduce_"), ORDERED("first_max", "merge_"), true};
constexpr Pass kFirstMin{ORDERED("first_min", "reduce_"), ORDERED("first_min", "merge_"), true};
constexpr Pass kNorm0{REALS("norm0"), MERGE_SUM};
constexpr Pass kNorm1{REALS("norm1"), MERGE_SUM};
constexpr Pass kNorm2{REALS("norm2"), MERGE_SUM};
constexpr Pass kNormP{REALS("norm"), MERGE_SUM};
constexpr Pass kNormMax{REALS("norm_max"), MERGE_MAX};
constexpr Pass kNormMin{REALS("norm_min"), MERGE_MIN};
constexpr Pass kVarPass{REALS("var"), MERGE_SUM};
constexpr Pass kLogsumexpPass{REALS("logsumexp"), MERGE_SUM};

constexpr int64_t kEnoughBlocks = 512;  // a few for each processor of any device
constexpr int64_t kMostParts = 1024;    // what one merge takes: 256 threads, 4 parts each
constexpr int64_t kMostTogether = 16;   // blocks of values that a thread block takes at once

// How one output's values and the outputs are divided among threads and blocks.
void share(Reduce& p, int64_t inner, bool columns, int lanes) {
  const int64_t values = int64_t{lanes} * kSteps * kGroups;
  const int64_t blocks = std::max<int64_t>(1, ceil_div(p.n, values));
  Team& t = p.team;
  t.width = columns ? static_cast<int32_t>(power_of_two_from(std::min<int64_t>(inner, 32))) : 1;
  t.lanes = static_cast<int32_t>(power_of_two_from(std::clamp<int64_t>(p.n, 1, lanes)));
  const int64_t capacity = std::max(kThreads, t.width * t.lanes) / (t.width * t.lanes);
  int64_t together = std::min({power_of_two_from(blocks), capacity, kMostTogether});
  const int64_t tiles = ceil_div(p.units, t.width);
  while (together > 1 && tiles * ceil_div(blocks, together) < kEnoughBlocks &&
         t.width * t.lanes * together > 2 * 32)
    together /= 2;
  t.blocks = static_cast<int32_t>(together);
  p.chunk = together;
  p.parts = ceil_div(blocks, p.chunk);
  // Longer parts if there are enough anyway; a power of two of blocks each, to keep the same tree.
  while (p.parts > 1 && (p.parts > kMostParts || tiles * p.parts >= 8 * kEnoughBlocks)) {
    p.chunk *= 2;
    p.parts = ceil_div(blocks, p.chunk);
  }
  const int64_t team = int64_t{t.width} * t.lanes * t.blocks;
  const int64_t others = std::min(power_of_two_from(tiles), std::max<int64_t>(1, kThreads / team));
  t.others = static_cast<int32_t>(std::max(others, 32 / std::min<int64_t>(team, 32)));
}

struct Reducer {
  Context& context;
  const ReduceArgs& a;
  const View &in, &out;
  Compute compute;

  int32_t kept() const { return in.ndim - a.reduced; }

  // Queues a pass. only_one_part: unless its outputs need several parts; then false.
  bool run(const Pass& pass, Finish finish, const View& to, const View& where,
           const View& parameter, bool only_one_part) const {
    const View in_kept{in.data, in.sizes, in.strides, kept(), in.dtype};
    const View* const views[4] = {&in_kept, &to, &where, &parameter};
    const View* const inside[1] = {&in};
    const Merged<4> outer(views, 0, kept());
    const Merged<1> inner(inside, kept(), in.ndim);
    Reduce p{};
    p.finish = static_cast<int32_t>(finish);
    p.in_dtype = in.dtype;
    p.out_dtype = to.dtype;
    p.root = a.root;
    p.number = a.number;
    p.ndim = inner.ndim;
    p.n = inner.count();
    p.narrow = p.n <= INT32_MAX;
    for (int d = 0; d < inner.ndim; ++d) {
      p.sizes[d] = inner.sizes[d];
      p.strides[d] = inner.strides[0][d];
    }
    const View merged[4] = {outer.view(0, in), outer.view(1, to), outer.view(2, where),
                            outer.view(3, parameter)};
    const View* shown[4];
    for (int k = 0; k < 4; ++k) shown[k] = k == 0 || merged[k].data ? &merged[k] : nullptr;
    const bool columns = outer.inner_size() > 1 && inner.ndim > 0 &&
                         std::abs(outer.inner_stride(0)) < std::abs(inner.inner_stride(0));
    bool done = true;
    each_part(shown, 4, p.kept, [&](void* const* data) {
      if (!done) return;
      p.in = data[0];
      p.out = data[1];
      p.indices = data[2];
      p.parameter = data[3];
      p.units = p.kept.numel;
      share(p, outer.inner_size(), columns, lanes_of(static_cast<size_t>(kBytes[compute])));
      done = p.parts == 1 || !only_one_part;
      if (done) queue(pass, p);
    });
    return done;
  }

  void queue(const Pass& pass, Reduce& p) const {
    const int64_t bytes = pass.located ? 16 : kBytes[compute];
    const Scratch scratch(context, p.parts > 1 ? p.units * p.parts * bytes : 0);
    p.partial = scratch.data();
    const int64_t tiles = ceil_div(p.units, int64_t{p.team.width} * p.team.others);
    launch(context, pass.kernel[compute], {tiles * p.parts, p.team.threads(), 1}, p);
    if (p.parts == 1) return;
    Team& t = p.team;
    t = {1, 1, static_cast<int32_t>(power_of_two_from(ceil_div(p.parts, 4))), 1};
    t.others = std::max(1, 64 / t.blocks);
    launch(context, pass.merge[compute], {ceil_div(p.units, t.others), t.threads(), 1}, p);
  }

  void once(const Pass& pass, Finish finish = Finish::kNothing) const {
    run(pass, finish, out, {}, {}, false);
  }
  // The first pass's results are the second's parameters.
  void twice(const Pass& first, Finish first_finish, const Pass& second, Finish finish) const {
    if (run(second, finish, out, {}, {}, true)) return;
    const Scratch scratch(context, numel(out) * kBytes[compute]);
    const DenseLike parameter(scratch.data(), out, out.ndim,
                              compute == kF32 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64);
    run(first, first_finish, parameter.view, {}, {}, false);
    run(second, finish, out, {}, parameter.view, false);
  }

  void norm() const {
    const double p = a.number;
    if (p == 0) return once(kNorm0);
    if (p == 1) return once(kNorm1);
    if (p == 2) return once(kNorm2, Finish::kRoot2);
    if (p == INFINITY) return once(kNormMax, Finish::kZeroOfNone);
    if (p == -INFINITY) return once(kNormMin);
    once(kNormP, Finish::kRoot);
  }

  void all() const {
    switch (static_cast<Reduction>(a.op)) {
      case Reduction::kSum: return once(kSumPass);
      case Reduction::kProd: return once(kProdPass);
      case Reduction::kMax:
      case Reduction::kAny: return once(kMaxPass);
      case Reduction::kMin:
      case Reduction::kAll: return once(kMinPass);
      case Reduction::kArgmax: return located(kFirstMax, {}, out);
      case Reduction::kArgmin: return located(kFirstMin, {}, out);
      case Reduction::kMaxIndex: return located(kFirstMax, out, a.indices);
      case Reduction::kMinIndex: return located(kFirstMin, out, a.indices);
      case Reduction::kNorm: return norm();
      case Reduction::kVar: return twice(kSumPass, Finish::kMean, kVarPass, Finish::kVar);
      case Reduction::kCount: return;  // is a sum, below
      case Reduction::kLogsumexp:
        return twice(kMaxPass, Finish::kNothing, kLogsumexpPass, Finish::kLogsumexp);
    }
  }
  void located(const Pass& pass, const View& values, const View& where) const {
    run(pass, Finish::kNothing, values, where, {}, false);
  }
};

Compute compute_for(const ReduceArgs& a) {
  switch (static_cast<Reduction>(a.op)) {
    case Reduction::kAll:
    case Reduction::kAny: return kBool;
    case Reduction::kNorm:  // a modulus is computed in double
      return compute_of(a.in.dtype) == kC128 ? kF64 : compute_of(a.out.dtype);
    case Reduction::kSum:
    case Reduction::kProd:
    case Reduction::kVar:
    case Reduction::kLogsumexp: return compute_of(a.out.dtype);
    default: return compute_of(a.in.dtype);
  }
}

// More reduced dimensions than a launch can hold: from a row-major copy, in which they are one.
bool is_too_deep(const ReduceArgs& a) {
  const View* const views[1] = {&a.in};
  return Merged<1>(views, a.in.ndim - a.reduced, a.in.ndim).ndim > kLaunchDims;
}

}  // namespace

// Reductions of truth values, as a sum of bools.
static void count(Context& context, const ReduceArgs& a) {
  const Scratch scratch(context, numel(a.in));
  const DenseLike truth(scratch.data(), a.in, a.in.ndim, LIBDL_DTYPE_BOOL);
  if (context.error) return;
  copy(context, {truth.view, a.in});
  ReduceArgs sum = a;
  sum.op = static_cast<int32_t>(Reduction::kSum);
  sum.in = truth.view;
  reduce(context, sum);
}

void reduce(Context& context, const ReduceArgs& a) {
  if (numel(a.out) == 0) return;
  if (static_cast<Reduction>(a.op) == Reduction::kCount) return count(context, a);
  if (is_too_deep(a)) {
    const Scratch scratch(context, numel(a.in) * dtype_bytes(a.in.dtype));
    const DenseLike dense(scratch.data(), a.in, a.in.ndim, a.in.dtype);
    if (context.error) return;
    copy(context, {dense.view, a.in});
    ReduceArgs flat = a;
    flat.in = dense.view;
    return reduce(context, flat);
  }
  Reducer{context, a, a.in, a.out, compute_for(a)}.all();
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
