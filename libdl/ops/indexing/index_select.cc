// SPDX-License-Identifier: Apache-2.0

#include "ops/indexing/index_select.h"

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/indexing/places.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {
struct SelectAttr {
  Shape shape;  // index_select: of input
  int32_t dim;
};
}  // namespace

// -- launches -------------------------------------------------------------------------------------

// From here on one row of neighbours is worth a copy of its own.
constexpr int64_t kRow = 8;

static int64_t row_length(const Tensor& x, int axis) {
  int64_t row = 1;
  for (int d = axis + 1; d < x.ndim(); ++d) row *= x.size(d);
  return row;
}

static bool has_rows(const Tensor& x, int axis) { return axis == 0 || row_length(x, axis) >= kRow; }

// The index for every element of a tensor of this shape.
static Tensor along(const Tensor& index, Dims shape, int axis) {
  Shape strides(shape.size(), 0);
  strides[axis] = index.stride(0);
  return alias(index, shape, strides, index.offset(), index.dtype());
}

// base with its dimension `axis` indexed by `index`, beside values that have it in index's length.
// The first dimension is cut off the views: it is what the index stands for. before: input of a
// change, or NULL for a read.
static void launch_rows(const Tensor* before, bool accumulate, const Tensor& base,
                        const Tensor& values, const Tensor& index, int axis) {
  if (before) begin_change(base, *before);  // may give base another form: no pointer lasts over it
  const Tensor b = moved(base, axis, 0), v = moved(values, axis, 0);
  kernels::IndexArgs args;
  args.base = {kernel_data(b, before ? Access::kUpdate : Access::kRead), b.get()->sizes() + 1,
               b.get()->strides() + 1, b.ndim() - 1, static_cast<int32_t>(b.dtype())};
  args.values = view_of(v, before ? Access::kRead : Access::kOverwrite);
  args.indices = 1;
  args.index[0] = reads(index);
  args.indexed_sizes = b.get()->sizes();
  args.indexed_strides = b.get()->strides();
  args.accumulate = accumulate;
  if (!before) return launch_index_get(base.device(), args);
  launch_index_put(base.device(), args);
}

static void read_slices(const Tensor& y, const Tensor& x, const Tensor& index, int axis) {
  if (y.numel() == 0) return;
  if (has_rows(x, axis) && row_length(x, axis) > 1)
    return launch_rows(nullptr, false, x, y, index, axis);
  const Tensor at = along(index, y.shape(), axis);
  launch_gather(y.device(), {overwrites(y), reads(x), reads(at), axis});
}

static void write_slices(const Tensor& y, const Tensor& input, const Tensor& index,
                         const Tensor& source, int axis, bool accumulate) {
  if (source.numel() == 0) return begin_change(y, input);
  if (accumulate && (adds_widely(y.dtype(), index.numel()) ||
                     is_crowded(y.dtype(), index.numel(), y.size(axis)))) {
    const Places slices{{axis}, {index}, {index.numel()}, axis, Shape(source.shape())};
    return add_to_places(y, input, source, slices);
  }
  if (has_rows(y, axis)) return launch_rows(&input, accumulate, y, source, index, axis);
  const Tensor at = along(index, source.shape(), axis);
  begin_change(y, input);
  const auto op = accumulate ? kernels::ScatterOp::kAdd : kernels::ScatterOp::kSet;
  launch_scatter(y.device(),
                 {updates(y), reads(source), reads(at), axis, static_cast<int32_t>(op)});
}

// -- checks ---------------------------------------------------------------------------------------

static Tensor checked_list(const Call& call, Into into, const Tensor& index, const Tensor& input,
                           int axis) {
  if (index.ndim() > 1)
    call.bad(LIBDL_ERROR_SHAPE, "index", "has shape " + to_string(index.shape()), "one dimension");
  return at_least_1d(
      checked_index(call, into, "index", index, input.ndim() ? input.size(axis) : 1));
}

