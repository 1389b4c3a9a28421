// SPDX-License-Identifier: Apache-2.0

// Elements that meet in one place, reduced to one: sums, means, products and extrema.
#include <algorithm>
#include <limits>

#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/entry/composed.h"
#include "ops/indexing/scatter.h"
#include "ops/primitive/summed.h"

namespace libdl {

using kernels::ScatterOp;

namespace {

constexpr const char* kScatterReduceName = "scatter_reduce";

enum class Reduce { kSum, kProd, kMean, kMax, kMin };

bool is_extremum(Reduce reduce) { return reduce == Reduce::kMax || reduce == Reduce::kMin; }

// -- checks ---------------------------------------------------------------------------------------

Reduce reduce_of(const char* op, std::string_view word, bool sums) {
  if (word == "sum" && sums) return Reduce::kSum;
  if (word == "prod") return Reduce::kProd;
  if (word == "mean") return Reduce::kMean;
  if (word == "amax") return Reduce::kMax;
  if (word == "amin") return Reduce::kMin;
  fail_argument(LIBDL_ERROR_VALUE, op, "reduce", "is '" + std::string(word) + "'",
                std::string(sums ? "'sum', " : "") + "'prod', 'mean', 'amax' or 'amin'");
}

void check_dtypes(const char* op, const char* name, const Tensor& input, const Tensor& src,
                  Reduce reduce) {
  const auto bad = [&](const char* which, Dtype found,
                       const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_DTYPE, op, which, std::string("is ") + name_of(found),
                  wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  const Dtype type = input.dtype();
  if (src.dtype() != type)
    bad(name, src.dtype(), std::string(name_of(type)) + ", as argument (input)");
  if (is_extremum(reduce) && (is_complex(type) || type == Dtype::kUint64))
    bad("input", type, "another dtype for extrema");
  if (reduce == Reduce::kMean && type == Dtype::kBool)
    bad("input", type, "a dtype that has a mean");
}

// index is no larger than src; what has no dimensions counts as one of size 1.
void check_source(const Tensor& index, const Tensor& src) {
  const auto size = [](const Tensor& x, int d) { return x.ndim() == 0 ? 1 : x.size(d); };
  bool fits = std::max(index.ndim(), 1) == std::max(src.ndim(), 1);
  for (int d = 0; fits && d < std::max(index.ndim(), 1); ++d) fits = size(index, d) <= size(src, d);
  if (!fits && index.numel() > 0)
    fail_argument(LIBDL_ERROR_SHAPE, kScatterReduceName, "index",
                  "has shape " + to_string(index.shape()),
                  "no larger sizes than src's " + to_string(src.shape()));
}

// -- what is reduced ------------------------------------------------------------------------------

struct Scattered {
  const Tensor& input;
  int dim;
  const Tensor &index, &src;  // of one shape, but for an empty index
  Reduce reduce;
  bool include_self;
};

// What changes no result.
Tensor neutral(Reduce reduce, Dtype dtype) {
  if (!is_extremum(reduce)) return number(int64_t{reduce == Reduce::kProd});
  const bool largest = reduce == Reduce::kMax;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_inexact(dtype)) return number(largest ? -kInfinity : kInfinity);
  if (dtype == Dtype::kBool) return number(!largest);
  const int bits = static_cast<int>(8 * size_of(dtype));
  const bool has_negatives = is_signed(dtype);
  const int64_t top = std::numeric_limits<int64_t>::max() >> (64 - bits - (has_negatives ? 0 : 1));
  return number(!largest ? top : has_negatives ? -top - 1 : int64_t{0});
}

// input, with what changes no result where only src counts.
Tensor start_of(const Scattered& s) {
  if (s.include_self) return s.input;
  return scatter(s.input, s.dim, s.index, neutral(s.reduce, s.input.dtype()));
}

Tensor total(const Scattered& s) { return scatter_add(start_of(s), s.dim, s.index, s.src); }

// -- means ----------------------------------------------------------------------------------------

Tensor as(const Tensor& x, Dtype dtype) { return cast(x, dtype); }

// Of integers rounded down. Neither a total nor a count need be representable in a narrow dtype.
Tensor mean_of(const Scattered& s) {
  const Dtype own = s.input.dtype(), wide = is_inexact(own) ? summed_as(own) : Dtype::kInt64;
  const Tensor input = as(s.input, wide), src = as(s.src, wide);
  const Tensor sums = total({input, s.dim, s.index, src, s.reduce, s.include_self});
  const Tensor own_count = number(int64_t{s.include_self}), one = number(int64_t{1});
  const Tensor count = scatter_add(full_like(detach(s.input), own_count, Dtype::kInt64, {}), s.dim,
                                   s.index, ones_like(detach(s.src), Dtype::kInt64, {}));
  const Tensor parts = maximum(count, one);
  return as(is_inexact(own) ? div(sums, as(parts, wide)) : floor_divide(sums, parts), own);
}

// -- products -------------------------------------------------------------------------------------

// In steps that go to no place twice, each of which records itself.
Tensor product_in_steps(const Scattered& s) {
  if (s.index.numel() == 0) return total(s);                 // src's gradient is 0, not none
  const Dtype own = s.input.dtype(), wide = summed_as(own);  // in 16 bits each step would round
  Tensor result = as(start_of(s), wide);
  const Tensor src = as(s.src, wide);
  const auto row = [](const Tensor& x) { return x.ndim() ? x : unsqueeze(x, 0); };
  const Tensor index = row(s.index), factors = row(src);
  if (result.ndim() == 0) return as(mul(result, select(factors, 0, 0)), own);
  for (int64_t j = 0; j < index.size(s.dim); ++j) {
    const Tensor position = narrow(index, s.dim, j, 1);
    const Tensor product = mul(gather(result, s.dim, position), narrow(factors, s.dim, j, 1));
    result = scatter(result, s.dim, position, product);
  }
  return as(result, own);
}

Tensor product_of(const Scattered& s, Into into) {
  gather(detach(s.input), s.dim, s.index);  // refuses what does not fit
  const Tensor input = as_it_was(s.input, into), src = as_it_was(s.src, into);
  const Scattered kept{input, s.dim, s.index, src, s.reduce, s.include_self};
  if (!Call(kScatterReduceName, {}, {&s.input, &s.src}).is_unrecorded())
    return product_in_steps(kept);
  return combined(kScatterReduceName, ScatterOp::kMul, start_of(s), s.dim, s.index, s.src);
}

// -- extrema --------------------------------------------------------------------------------------

struct ExtremumAttr {
  int32_t dim;
  Shape src;
};

// All that are equal to the extremum have the same part of its gradient; beside a NaN these are the
// NaNs.
Tensor same(const Tensor& x, const Tensor& extremum) {
  return logical_or(eq(x, extremum), logical_and(isnan(x), isnan(extremum)));
}

// In float32 at least: the count need not be a number of 16 bits.
Tensor divided(const Tensor& x, const Tensor& count) {
  const Dtype wide = summed_as(x.dtype());
  return cast(div(cast(x, wide), cast(count, wide)), x.dtype());
}

// Saved: which of input and of src are the extremum, how many, and the index.
void extremum_vjp(Backward& b) {
  const auto& a = b.attr<ExtremumAttr>();
  const Tensor part = divided(b.dy(), b.saved(2)), zero = number(0.0), index = b.saved(3);
  if (b.needs(0)) b.set_grad(0, where(b.saved(0), part, zero));
  if (!b.needs(1)) return;
  b.set_grad(1, index.numel() ? where(b.saved(1), gather(part, a.dim, index), zero)
                              : zeros(a.src, part.dtype(), part.device()));
}
const Rule kExtremum{"scatter_reduce", extremum_vjp};

Tensor extremum_tangent(const Tensor& t, const Tensor& t_src, const Tensor& own,
                        const Tensor& taken, const Tensor& count, const Scattered& s) {
  const Tensor zero = number(0.0);
  Tensor sum =
      t.defined() ? where(own, t, zero) : zeros(s.input.shape(), t_src.dtype(), t_src.device());
  if (t_src.defined() && s.index.numel())
    sum = scatter_add(sum, s.dim, s.index, where(taken, t_src, zero));
  return divided(sum, count);
}

Tensor extremum_of(const Scattered& s, Into into) {
  const ScatterOp op = s.reduce == Reduce::kMax ? ScatterOp::kMax : ScatterOp::kMin;
  Call call(kScatterReduceName, into, {&s.input, &s.src});
  Tensor result = combined(kScatterReduceName, op, start_of(s), s.dim, s.index, s.src);
  if (call.is_unrecorded()) return call.done(std::move(result));
  Tensor own = same(s.input, result);
  if (!s.include_self && s.index.numel()) own = scatter(own, s.dim, s.index, number(false));
  const Tensor taken = s.index.numel() ? same(s.src, gather(result, s.dim, s.index))
                                       : zeros(s.src.shape(), Dtype::kBool, s.src.device());
  const Tensor met =
      scatter_add(cast(own, Dtype::kInt64), s.dim, s.index, cast(taken, Dtype::kInt64));
  const Tensor count = maximum(met, number(int64_t{1}));
  return call.done(std::move(result), kExtremum, ExtremumAttr{s.dim, Shape(s.src.shape())},
                   {saves_value(own), saves_value(taken), saves_value(count), saves_value(s.index)},
                   [&](const Tensor&) {
                     return extremum_tangent(call.tangent(0), call.tangent(1), own, taken, count,
                                             s);
                   });
}

Tensor reduced(const Scattered& s, Into into) {
  const Tensor *const input = &s.input, *const src = &s.src;
  if (is_extremum(s.reduce)) return extremum_of(s, into);
  const Named named(kScatterReduceName);
  const Tensor y = s.reduce == Reduce::kSum    ? total(s)
                   : s.reduce == Reduce::kMean ? mean_of(s)
                                               : product_of(s, into);
  return write_result(kScatterReduceName, named(y), into, {input, src});
}

}  // namespace

Tensor scatter_reduce_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce, bool include_self, Into into) {
  const Reduce how = reduce_of(kScatterReduceName, reduce, true);
  check_dtypes(kScatterReduceName, "src", input, src, how);
  check_source(index, src);
  const int at = checked_axis(kScatterReduceName, "dim", dim, input.ndim());
  const std::optional<Tensor> part = cut(src, index);
  return rename_error(
      kScatterReduceName, {{"input", "input"}, {"index", "index"}, {"src", "src"}, {"dst", "dst"}},
      [&] { return reduced({input, at, index, part ? *part : src, how, include_self}, into); });
}

