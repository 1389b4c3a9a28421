// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"
#include "ops/reduction/reduce_plan.h"

namespace libdl {

static void refuse_empty(const Call& call, const ReducedDims& r, const Tensor& input) {
  if (r.count() == 0 && (input.numel() == 0))
    call.bad(LIBDL_ERROR_SHAPE, "input",
             "has shape " + to_string(input.shape()) + " and no element to choose from",
             "at least one element along what is reduced");
}
static void refuse_complex(const Call& call, const Tensor& input) {
  if (input.is_complex())
    call.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(input.dtype()),
             "a real dtype: complex numbers have no order");
}

// -- the value ----------------------------------------------------------------------------------

// d, which may be infinite, where an element is the largest, divided by how many are; 0 elsewhere.
// The 16-bit dtypes, in which neither a count nor its inverse need be finite, divide in float32, to
// which dtype the result is rounded before it is spread.
// d may be a batch of them.
static Tensor shares_of_ties(const Tensor& d, const Tensor& x, const Tensor& y,
                             const ReducedDims& r, Dtype dtype) {
  const Dtype wide = summed_as(d.dtype());
  Tensor same, count;
  {
    const ModeGuard off(kModeGrad | kModeForward);  // piecewise constant
    same = eq(x, r.kept(y));
    if (is_floating(x.dtype())) {  // a NaN that won
      const Tensor nan = isnan(x);
      same = add(same, nan);
    }
    count = cast(sum(same, Dims(r.reduced()), true), wide);
  }
  return pointwise(k_where, same, cast(div(cast(d, wide), count), dtype), number(0.0));
}
static void extremum_vjp(Backward& b) {
  const ReducedDims& r = b.attr<ReducedDims>();
  const Dtype dtype = b.dy().dtype();
  b.set_grad(0, shares_of_ties(r.kept(b.dy(), b), b.saved(0), b.saved(1), r, dtype));
}
static const Rule kMaxRule{.name = "amax", .vjp = extremum_vjp, .takes_batch = true};
static const Rule kMinRule{.name = "amin", .vjp = extremum_vjp, .takes_batch = true};

static Tensor extremum(const char* op, const Rule& rule, kernels::Reduction kind,
                       const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  Call call(op, into, {&input});
  refuse_complex(call, input);
  const ReducedDims r(input.shape(), call.axes("dims", dims, input.ndim()));
  refuse_empty(call, r, input);
  Tensor y = reduce(kind, input, r, keepdim, input.dtype());
  return call.done(y, rule, r, {saves_input(input, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    const Tensor& t = call.tangent(0);
    const Tensor shares = shares_of_ties(t, input, z, r, summed_as(t.dtype()));
    return sum(shares, Dims(r.reduced()), keepdim, t.dtype());
  });
}

Tensor amax_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return extremum("amax", kMaxRule, kernels::Reduction::kMax, input, dims, keepdim, into);
}
Tensor amin_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return extremum("amin", kMinRule, kernels::Reduction::kMin, input, dims, keepdim, into);
}
Tensor max_impl(const Tensor& input, Into into) {
  return extremum("max", kMaxRule, kernels::Reduction::kMax, input, {}, false, into);
}
Tensor min_impl(const Tensor& input, Into into) {
  return extremum("min", kMinRule, kernels::Reduction::kMin, input, {}, false, into);
}

// -- value and position ---------------------------------------------------------------------------

namespace {
struct ChosenAttr {
  ReducedDims dims;
  int32_t dim;
};
}  // namespace

// d, which may be infinite, where an element was chosen, else 0: [n] positions against the indices.
static Tensor where_chosen(const Tensor& d, const Tensor& indices, const ChosenAttr& a) {
  Shape shape(a.dims.shape.size(), 1);
  if (shape.empty()) return d;
  shape[a.dim] = a.dims.shape[a.dim];
  Tensor here;
  {
    const ModeGuard off(kModeGrad | kModeForward);
    const Tensor positions =
        arange(nullptr, number(a.dims.shape[a.dim]), nullptr, Dtype::kInt64, indices.device());
    here = eq(reshape(positions, shape), a.dims.kept(indices));
  }
  return pointwise(k_where, here, d, number(0.0));
}
static void chosen_vjp(Backward& b) {
  const ChosenAttr& a = b.attr<ChosenAttr>();
  b.set_grad(0, where_chosen(a.dims.kept(b.dy(), b), b.saved(0), a));
}
static const Rule kMaxDim{.name = "max", .vjp = chosen_vjp, .takes_batch = true};
static const Rule kMinDim{.name = "min", .vjp = chosen_vjp, .takes_batch = true};

