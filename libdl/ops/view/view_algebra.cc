// SPDX-License-Identifier: Apache-2.0

// Views as histories and tangents see them.
#include "ops/core/view_algebra.h"

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"

namespace libdl {

// -- the history of a view, from its base's -------------------------------------------------------

// A view over view_as_real(base) or view_as_complex(base) has its geometry in their elements.
static Geometry as_seen(const Tensor& base, ViewKind kind) {
  if (kind == ViewKind::kReal) return geometry_of(view_as_real(alias(base)));
  if (kind == ViewKind::kComplex) return geometry_of(view_as_complex(alias(base)));
  return geometry_of(base);
}

static void real_vjp(Backward& b) { b.set_grad(0, view_as_complex(contiguous(b.dy()))); }
static void complex_vjp(Backward& b) { b.set_grad(0, view_as_real(b.dy())); }
static const Rule kSeenReal{"view_as_real", real_vjp}, kSeenComplex{"view_as_complex", complex_vjp};

// The history of x as a view of its base, whose own is `base`: an edge of which the reference is
// taken.
static Ref<Node> view_history(const Tensor& x, Edge base) {
  const Meta& meta = *x.meta();
  Ref<Node> from = Ref<Node>::take(base.node);
  if (from && (meta.view == ViewKind::kReal || meta.view == ViewKind::kComplex)) {
    // In the elements that x counts.
    Ref<Node> seen = Ref<Node>::take(
        make_node(meta.view == ViewKind::kReal ? kSeenReal : kSeenComplex, 1, 1, 0, NoAttr{}));
    seen->edges()[0] = {from.release(), base.slot, base.dtype};
    from = std::move(seen);
    base = {nullptr, 0, x.dtype()};
  }
  Ref<Node> node = strided_view_node(as_seen(meta.base, meta.view), geometry_of(x));
  node->edges()[0] = {from.release(), base.slot, base.dtype};
  return node;
}

// -- base' = base with a part replaced ------------------------------------------------------------

namespace {
struct WriteAttr {
  Geometry base, part;
  ViewKind kind;
};
}  // namespace

// d base: dy outside of the part; d new: dy inside.
static void write_view_vjp(Backward& b) {
  const WriteAttr& a = b.attr<WriteAttr>();
  const Tensor dy = a.kind == ViewKind::kReal      ? view_as_real(contiguous(b.dy()))
                    : a.kind == ViewKind::kComplex ? view_as_complex(contiguous(b.dy()))
                                                   : b.dy();
  if (b.needs(1)) b.set_grad(1, strided_gather(dy, a.base, a.part));
  if (!b.needs(0)) return;
  const Tensor ones = full(a.part.shape, number(true), Dtype::kBool, dy.device());
  const Tensor inside = strided_scatter(ones, a.base, a.part);
  const Tensor outside = pointwise(k_where, inside, number(0.0), dy);
  b.set_grad(0, a.kind == ViewKind::kReal      ? view_as_complex(contiguous(outside))
                : a.kind == ViewKind::kComplex ? view_as_real(outside)
                                               : outside);
}
static const Rule kWriteView{"write_view", write_view_vjp};

static Ref<Node> write_node(const Tensor& x) {
  const Meta& meta = *x.meta();
  return Ref<Node>::take(make_node(
      kWriteView, 2, 1, 0, WriteAttr{as_seen(meta.base, meta.view), geometry_of(x), meta.view}));
}

// -- tangents: the root's, and the part of it that a view sees ------------------------------------

namespace {
// Two tensors over the same bytes, counted in elements that both have: the root's where it is
// complex and the view is, too, otherwise real ones.
struct Seen {
  Geometry root, view;
  bool root_in_parts, view_in_parts;
};
}  // namespace

static Geometry in_parts(const Tensor& x) {
  Geometry g = geometry_of(x);
  for (int64_t& stride : g.strides) stride *= 2;
  g.shape.push_back(2);
  g.strides.push_back(1);
  g.offset *= 2;
  return g;
}

static Seen seen_through(const Tensor& root, const Tensor& view) {
  const bool parts = root.is_complex() != view.is_complex();
  const bool root_parts = parts && root.is_complex(), view_parts = parts && view.is_complex();
  return {root_parts ? in_parts(root) : geometry_of(root),
          view_parts ? in_parts(view) : geometry_of(view), root_parts, view_parts};
}

// A view of the bytes as another dtype shares no tangent with its root.
static bool share_elements(const Tensor& root, const Tensor& view) {
  const auto real = [](Dtype d) {
    return d == Dtype::kComplex64 ? Dtype::kFloat32 : d == Dtype::kComplex128 ? Dtype::kFloat64 : d;
  };
  return real(root.dtype()) == real(view.dtype());
}

static Tensor as_parts(const Tensor& t, bool wanted) { return wanted ? view_as_real(t) : t; }
static Tensor as_whole(const Tensor& t, bool wanted) {
  return wanted ? view_as_complex(contiguous(t)) : t;
}

static bool same_elements(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.offset() == b.offset() && same(a.shape(), b.shape()) &&
         same(a.strides(), b.strides());
}

// The part of the root's tangent that x sees.
static Tensor seen_part(const Tensor& t, const Tensor& root, const Tensor& x) {
  if (same_elements(root, x)) return t;
  const Seen s = seen_through(root, x);
  return as_whole(strided_gather(as_parts(t, s.root_in_parts), s.root, s.view), s.view_in_parts);
}

// The root's tangent once x's part of it is `part`.
static Tensor with_part(const Tensor& t, const Tensor& root, const Tensor& x, const Tensor& part) {
  if (same_elements(root, x)) return part;
  const Seen s = seen_through(root, x);
  const Tensor ones = full(s.view.shape, number(true), Dtype::kBool, x.device());
  const Tensor inside = strided_scatter(ones, s.root, s.view);
  const Tensor placed = strided_scatter(as_parts(part, s.view_in_parts), s.root, s.view);
  return as_whole(pointwise(k_where, inside, placed, as_parts(t, s.root_in_parts)),
                  s.root_in_parts);
}

// A rule may have saved an input in another dtype or with its dimensions joined.
static Tensor fitted(const Tensor& t, const Tensor& value) {
  const Tensor shaped =
      same(t.shape(), value.shape()) || t.numel() != value.numel() ? t : reshape(t, value.shape());
  return cast(shaped, value.dtype());
}

const ViewAlgebra kViewAlgebra = {.history = view_history,
                                  .write = write_node,
                                  .share_elements = share_elements,
                                  .part = seen_part,
                                  .with_part = with_part,
                                  .fitted = fitted,
                                  .cast = cast};

}  // namespace libdl