// -- index_reduce ---------------------------------------------------------------------------------

// Slice i of source goes to place index[i] along dim.
Tensor index_reduce_impl(const Tensor& input, int32_t dim, const Tensor& index,
                         const Tensor& source, std::string_view reduce, bool include_self) {
  const char* const op = "index_reduce";
  check_dtypes(op, "source", input, source, reduce_of(op, reduce, false));
  const int at = checked_axis(op, "dim", dim, input.ndim());
  if (index.ndim() > 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "index", "has shape " + to_string(index.shape()), "1-d");
  bool fits = source.ndim() == input.ndim();
  for (int d = 0; fits && d < input.ndim(); ++d)
    fits = source.size(d) == (d == at ? index.numel() : input.size(d));
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, op, "source", "has shape " + to_string(source.shape()),
                  "input's, " + to_string(input.shape()) + ", but " +
                      std::to_string(index.numel()) + " in dimension " + std::to_string(at));
  Shape along(static_cast<size_t>(input.ndim()), 1);
  if (input.ndim()) along[static_cast<size_t>(at)] = index.numel();
  const Tensor positions = expand(reshape(index, along), source.shape());
  return rename_error(op, {{"input", "input"}, {"index", "index"}, {"src", "source"}}, [&] {
    return scatter_reduce(input, at, positions, source, reduce, include_self);
  });
}

}  // namespace libdl