// What has no dimensions has one place, and one value for it.
static void check_count(const Call& call, const Tensor& input, int64_t count) {
  if (input.ndim() == 0 && count != 1)
    call.bad(LIBDL_ERROR_SHAPE, "index", "has " + std::to_string(count) + " elements",
             "one, for input has no dimensions");
}

static void check_source(const Call& call, const Tensor& source, const Tensor& input, int axis,
                         int64_t count) {
  check_count(call, input, count);
  Shape wanted(input.shape());
  if (input.ndim() > 0) wanted[axis] = count;
  const bool one = input.ndim() == 0 && source.numel() == 1;
  if (!same(source.shape(), wanted) && !one)
    call.bad(LIBDL_ERROR_SHAPE, "source", "has shape " + to_string(source.shape()),
             to_string(wanted));
  if (source.dtype() != input.dtype())
    call.bad(LIBDL_ERROR_DTYPE, "source", std::string("is ") + name_of(source.dtype()),
             name_of(input.dtype()));
}

// -- index_select ---------------------------------------------------------------------------------

static void index_select_vjp(Backward& b) {
  const auto& a = b.attr<SelectAttr>();
  const Shape shape = b.batched(a.shape);
  const Tensor dx = zeros(shape, b.dy().dtype(), b.dy().device());
  if (b.batch() && a.shape.empty()) return b.set_grad(0, reshape(b.dy(), shape));
  b.set_grad(0, index_add(dx, a.dim + b.lead(), b.saved(0), b.dy(), nullptr, Into(dx)));
}
static const Rule kIndexSelect{
    .name = "index_select", .vjp = index_select_vjp, .takes_batch = true};

static Tensor selected(Call& call, const Tensor& input, int axis, const Tensor& at, Into into) {
  check_count(call, input, at.numel());
  Shape shape(input.shape());
  if (input.ndim() > 0) shape[axis] = at.numel();
  Tensor y = result_place(call, into, shape, input.dtype(), input.device(), {&input});
  read_slices(at_least_1d(y), at_least_1d(input), at, axis);
  y = call.done(std::move(y), kIndexSelect, SelectAttr{Shape(input.shape()), axis},
                {saves_value(at)});
  if (call.forward()) call.jvp(y, [&] { return index_select(call.tangent(0), axis, at); });
  return y;
}

Tensor index_select_impl(const Tensor& input, int32_t dim, const Tensor& index, Into into) {
  Call call("index_select", into, {&input});
  const int axis = call.axis("dim", dim, input.ndim());
  return selected(call, input, axis, checked_list(call, into, index, input, axis), into);
}

Tensor select_found(const Tensor& input, const Tensor& positions, Into into) {
  Call call("index_select", into, {&input});
  return selected(call, input, 0, positions, into);
}

// -- index_add, index_copy ------------------------------------------------------------------------

static void index_add_vjp(Backward& b) {
  const auto& a = b.attr<SelectAttr>();
  if (b.needs(0)) b.set_grad(0, b.dy());
  if (b.needs(1)) b.set_grad(1, index_select(b.dy(), a.dim, b.saved(0)));
}
static void index_copy_vjp(Backward& b) {
  const auto& a = b.attr<SelectAttr>();
  if (b.needs(0)) b.set_grad(0, index_fill(b.dy(), a.dim, b.saved(0), number(int64_t{0})));
  if (b.needs(1)) b.set_grad(1, index_select(b.dy(), a.dim, b.saved(0)));
}
static const Rule kIndexAdd{"index_add", index_add_vjp}, kIndexCopy{"index_copy", index_copy_vjp};

