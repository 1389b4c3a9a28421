// SPDX-License-Identifier: Apache-2.0

#include "ops/view/fit.h"

#include "base/lock.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

namespace {
struct FitAttr {
  Shape shape;
  Dtype dtype;
};
}  // namespace

static void fit_vjp(Backward& b) {
  const FitAttr& a = b.attr<FitAttr>();
  if (!broadcasts_to(a.shape, b.dy().shape()))
    fail_argument(LIBDL_ERROR_AUTOGRAD, "backward", "gradient",
                  "has shape " + to_string(b.dy().shape()) + ", that of the data it was given",
                  to_string(a.shape) + ", that of the tensor's history");
  b.set_grad(0, cast(sum_to(b.dy(), a.shape), a.dtype));
}
const Rule kFitRule{"set_data", fit_vjp};

void fit_history(const Tensor& x, Dims shape, Dtype dtype) {
  Meta* const meta = x.meta();
  // A view made under no_grad has none, and is not asked for that of its base.
  if (!meta || (meta->follows_base() && meta->origin == ViewOrigin::kNoGrad)) return;
  Edge edge = history_of(x);
  const Ref<Node> old = Ref<Node>::take(edge.node);
  if (!old || old->accumulator) return;
  // Hooks and retained gradients stay with what made x: see maker_of.
  const auto exchange = [&](Node* node, int32_t slot) {
    const StripeLock lock(meta);
    meta->slot = slot;
    return Ref<Node>::take(__atomic_exchange_n(&meta->node, node, __ATOMIC_RELAXED));
  };
  if (old->rule == &kFitRule) {
    const FitAttr& a = *static_cast<FitAttr*>(old->attr());
    const Edge& before = old->edges()[0];
    if (!same(a.shape, shape) || a.dtype != dtype) return;
    before.node->retain();
    exchange(before.node, before.slot);
    return;
  }
  if (same(x.shape(), shape) && x.dtype() == dtype) return;
  Ref<Node> node =
      Ref<Node>::take(make_node(kFitRule, 1, 1, 0, FitAttr{Shape(x.shape()), x.dtype()}));
  old->retain();
  node->edges()[0] = edge;
  exchange(node.release(), 0);
}

Edge maker_of(const Tensor& x) {
  const Edge edge = history_of(x);
  if (!edge.node || edge.node->rule != &kFitRule) return edge;
  const Ref<Node> fit = Ref<Node>::take(edge.node);
  const Edge& maker = fit->edges()[0];
  maker.node->retain();
  return {maker.node, maker.slot, static_cast<FitAttr*>(fit->attr())->dtype};
}

}  // namespace libdl
