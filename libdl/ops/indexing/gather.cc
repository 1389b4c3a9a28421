// SPDX-License-Identifier: Apache-2.0

// gather reads the places to which scatter_add adds: each is the other's gradient.

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/indexing/places.h"
#include "ops/indexing/scatter.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {
struct GatherAttr {
  Shape shape;  // gather: of input; scatter: of src where it is one value for all, else empty
  int32_t dim;
  bool single;  // scatter: src is one value
};
}  // namespace

// index has as many dimensions as `other`, and no larger ones but in dimension `except`; what has
// no dimensions counts as one of size 1. An empty index fits everything, as in PyTorch.
static void check_fits(const Call& call, const Tensor& index, const Tensor& other, const char* name,
                       int except) {
  const auto dims = [](const Tensor& x) { return std::max(x.ndim(), 1); };
  const auto size = [](const Tensor& x, int d) { return x.ndim() == 0 ? 1 : x.size(d); };
  const bool ranks = dims(index) == dims(other);
  bool fits = ranks;
  for (int d = 0; ranks && d < dims(index); ++d)
    fits &= d == except || size(index, d) <= size(other, d);
  if (!fits && index.numel() > 0)
    call.bad(LIBDL_ERROR_SHAPE, "index", "has shape " + to_string(index.shape()),
             "no larger sizes than " + std::string(name) + "'s " + to_string(other.shape()) +
                 (except >= 0 ? " outside dimension " + std::to_string(except) : ""));
}

// -- gather ---------------------------------------------------------------------------------------

static void gather_vjp(Backward& b) {
  const auto& a = b.attr<GatherAttr>();
  const Tensor dx = zeros(b.batched(a.shape), b.dy().dtype(), b.dy().device());
  Tensor index = b.saved(0), dy = b.dy();
  if (b.batch()) {
    if (index.numel() == 0) return b.set_grad(0, dx);  // of any rank, as there is nothing to add
    if (a.shape.empty()) return b.set_grad(0, sum_to(dy, {}, 1));  // every element is the one
    Shape shape = b.batched(index.shape());
    shape.resize(dx.shape().size(), 1);  // an index without dimensions
    index = expand(index, shape);
    dy = reshape(dy, shape);
  }
  b.set_grad(0, scatter_add(dx, a.dim + b.lead(), index, dy, Into(dx)));
}
static const Rule kGather{.name = "gather", .vjp = gather_vjp, .takes_batch = true};

Tensor gather_impl(const Tensor& input, int32_t dim, const Tensor& index, bool sparse_grad,
                   Into into) {
  Call call("gather", into, {&input});
  if (sparse_grad)
    call.bad(LIBDL_ERROR_UNSUPPORTED, "sparse_grad", "is true",
             "false: sparse gradients are not offered");
  const int axis = call.axis("dim", dim, input.ndim());
  check_fits(call, index, input, "input", axis);
  const Tensor x = at_least_1d(input);
  const Tensor where = checked_index(call, into, "index", index, x.size(axis));
  Tensor y = result_place(call, into, index.shape(), input.dtype(), input.device(), {&input});
  if (y.numel() > 0) {
    const Tensor out = at_least_1d(y), at = at_least_1d(where);
    launch_gather(y.device(), {overwrites(out), reads(x), reads(at), axis});
  }
  y = call.done(std::move(y), kGather, GatherAttr{Shape(input.shape()), axis, false},
                {saves_value(where)});
  if (call.forward()) call.jvp(y, [&] { return gather(call.tangent(0), axis, where); });
  return y;
}

static Tensor taken(const Tensor& input, const Tensor& indices, std::optional<int64_t> dim,
                    Into into) {
  if (!dim) {
    const int64_t whole[] = {-1};
    return gather(reshape(input, whole), 0, reshape(indices, whole), false, into);
  }
  const int ndim = input.ndim();
  if (indices.ndim() != ndim)
    fail_argument(LIBDL_ERROR_SHAPE, "take_along_dim", "indices",
                  "has " + std::to_string(indices.ndim()) + " dimensions", std::to_string(ndim));
  const int axis =
      Call("take_along_dim", {}, std::span<const Tensor* const>()).axis("dim", *dim, ndim);
  // Both are broadcast outside dim.
  Shape input_shape(input.shape()), index_shape(indices.shape());
  for (int d = 0; d < ndim; ++d) {
    if (d == axis) continue;
    if (input.size(d) != indices.size(d) && input.size(d) != 1 && indices.size(d) != 1)
      fail_argument(LIBDL_ERROR_SHAPE, "take_along_dim", "indices",
                    "has shape " + to_string(indices.shape()) + ", which does not broadcast with " +
                        to_string(input.shape()) + " outside dimension " + std::to_string(axis),
                    "sizes that do");
    input_shape[d] = index_shape[d] = input.size(d) == 1 ? indices.size(d) : input.size(d);
  }
  return gather(expand(input, input_shape), axis, expanded(indices, index_shape), false, into);
}

