// SPDX-License-Identifier: Apache-2.0

#include "ops/core/tangent.h"

#include <algorithm>

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/creation/copy.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"
#include "tape/tangent.h"

namespace libdl {

// -- views and their root -------------------------------------------------------------------------

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

static Tensor none_of(const Tensor& x) { return zeros(x.shape(), x.dtype(), x.device()); }

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

// -- reading --------------------------------------------------------------------------------------

Tensor tangent_of(const Tensor& x, DualLevel& level) {
  if (!x.meta()) return {};
  const Tensor& root = tangent_root(x, level);
  const TangentCell* const cell = find_cell(root, level);
  if (!cell || !cell->value.defined()) return {};
  if (root.is(x)) return cell->value;
  if (!share_elements(root, x)) return {};
  const TangentCell* const own = find_cell(x, level);
  if (own && own->value.defined() && own->generation == cell->generation) return own->value;
  // Derived for whoever reads it, now or later: recorded where the root's is.
  const uint32_t mode = state().mode;
  const LevelsFrom outside(level.outer, mode & kModeInference ? mode : mode | kModeGrad);
  keep_derived(x, level, seen_part(cell->value, root, x));
  return find_cell(x, level)->value;
}

Tensor tangent_of(const Tensor& x) {
  DualLevel* const level = visible_level();
  return level ? tangent_of(x, *level) : Tensor();
}

bool has_tangent(const Tensor& x) {
  for (DualLevel* level = visible_level(); level; level = level->outer)
    if (tangent_of(x, *level).defined()) return true;
  return false;
}

void keep_derived(const Tensor& y, DualLevel& level, Tensor tangent) {
  const Tensor& root = tangent_root(y, level);
  TangentCell& cell = cell_of(y, level);
  set_cell(cell, std::move(tangent));
  if (root.is(y)) return;
  if (const TangentCell* const from = find_cell(root, level)) cell.generation = from->generation;
}

std::vector<DualInputs> dual_inputs(std::span<const Tensor* const> inputs) {
  std::vector<DualInputs> found;
  for (DualLevel* level = visible_level(); level; level = level->outer) {
    DualInputs here{level, {}};
    bool any = false;
    for (const Tensor* x : inputs) {
      here.tangents.push_back(x && x->defined() ? tangent_of(*x, *level) : Tensor());
      any |= here.tangents.back().defined();
    }
    if (any) found.push_back(std::move(here));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

// -- writing --------------------------------------------------------------------------------------

Retangent::Retangent(const Tensor& x, const Tensor& y) {
  if (!is_inexact(x.dtype())) return;  // what is cast to integers has no derivative
  for (DualLevel* level = visible_level(); level; level = level->outer) {
    Tensor t = y.defined() ? tangent_of(y, *level) : Tensor();
    const Tensor& root = tangent_root(x, *level);
    const TangentCell* const former = find_cell(root, *level);
    const bool had = former && former->value.defined();
    if (!t.defined() && !had) continue;
    const LevelsFrom outside(level->outer);
    if (t.defined()) t = cast(t, x.dtype());
    if (root.is(x) && !t.defined()) t = none_of(x);  // a dual number stays one
    if (!root.is(x)) {
      if (!share_elements(root, x)) continue;
      t = with_part(had ? former->value : none_of(root), root, x, t.defined() ? t : none_of(x));
    }
    changes_.push_back({root, &cell_of(root, *level), std::move(t)});
  }
}

void Retangent::commit() noexcept {
  for (Change& change : changes_) set_cell(*change.cell, std::move(change.value));
}

void give_tangent(const Tensor& x, DualLevel& level, const Tensor& tangent) {
  if (!tangent.defined() || !is_inexact(x.dtype())) return;
  const Tensor& root = tangent_root(x, level);
  const LevelsFrom outside(level.outer);
  if (root.is(x)) return set_cell(cell_of(x, level), cast(tangent, x.dtype()));
  if (!share_elements(root, x)) return;
  const TangentCell* const former = find_cell(root, level);
  const bool had = former && former->value.defined();
  Tensor whole = with_part(had ? former->value : none_of(root), root, x, cast(tangent, x.dtype()));
  set_cell(cell_of(root, level), std::move(whole));
}

// -- saved values ---------------------------------------------------------------------------------

// A rule may have saved an input in another dtype or with its dimensions joined.
static Tensor fitted(const Tensor& t, const Tensor& value) {
  const Tensor shaped =
      same(t.shape(), value.shape()) || t.numel() != value.numel() ? t : reshape(t, value.shape());
  return cast(shaped, value.dtype());
}

void save_tangents_of(Node& node, int i, const Tensor& value) {
  for (DualLevel* level = visible_level(); level; level = level->outer)
    if (Tensor t = tangent_of(value, *level); t.defined())
      if (const Tensor carrier = saved_carrier(node, i); carrier.defined())
        set_cell(cell_of(carrier, *level), std::move(t));
}

void save_tangents(const Tensor& y, std::span<const DualInputs> inputs) {
  const Meta* const meta = y.meta();
  if (!meta || !meta->node || meta->node->accumulator) return;
  Node& node = *meta->node;
  for (int i = 0; i < node.saves; ++i) {
    const int32_t source = node.saved()[i].source;
    for (const DualInputs& in : inputs) {
      Tensor t;
      if (source >= 0 && source < static_cast<int32_t>(in.tangents.size()))
        t = in.tangents[source];
      else if (source == saved_output(meta->slot))
        t = tangent_of(y, *in.level);
      if (!t.defined()) continue;
      const Tensor value = saved_carrier(node, i);
      if (!value.defined()) continue;
      const LevelsFrom outside(in.level->outer);
      set_cell(cell_of(value, *in.level), fitted(t, value));
    }
  }
}

}  // namespace libdl
