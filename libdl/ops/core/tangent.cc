// SPDX-License-Identifier: Apache-2.0

#include "ops/core/tangent.h"

#include <algorithm>

#include "ops/core/view_algebra.h"
#include "ops/primitive/bytes.h"
#include "tape/saved.h"
#include "tape/tangent.h"

namespace libdl {

// -- reading --------------------------------------------------------------------------------------

Tensor tangent_of(const Tensor& x, DualLevel& level) {
  if (!x.meta()) return {};
  const Tensor& root = tangent_root(x, level);
  const TangentCell* const cell = find_cell(root, level);
  if (!cell || !cell->value.defined()) return {};
  if (root.is(x)) return cell->value;
  if (!kViewAlgebra.share_elements(root, x)) return {};
  const TangentCell* const own = find_cell(x, level);
  if (own && own->value.defined() && own->generation == cell->generation) return own->value;
  // Derived for whoever reads it, now or later: recorded where the root's is.
  const uint32_t mode = state().mode;
  const LevelsFrom outside(level.outer, mode & kModeInference ? mode : mode | kModeGrad);
  keep_derived(x, level, kViewAlgebra.part(cell->value, root, x));
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

static Tensor none_of(const Tensor& x) { return zeros(x.shape(), x.dtype(), x.device()); }

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
    if (t.defined()) t = kViewAlgebra.cast(t, x.dtype());
    if (root.is(x) && !t.defined()) t = none_of(x);  // a dual number stays one
    if (!root.is(x)) {
      if (!kViewAlgebra.share_elements(root, x)) continue;
      t = kViewAlgebra.with_part(had ? former->value : none_of(root), root, x,
                                 t.defined() ? t : none_of(x));
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
  if (root.is(x)) return set_cell(cell_of(x, level), kViewAlgebra.cast(tangent, x.dtype()));
  if (!kViewAlgebra.share_elements(root, x)) return;
  const TangentCell* const former = find_cell(root, level);
  const bool had = former && former->value.defined();
  Tensor whole = kViewAlgebra.with_part(had ? former->value : none_of(root), root, x,
                                        kViewAlgebra.cast(tangent, x.dtype()));
  set_cell(cell_of(root, level), std::move(whole));
}

// -- saved values ---------------------------------------------------------------------------------

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
      set_cell(cell_of(value, *in.level), kViewAlgebra.fitted(t, value));
    }
  }
}

}  // namespace libdl