Tensor take_along_dim_impl(const Tensor& input, const Tensor& indices, std::optional<int64_t> dim,
                           Into into) {
  return rename_error("take_along_dim", {{"input", "input"}, {"index", "indices"}, {"dim", "dim"}},
                      [&] { return taken(input, indices, dim, into); });
}

// -- scatter --------------------------------------------------------------------------------------

using kernels::ScatterOp;

namespace {
struct ScatterCall {
  const char* op;
  ScatterOp combine;
  const Rule* rule;  // NULL: no gradient
};
}  // namespace

// What src receives: the result's gradient at the places it went to.
static Tensor source_gradient(const Backward& b, const GatherAttr& a) {
  const Tensor at = gather(b.dy(), a.dim, b.saved(0));
  return a.single ? sum_to(at, a.shape) : at;
}

static void scatter_vjp(Backward& b) {
  const auto& a = b.attr<GatherAttr>();
  if (b.needs(0)) b.set_grad(0, scatter(b.dy(), a.dim, b.saved(0), number(0.0)));
  if (b.needs(1)) b.set_grad(1, source_gradient(b, a));
}
static void scatter_add_vjp(Backward& b) {
  if (b.needs(0)) b.set_grad(0, b.dy());
  if (b.needs(1)) b.set_grad(1, source_gradient(b, b.attr<GatherAttr>()));
}
static const Rule kScatter{"scatter", scatter_vjp}, kScatterAdd{"scatter_add", scatter_add_vjp};

// out[index] op= src: with the last of the elements that meet in one place, their sum or product.
static void launch_scattered(const Tensor& out, const Tensor& src, const Tensor& index, int dim,
                             ScatterOp combine) {
  launch_scatter(out.device(),
                 {updates(out), reads(src), reads(index), dim, static_cast<int32_t>(combine)});
}

// For each element of index, the position in a row-major tensor of this shape that it names.
static Tensor positions_of(const Tensor& index, Dims shape, int dim) {
  const Shape strides = contiguous_strides(shape);
  Tensor at = mul(from_start(index, shape[dim]), number(strides[dim]));
  for (int d = 0; d < index.ndim(); ++d) {
    if (d == dim || index.size(d) == 1) continue;
    Shape along(shape.size(), 1);
    along[d] = index.size(d);
    const Tensor steps =
        arange(nullptr, number(index.size(d)), nullptr, Dtype::kInt64, index.device());
    at = add(at, mul(reshape(steps, along), number(strides[d])));
  }
  const int64_t whole[] = {-1};
  return reshape(at, whole);
}

// Elements of 16 bits, combined in float32 and rounded once. All of `before`, or, where most of it
// stays as it is, one number for each place that is named.
static void combine_widely(const Tensor& out, const Tensor& before, const Tensor& src,
                           const Tensor& index, int dim, ScatterOp combine) {
  constexpr int64_t kFew = 16;
  const Dtype wide = summed_as(out.dtype());
  const Tensor terms = plain(src, wide);
  if (out.numel() / kFew <= index.numel()) {
    const Tensor all = plain(before, wide);
    launch_scattered(all, terms, index, dim, combine);
    return copy_bytes(out, all);
  }
  const int64_t whole[] = {index.numel()};
  const Tensor held = empty(index.shape(), out.dtype(), out.device());
  launch_gather(out.device(), {overwrites(held), reads(before), reads(index), dim});
  const Tensor number = numbered(positions_of(index, before.shape(), dim));
  const Tensor start = reshape(plain(held, wide), whole), made = empty(whole, wide, out.device());
  launch_scattered(made, start, number, 0, ScatterOp::kSet);
  launch_scattered(made, reshape(terms, whole), number, 0, combine);
  launch_gather(out.device(), {overwrites(start), reads(made), reads(number), 0});
  const Tensor rounded = reshape(plain(start, out.dtype()), index.shape());
  begin_change(out, before);
  launch_scattered(out, rounded, index, dim, ScatterOp::kSet);
}

// x with `dim` cut to `count` runs of `run`, two dimensions.
static Tensor in_runs(const Tensor& x, int dim, int64_t count, int64_t run) {
  Shape sizes(x.shape()), strides(x.strides());
  sizes[dim] = run;
  sizes.insert(dim, count);
  strides.insert(dim, run * x.stride(dim));
  return alias(x, sizes, strides, x.offset(), x.dtype());
}

// Many to a place, as in add_to_places.
static void add_in_runs(const Tensor& out, const Tensor& before, const Tensor& src,
                        const Tensor& index, int dim) {
  const Dtype wide = summed_as(out.dtype());
  const Tensor terms = plain(src, wide), rest = empty(before.shape(), wide, out.device());
  copy_bytes(rest, before);
  const int64_t length = index.size(dim), run = run_of(out.size(dim)), runs = length / run;
  if (const int64_t more = length % run; more > 0)
    launch_scattered(rest, narrow(terms, dim, length - more, more),
                     narrow(index, dim, length - more, more), dim, ScatterOp::kAdd);
  Shape shape(out.shape());
  shape.insert(dim, runs);
  const Tensor parts = zeros(shape, wide, out.device());
  launch_scattered(parts, in_runs(terms, dim, runs, run), in_runs(index, dim, runs, run), dim + 1,
                   ScatterOp::kAdd);
  const int64_t across[] = {dim};
  copy_bytes(out, add(rest, sum(parts, Dims(across))));
}

