// SPDX-License-Identifier: Apache-2.0

#include "ops/view/view_rule.h"

#include <algorithm>

#include "device/meta.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {
struct ViewAttr {
  ViewCall call;
  Geometry from, to;
};
}  // namespace

// -- replay ---------------------------------------------------------------------------------------

// The same call on another tensor of the original's shape; recorded.
static Tensor replay(const ViewAttr& a, const Tensor& x) {
  const ViewCall& c = a.call;
  switch (c.kind) {
    case ViewCall::kPermute: return permute(x, c.dims);
    case ViewCall::kReshape: return reshape(x, a.to.shape);
    case ViewCall::kExpand: return expand(x, a.to.shape);
    case ViewCall::kSelect: return select(x, c.dim, c.start);
    case ViewCall::kSlice:
      return slice(x, c.dim, c.start, c.start + (c.length ? (c.length - 1) * c.step + 1 : 0),
                   c.step);
    case ViewCall::kDiagonal: return diagonal(x, c.start, c.dim, c.dim2);
    case ViewCall::kUnfold: return unfold(x, c.dim, c.length, c.step);
    case ViewCall::kReal: return view_as_real(x);
    case ViewCall::kComplex: return view_as_complex(contiguous(x));
    case ViewCall::kStrided: break;
  }
  return strided_gather(x, a.from, a.to);
}

// -- parts: zeros with dy in its place ------------------------------------------------------------

static void part_scatter_vjp(Backward& b) { b.set_grad(0, replay(b.attr<ViewAttr>(), b.dy())); }
static const Rule kPartScatter{"view_backward", part_scatter_vjp};

static Tensor part_scatter(const Tensor& dy, const ViewAttr& a) {
  LIBDL_OBSERVED_PART("view_backward", part_scatter(dy, a), dy);
  Call call("view_backward", {}, {&dy});
  Tensor dx = zeros(a.from.shape, dy.dtype(), dy.device());
  copy_bytes(replay(a, dx), dy);
  dx = call.done(std::move(dx), kPartScatter, a);
  if (call.forward()) call.jvp(dx, [&] { return part_scatter(call.tangent(0), a); });
  return dx;
}

// -- the rule -------------------------------------------------------------------------------------

// The same part of each sample of a batch.
static ViewAttr of_batch(const ViewAttr& a, const Backward& b) {
  ViewAttr moved = a;
  moved.from.shape = b.batched(a.from.shape);
  moved.call.dim += b.lead();
  moved.call.dim2 += b.lead();
  return moved;
}

static void view_vjp(Backward& b) {
  const ViewAttr& a = b.attr<ViewAttr>();
  const Tensor& dy = b.dy();
  switch (a.call.kind) {
    case ViewCall::kPermute: {
      const auto lead = static_cast<size_t>(b.lead());
      Shape inverse(a.call.dims.size() + lead, 0);
      for (size_t d = 0; d < a.call.dims.size(); ++d)
        inverse[static_cast<size_t>(a.call.dims[d]) + lead] = static_cast<int64_t>(d + lead);
      return b.set_grad(0, permute(dy, inverse));
    }
    case ViewCall::kReshape: {  // of its own shape it is no view of itself
      const Shape from = b.batched(a.from.shape);
      return b.set_grad(0, same(dy.shape(), from) ? dy : reshape(dy, from));
    }
    case ViewCall::kExpand: return b.set_grad(0, sum_to(dy, a.from.shape, b.lead()));
    case ViewCall::kReal: return b.set_grad(0, view_as_complex(contiguous(dy)));
    case ViewCall::kComplex: return b.set_grad(0, view_as_real(dy));
    case ViewCall::kStrided: return b.set_grad(0, strided_scatter(dy, a.from, a.to));
    case ViewCall::kUnfold: {
      // Windows over the same elements, however the input lies: as over a contiguous one.
      if (b.batch() && a.from.shape.empty()) return b.set_grad(0, sum_to(dy, {}, b.lead()));
      const Shape shape = b.batched(a.from.shape);
      const Geometry from{shape, contiguous_strides(shape), 0};
      const Geometry to = unfolded(from, a.call.dim + b.lead(), a.call.length, a.call.step);
      return b.set_grad(0, strided_scatter(dy, from, to));
    }
    default: return b.set_grad(0, part_scatter(dy, b.batch() ? of_batch(a, b) : a));
  }
}