static std::tuple<Tensor, Tensor> extremum_dim(const char* op, const Rule& rule,
                                               kernels::Reduction kind, const Tensor& input,
                                               int32_t dim, bool keepdim, Into values_into,
                                               Into indices_into) {
  if (static_cast<bool>(values_into) != static_cast<bool>(indices_into))
    fail_argument(LIBDL_ERROR_NULL, op, values_into ? "indices_dst" : "values_dst", "is absent",
                  "both destinations or none");
  Tensor values, indices;
  {
    Call call(op, {}, {&input});
    refuse_complex(call, input);
    const int at = call.axis("dim", dim, input.ndim());
    const int64_t dims[] = {dim};
    const ReducedDims r(input.shape(), call.axes("dim", Dims(dims), input.ndim()));
    refuse_empty(call, r, input);
    std::tie(values, indices) = reduce_with_index(kind, input, r, keepdim);
    const ChosenAttr attr{r, at};
    values = call.done(values, rule, attr, {saves_value(indices)});
    if (call.forward())
      call.jvp(values, [&] {
        return sum(where_chosen(call.tangent(0), indices, attr), Dims(r.reduced()), keepdim);
      });
  }
  if (values_into) {
    // Both destinations are checked before the first is written, and the first one while grad mode
    // is still as the caller has it.
    Call first(op, values_into, {&input});
    Call second(op, indices_into, {});
    second.check_index_result(indices.shape(), indices.device());
    if (overlap(values_into.tensor(), indices_into.tensor()) != Overlap::kNone)
      fail_argument(LIBDL_ERROR_OVERLAP, op, indices_into.name, "shares memory with values_dst",
                    "separate memory");
    values = first.done(values);
    indices = second.done(indices);
  }
  return {values, indices};
}

std::tuple<Tensor, Tensor> max_dim_impl(const Tensor& input, int32_t dim, bool keepdim,
                                        Into values_into, Into indices_into) {
  return extremum_dim("max", kMaxDim, kernels::Reduction::kMaxIndex, input, dim, keepdim,
                      values_into, indices_into);
}
std::tuple<Tensor, Tensor> min_dim_impl(const Tensor& input, int32_t dim, bool keepdim,
                                        Into values_into, Into indices_into) {
  return extremum_dim("min", kMinDim, kernels::Reduction::kMinIndex, input, dim, keepdim,
                      values_into, indices_into);
}

// -- position -------------------------------------------------------------------------------------

static Tensor position(const char* op, kernels::Reduction kind, const Tensor& input,
                       std::optional<int64_t> dim, bool keepdim, Into into) {
  Call call(op, into, {});
  refuse_complex(call, input);
  const int64_t one[] = {dim.value_or(0)};
  const auto dims = dim ? std::optional<Dims>(one) : std::nullopt;
  const ReducedDims r(input.shape(), call.axes("dim", dims, input.ndim()));
  refuse_empty(call, r, input);
  Tensor y = reduce(kind, input, r, keepdim, Dtype::kInt64);
  if (into) call.check_index_result(y.shape(), y.device());
  return call.done(std::move(y));
}
Tensor argmax_impl(const Tensor& input, std::optional<int64_t> dim, bool keepdim, Into into) {
  return position("argmax", kernels::Reduction::kArgmax, input, dim, keepdim, into);
}
Tensor argmin_impl(const Tensor& input, std::optional<int64_t> dim, bool keepdim, Into into) {
  return position("argmin", kernels::Reduction::kArgmin, input, dim, keepdim, into);
}

}  // namespace libdl