static Tensor put_slices(const Rule& rule, bool accumulate, const Tensor& input, int32_t dim,
                         const Tensor& index, const Tensor& source, Into into) {
  Call call(rule.name, into, {&input, &source});
  const int axis = call.axis("dim", dim, input.ndim());
  const Tensor at = checked_list(call, into, index, input, axis);
  check_source(call, source, input, axis, at.numel());

  Tensor y = changed_place(call, into, input, {&source});
  const Tensor out = at_least_1d(y), before = at_least_1d(input), from = at_least_1d(source);
  if (call.forward())
    call.ready_jvp(y, [&] {
      const Tensor tangents[] = {call.tangent(0), call.tangent(1)};
      const auto or_zero = [](const Tensor& t, const Tensor& x) {
        return t.defined() ? t : zeros(x.shape(), x.dtype(), x.device());
      };
      return put_slices(rule, accumulate, or_zero(tangents[0], input), axis, at,
                        or_zero(tangents[1], source), {});
    });
  call.ready(y, rule, SelectAttr{{}, axis}, {saves_value(at)});
  write_slices(out, before, at, from, axis, accumulate);
  return call.finish(std::move(y));
}

Tensor index_add_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& source,
                      const Tensor* alpha, Into into) {
  if (!alpha) return put_slices(kIndexAdd, true, input, dim, index, source, into);
  const auto bad = [&](libdl_error_code code, const std::string& found,
                       const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(code, "index_add", "alpha", found, wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  const std::optional<Tensor> whole = whole_factor(alpha, source.dtype());
  if (whole) alpha = &*whole;
  if (alpha->ndim() > 0)
    bad(LIBDL_ERROR_SHAPE, "has shape " + to_string(alpha->shape()), "a number or a 0-d tensor");
  if (!can_cast(alpha->dtype(), source.dtype()))
    bad(LIBDL_ERROR_DTYPE, std::string("is ") + name_of(alpha->dtype()), name_of(source.dtype()));
  check_number("index_add", "alpha", *alpha, source.dtype());
  const Tensor scaled = mul(source, cast(*alpha, source.dtype()));
  return put_slices(kIndexAdd, true, input, dim, index, scaled, into);
}

Tensor index_copy_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& source,
                       Into into) {
  return put_slices(kIndexCopy, false, input, dim, index, source, into);
}

// -- index_fill -----------------------------------------------------------------------------------

static void index_fill_vjp(Backward& b) {
  const auto& a = b.attr<SelectAttr>();
  if (b.needs(0)) b.set_grad(0, index_fill(b.dy(), a.dim, b.saved(0), number(int64_t{0})));
  if (!b.needs(1)) return;
  // Once for each place that was filled, however often the index names it.
  const Tensor none = zeros(b.dy().shape(), Dtype::kBool, b.dy().device());
  const Tensor filled = index_fill(none, a.dim, b.saved(0), number(true));
  b.set_grad(1, sum(pointwise(k_where, filled, b.dy(), number(0.0))));
}
static const Rule kIndexFill{"index_fill", index_fill_vjp};

Tensor index_fill_impl(const Tensor& input, int32_t dim, const Tensor& index, const Tensor& value,
                       Into into) {
  Call call("index_fill", into, {&input, &value});
  const int axis = call.axis("dim", dim, input.ndim());
  const Tensor at = checked_list(call, into, index, input, axis);
  if (value.ndim() > 0)
    call.bad(LIBDL_ERROR_SHAPE, "value", "has shape " + to_string(value.shape()),
             "a number or a 0-d tensor");
  const Tensor one =
      plain(on_device(held(call.op(), "value", value, input.dtype()), call.device()));

  Tensor y = changed_place(call, into, input, {&value});
  const Tensor out = at_least_1d(y), before = at_least_1d(input);
  Shape shape(out.shape());
  shape[axis] = at.numel();
  const Tensor from = expanded(one, shape);
  if (call.forward())
    call.ready_jvp(y, [&] {
      const Tensor tangents[] = {call.tangent(0), call.tangent(1)};
      const Tensor t =
          tangents[0].defined() ? tangents[0] : zeros(input.shape(), input.dtype(), input.device());
      return index_fill(t, axis, at, tangents[1].defined() ? tangents[1] : number(int64_t{0}));
    });
  call.ready(y, kIndexFill, SelectAttr{{}, axis}, {saves_value(at)});
  write_slices(out, before, at, from, axis, false);
  return call.finish(std::move(y));
}

}  // namespace libdl