// One rule a name, so that errors and printed graphs show the call that was made.
static const Rule& view_rule(const char* op) {
  static const Rule kRules[] = {{.name = "permute", .vjp = view_vjp, .takes_batch = true},
                                {.name = "transpose", .vjp = view_vjp, .takes_batch = true},
                                {.name = "t", .vjp = view_vjp, .takes_batch = true},
                                {.name = "movedim", .vjp = view_vjp, .takes_batch = true},
                                {.name = "view", .vjp = view_vjp, .takes_batch = true},
                                {.name = "reshape", .vjp = view_vjp, .takes_batch = true},
                                {.name = "squeeze", .vjp = view_vjp, .takes_batch = true},
                                {.name = "unsqueeze", .vjp = view_vjp, .takes_batch = true},
                                {.name = "expand", .vjp = view_vjp, .takes_batch = true},
                                {.name = "select", .vjp = view_vjp, .takes_batch = true},
                                {.name = "narrow", .vjp = view_vjp, .takes_batch = true},
                                {.name = "slice", .vjp = view_vjp, .takes_batch = true},
                                {.name = "diagonal", .vjp = view_vjp, .takes_batch = true},
                                {.name = "unfold", .vjp = view_vjp, .takes_batch = true},
                                {"as_strided", view_vjp},
                                {.name = "view_as_real", .vjp = view_vjp, .takes_batch = true},
                                {.name = "view_as_complex", .vjp = view_vjp, .takes_batch = true},
                                {"view_dtype", view_vjp}};
  for (const Rule& rule : kRules)
    if (std::string_view(rule.name) == op) return rule;
  fail(LIBDL_ERROR_INTERNAL, op, "has no rule among those of views");
}

static void record_view(const char* op, const Tensor& input, const Tensor& y, ViewAttr attr) {
  Ref<Node> node = Ref<Node>::take(make_node(view_rule(op), 1, 1, 0, std::move(attr)));
  const Tensor* const inputs[] = {&input};
  connect_inputs(*node, inputs);
  set_maker(y, std::move(node));
}

void require_dim(const char* op, const Tensor& input) {
  if (input.ndim() == 0)
    fail_argument(LIBDL_ERROR_INDEX, op, "input", "is 0-d", "a tensor with dimensions");
}

[[gnu::always_inline]] static inline bool followed(const Tensor& input, const Tensor& y,
                                                   const ViewCall& call, ViewKind kind,
                                                   ViewOrigin origin) {
  const uint32_t mode = state().mode;
  if (mode & kModeInference) return false;
  const bool recorded = mode & kModeGrad;
  track_view(y, input, kind, recorded ? origin : ViewOrigin::kNoGrad);
  if (!input.meta()) return false;
  if ((mode & kModeForward) && kind != ViewKind::kBytes)
    view_tangents(input, y, [&](const Tensor& t) {
      return replay({call, geometry_of(input), geometry_of(y)}, t);
    });
  return recorded && is_inexact(y.dtype()) && has_history(input);
}

bool follow_view(const Tensor& input, const Tensor& y, const ViewCall& call, ViewKind kind,
                 ViewOrigin origin) {
  return followed(input, y, call, kind, origin);
}

void become_view(const char* op, const Tensor& input, const Tensor& y, const ViewCall& call,
                 ViewKind kind) {
  if (followed(input, y, call, kind, ViewOrigin::kRecorded))
    record_view(op, input, y, {call, geometry_of(input), geometry_of(y)});
}

Tensor own(Tensor view) {
  Meta* const meta = view.meta();
  if (!meta || meta->view == ViewKind::kNone) return view;
  for (DualLevel* level = visible_level(); level; level = level->outer) tangent_of(view, *level);
  end_view(*meta);
  return view;
}

Tensor make_view(const char* op, const Tensor& input, const Geometry& to, const ViewCall& call,
                 ViewKind kind, Dtype dtype) {
  check_viewed(op, input);
  if (dtype == Dtype::kNone) dtype = input.dtype();
  Tensor y = alias(input, to.shape, to.strides, to.offset, dtype);
  become_view(op, input, y, call, kind);
  return y;
}

// -- geometry over geometry -----------------------------------------------------------------------

namespace {
// Room for both geometries, and where each starts in it.
struct Room {
  Tensor buffer;
  int64_t from_offset, to_offset;
};
}  // namespace