static bool combines_widely(Dtype dtype, ScatterOp combine, int64_t meeting) {
  return (combine == ScatterOp::kAdd || combine == ScatterOp::kMul) && adds_widely(dtype, meeting);
}

std::optional<Tensor> cut(const Tensor& src, const Tensor& index) {
  if (src.ndim() == 0 || src.ndim() != index.ndim() || same(src.shape(), index.shape())) return {};
  Tensor part = src;
  for (int d = 0; d < src.ndim(); ++d) {
    if (index.size(d) > src.size(d)) return {};
    part = narrow(part, d, 0, index.size(d));
  }
  return part;
}

static Tensor scatter_by(const ScatterCall& s, const Tensor& input, int32_t dim,
                         const Tensor& index, const Tensor& src, Into into) {
  if (const auto part = cut(src, index)) return scatter_by(s, input, dim, index, *part, into);

  Call call(s.op, into, {&input, &src});
  const int axis = call.axis("dim", dim, input.ndim());
  check_fits(call, index, input, "input", axis);
  const bool single = src.is_number() || (src.ndim() == 0 && index.ndim() > 0);
  if (!single) check_fits(call, index, src, "src", -1);
  if (call.recording() && !s.rule)
    call.bad(LIBDL_ERROR_AUTOGRAD, "reduce", "has no gradient, and one is needed",
             "\"add\" or none, or no_grad()");
  const Tensor values = value_like(call, "src", src, input.dtype());
  const Tensor where = checked_index(call, into, "index", index, at_least_1d(input).size(axis));

  Tensor y = changed_place(call, into, input, {&src});
  const Tensor out = at_least_1d(y), before = at_least_1d(input), at = at_least_1d(where);
  const Tensor from = single ? expanded(values.is_number() ? plain(values) : values, at.shape())
                             : at_least_1d(values);
  const bool widely = combines_widely(y.dtype(), s.combine, index.numel() ? at.size(axis) : 0);
  if (call.forward()) {
    if (!s.rule)
      call.bad(LIBDL_ERROR_AUTOGRAD, "reduce", "has no forward derivative", "\"add\" or none");
    call.ready_jvp(y, [&] {
      const Tensor tangents[] = {call.tangent(0), call.tangent(1)};
      Tensor t =
          tangents[0].defined() ? tangents[0] : zeros(input.shape(), input.dtype(), input.device());
      if (!tangents[1].defined() && s.combine == ScatterOp::kAdd) return t;
      return scatter_by(s, t, axis, where, tangents[1].defined() ? tangents[1] : number(int64_t{0}),
                        {});
    });
  }
  if (s.rule)
    call.ready(y, *s.rule, GatherAttr{Shape(src.shape()), axis, single}, {saves_value(where)});
  else
    call.ready(y);
  if (s.combine == ScatterOp::kAdd && index.numel() / 64 >= out.numel() && out.numel() > 0 &&
      is_crowded(y.dtype(), at.size(axis), out.size(axis))) {
    add_in_runs(out, before, from, at, axis);
  } else if (widely) {
    combine_widely(out, before, from, at, axis, s.combine);
  } else {
    begin_change(out, before);
    if (index.numel() > 0) launch_scattered(out, from, at, axis, s.combine);
  }
  return call.finish(std::move(y));
}

Tensor scatter_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& src,
                    std::optional<std::string_view> reduce, Into into) {
  static constexpr ScatterCall kSet{"scatter", ScatterOp::kSet, &kScatter};
  static constexpr ScatterCall kSum{"scatter", ScatterOp::kAdd, &kScatterAdd};
  static constexpr ScatterCall kProduct{"scatter", ScatterOp::kMul, nullptr};
  if (reduce && *reduce != "add" && *reduce != "multiply")
    fail_argument(LIBDL_ERROR_VALUE, "scatter", "reduce", "is \"" + std::string(*reduce) + "\"",
                  "\"add\", \"multiply\" or none");
  const ScatterCall& s = !reduce ? kSet : *reduce == "add" ? kSum : kProduct;
  return scatter_by(s, input, dim, index, src, into);
}

Tensor scatter_add_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& src,
                        Into into) {
  static constexpr ScatterCall kSum{"scatter_add", ScatterOp::kAdd, &kScatterAdd};
  return scatter_by(kSum, input, dim, index, src, into);
}

Tensor combined(const char* op, ScatterOp combine, const Tensor& input, int32_t dim,
                const Tensor& index, const Tensor& src) {
  return scatter_by({op, combine, nullptr}, input, dim, index, src, {});
}

}  // namespace libdl