static Room room_for(const Geometry& from, const Geometry& to, Dtype dtype, Device device) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (const Geometry* g : {&from, &to}) {
    if (std::find(g->shape.begin(), g->shape.end(), 0) != g->shape.end()) continue;
    const Extent reach = extent(g->shape, g->strides, "as_strided");
    low = std::min(low, g->offset + reach.low);
    high = std::max(high, g->offset + reach.high);
  }
  if (low > high) low = high = 0;
  const int64_t length[] = {high - low + 1};
  return {zeros(length, dtype, device), from.offset - low, to.offset - low};
}

static void strided_scatter_vjp(Backward& b) {
  const ViewAttr& a = b.attr<ViewAttr>();
  b.set_grad(0, strided_gather(b.dy(), a.from, a.to));
}
static void strided_gather_vjp(Backward& b) {
  const ViewAttr& a = b.attr<ViewAttr>();
  b.set_grad(0, strided_scatter(b.dy(), a.from, a.to));
}
static const Rule kStridedScatter{"as_strided_backward", strided_scatter_vjp};
static const Rule kStridedGather{"as_strided", strided_gather_vjp};

// Elements of dy that land on one address are added in row-major order.
static void scatter_add(const Tensor& buffer, const Tensor& dy, const Geometry& to,
                        int64_t offset) {
  if (is_meta(buffer.device())) return;
  const int64_t n = buffer.numel();
  const int64_t length[] = {n}, one[] = {1};
  Tensor positions = empty(length, Dtype::kInt64);
  for (int64_t i = 0; i < n; ++i) positions.update_plain<int64_t>()[i] = i;
  positions = on_device(positions, buffer.device());
  const Tensor index = plain(alias(positions, to.shape, to.strides, offset, Dtype::kInt64));
  const Tensor source = plain(dy, buffer.dtype());
  const int64_t count[] = {dy.numel()};
  const auto flat = [&](const Tensor& x) -> kernels::View {
    return {kernel_data(x, Access::kRead), count, one, 1, static_cast<int32_t>(x.dtype())};
  };
  launch_scatter(buffer.device(), {updates(buffer), flat(source), flat(index), 0,
                                   static_cast<int32_t>(kernels::ScatterOp::kAdd)});
}

Tensor strided_scatter(const Tensor& dy, const Geometry& from, const Geometry& to) {
  LIBDL_OBSERVED_PART("as_strided_backward", strided_scatter(dy, from, to), dy);
  Call call("as_strided_backward", {}, {&dy});
  Room room = room_for(from, to, dy.dtype(), dy.device());
  const Tensor target = alias(room.buffer, to.shape, to.strides, room.to_offset, dy.dtype());
  Dtype type = dy.dtype();
  if (!overlaps_itself(target)) {
    copy_bytes(target, dy);
  } else if (dy.numel()) {
    type = summed_as(type);
    if (type != dy.dtype()) room = room_for(from, to, type, dy.device());
    scatter_add(room.buffer, dy, to, room.to_offset);
  }
  const Tensor seen = alias(room.buffer, from.shape, from.strides, room.from_offset, type);
  if (overlaps_itself(seen))
    fail(LIBDL_ERROR_AUTOGRAD, "as_strided",
         "its input overlaps itself, so the gradient of an element is not defined; take a clone()");
  Tensor dx = plain(seen, dy.dtype());
  dx = call.done(std::move(dx), kStridedScatter, ViewAttr{ViewCall(ViewCall::kStrided), from, to});
  if (call.forward()) call.jvp(dx, [&] { return strided_scatter(call.tangent(0), from, to); });
  return dx;
}

Tensor strided_gather(const Tensor& h, const Geometry& from, const Geometry& to) {
  LIBDL_OBSERVED_PART("as_strided", strided_gather(h, from, to), h);
  Call call("as_strided", {}, {&h});
  const Room room = room_for(from, to, h.dtype(), h.device());
  copy_bytes(alias(room.buffer, from.shape, from.strides, room.from_offset, h.dtype()), h);
  Tensor y = plain(alias(room.buffer, to.shape, to.strides, room.to_offset, h.dtype()));
  y = call.done(std::move(y), kStridedGather, ViewAttr{ViewCall(ViewCall::kStrided), from, to});
  if (call.forward()) call.jvp(y, [&] { return strided_gather(call.tangent(0), from, to); });
  return y;
}

Ref<Node> strided_view_node(const Geometry& from, const Geometry& to) {
  return Ref<Node>::take(
      make_node(kStridedGather, 1, 1, 0, ViewAttr{ViewCall(ViewCall::kStrided), from, to}));
}

}  // namespace libdl
