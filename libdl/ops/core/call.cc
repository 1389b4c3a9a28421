// SPDX-License-Identifier: Apache-2.0

#include "ops/core/call.h"

#include "base/lock.h"
#include "device/device.h"
#include "ops/primitive/bytes.h"
#include "tape/output_meta.h"

namespace libdl {

Tensor Named::operator()(Tensor y) const {
  Node* const node = y.meta() ? y.meta()->node : nullptr;
  // Of a node that is older, or a leaf's, this is not the call.
  if (node && !node->accumulator && node->sequence > before_)
    node->rule = &renamed(*node->rule, op_);
  return y;
}

// -- beginning ------------------------------------------------------------------------------

Call::Call(const char* op, Into into, std::initializer_list<const Tensor*> inputs)
    : op_(op), into_(into), state_(state()), mode_(state_.mode) {
  inputs_.assign(std::span(inputs.begin(), inputs.size()));
  begin();
}

Call::Call(const char* op, Into into, std::span<const Tensor* const> inputs)
    : op_(op), into_(into), state_(state()), mode_(state_.mode) {
  inputs_.assign(inputs);
  begin();
}

Call::Call(const char* op, Into into, TensorSpan inputs)
    : op_(op), into_(into), state_(state()), mode_(state_.mode) {
  for (const Tensor& x : inputs) inputs_.push_back(&x);
  begin();
}

void Call::begin() {
  check_no_lock_is_held(op_);
  for (const Tensor* x : inputs_) {
    if (!x || !x->defined() || !x->meta()) continue;
    recording_ |= (mode_ & kModeGrad) && has_history(*x);
  }
  if (mode_ & kModeForward) [[unlikely]]
    find_tangents();
  if (into_) check_destination({inputs_.data(), inputs_.size()});
  state_.mode = mode_ & ~static_cast<uint32_t>(kModeGrad | kModeForward);
}

Call::Forward::~Forward() = default;

void Call::find_tangents() {
  forward_ = std::make_unique<Forward>();
  forward_->inputs = dual_inputs({inputs_.data(), inputs_.size()});
}

// -- checks ---------------------------------------------------------------------------------

int checked_axis(const char* op, const char* name, int64_t dim, int ndim) {
  const int64_t n = std::max(ndim, 1);
  if (dim < -n || dim >= n)
    fail_argument(LIBDL_ERROR_INDEX, op, name, "is " + std::to_string(dim),
                  std::to_string(-n) + " to " + std::to_string(n - 1));
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

SmallVector<bool, 8> Call::axes(const char* name, std::optional<Dims> dims, int ndim,
                                bool empty_means_all) const {
  const bool all = !dims || (dims->empty() && empty_means_all);
  SmallVector<bool, 8> mask(static_cast<size_t>(std::max(ndim, 1)), all);
  if (all) return mask;
  for (const int64_t dim : *dims) {
    const int at = axis(name, dim, ndim);
    if (mask[at])
      bad(LIBDL_ERROR_VALUE, name,
          "is " + to_string(*dims) + " and names dimension " + std::to_string(at) + " twice",
          "distinct dimensions");
    mask[at] = true;
  }
  return mask;
}

// -- ending ---------------------------------------------------------------------------------

// In place, a rule that reads an operand reads it as it was.
bool Call::is_overwritten(const Save& s) const {
  const bool operand = s.source >= 0 || s.source == kSavedConstant;
  return in_place_ && operand && s.value->defined() && !s.value->is_number() &&
         overlap(into_.tensor(), *s.value) == Overlap::kFull;
}

// What a rule saves of an operand that the call overwrites.
static Tensor copy_before_write(const Tensor& x) {
  LIBDL_OBSERVED_AS((observe_detail::Name{"clone"}), copy_before_write(x), x);
  return duplicate(x, x.dtype());
}

void Call::connect(Node* node, std::span<Tensor> outputs, std::span<const Save> saves) {
  Ref<Node> owned = Ref<Node>::take(node);  // freed if a step below throws
  connect_inputs(*node, {inputs_.data(), inputs_.size()});
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& y = outputs[k];
    if (!y.defined() || !is_inexact(y.dtype())) continue;
    set_maker(y, Ref<Node>::share(node), static_cast<int32_t>(k));
  }
  int number = 0;
  for (const Save& s : saves)
    save(*node, number++, is_overwritten(s) ? copy_before_write(*s.value) : *s.value, s.source);
  if (outputs.empty()) owned.release();
}

// -- into -----------------------------------------------------------------------------------

static bool same_history(const Tensor& a, const Tensor& b) {
  const Node *const na = node_seen(a), *const nb = node_seen(b);
  return na == nb && (!na || a.meta()->slot == b.meta()->slot);
}

static void check_writable(const Tensor& dst, const char* op, const char* name) {
  const auto bad = [&](libdl_error_code code, const char* found,
                       const char* wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(code, op, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (dst.is_number()) bad(LIBDL_ERROR_VALUE, "is a host number", "a tensor");
  if (dst.storage().read_only) bad(LIBDL_ERROR_READ_ONLY, "is read-only", "memory to write to");
  if (overlaps_itself(dst))
    bad(LIBDL_ERROR_OVERLAP, "has elements that share an address", "clone() of it");
}

void check_recordable_write(const Tensor& x, const char* op, const char* name) {
  const auto bad = [&](const char* found, const char* hint LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, name, found, hint LIBDL_SAME_SOURCE_LOCATION);
  };
  if (x.get()->flags & kInferenceTensor)
    bad("was made in inference mode", "a clone of it, to be written while recording");
  const Meta* const meta = x.meta();
  if (!meta) return;
  if (meta->view != ViewKind::kNone) {
    if (meta->origin == ViewOrigin::kNoGrad)
      bad("is a view made while nothing was recorded", "a view made with recording on");
    if (meta->origin == ViewOrigin::kMultiOutput)
      bad("is one of several views from one call (split, chunk, unbind)", "a clone of it");
    if (meta->view == ViewKind::kBytes) bad("is a view of another dtype", "a clone of it");
    Ref<Node>::take(history_of(x).node);  // one whose base was written to is no leaf any more
    // A view may be a leaf of its own, or a view of one.
    if (is_leaf(meta->base) && shares_history(x))
      bad("is a view of a leaf that requires grad", "no_grad(), or a view of a clone");
    if (has_moved(meta->base) && !holds(meta->base, x))
      bad("is a view of a tensor that was given other data since, which does not see the write",
          "a clone of it");
    if (meta->moved) renew_view(x);
  }
  if (meta->node && meta->node->accumulator)
    bad("is a leaf that requires grad, used in an in-place operation",
        "no_grad(), or a clone of it");
}

LIBDL_NORETURN [[gnu::cold]] static void overlaps_in_part(const char* op,
                                                          Into into LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_OVERLAP, op, into.name, "shares some of its memory with an operand",
                "the operand itself, or separate memory" LIBDL_SAME_SOURCE_LOCATION);
}

void refuse_overlap(const char* op, Into into, std::span<const Tensor* const> operands) {
  if (!into) return;
  for (const Tensor* x : operands)
    if (!x->is_number() && overlap(into.tensor(), *x) == Overlap::kPartial)
      overlaps_in_part(op, into);
}

void Call::check_destination(std::span<const Tensor* const> operands) {
  const Tensor& dst = into_.tensor();
  check_writable(dst, op_, into_.name);
  bool records = shares_history(dst);
  for (const Tensor* x : operands) {
    if (!x || !x->defined() || x->is_number()) continue;
    records |= has_history(*x);
    if (x->is(dst)) {
      in_place_ = true;
      continue;
    }
    switch (overlap(dst, *x)) {
      case Overlap::kFull: in_place_ |= same_history(dst, *x); break;
      case Overlap::kPartial: overlaps_in_part(op_, into_);
      case Overlap::kNone: break;
    }
  }
  if (!(mode_ & kModeGrad)) return;
  if (!in_place_ && records)
    fail_argument(LIBDL_ERROR_AUTOGRAD, op_, into_.name,
                  "was given while dst or an operand requires grad",
                  "no_grad(), or the form that returns a new tensor");
  if (in_place_ && (recording_ || records)) {
    check_recordable_write(dst, op_, into_.name);
    recording_ = true;
  }
}

Device Call::device() const {
  for (const Tensor* x : inputs_)
    if (x && x->defined()) return x->device();
  return {};
}

void Call::check_result(Dims shape, Dtype dtype, Device device) const {
  const Tensor& dst = into_.tensor();
  if (!same(shape, dst.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, op_, into_.name, "has shape " + to_string(dst.shape()),
                  to_string(shape));
  if (!can_cast(dtype, dst.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op_, into_.name, std::string("is ") + name_of(dst.dtype()),
                  std::string("a dtype that holds ") + name_of(dtype));
  if (!(device == dst.device()))
    fail_argument(LIBDL_ERROR_DEVICE, op_, into_.name, "is on " + device_name(dst.device()),
                  device_name(device) + ", as the result is");
}

void Call::check_index_result(Dims shape, Device device) const {
  if (const Dtype dtype = into_.tensor().dtype(); !is_integral(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op_, into_.name, std::string("is ") + name_of(dtype),
                  "an integer dtype: it gets places");
  check_result(shape, Dtype::kInt64, device);
}

namespace {
// A result that depends on nothing differentiably, written over an operand: its history ends there.
struct CutAttr {
  Rule rule;  // of the node that holds this
  std::vector<OutputMeta> operands;
};
void cut_vjp(Backward& b) {
  const auto& operands = b.attr<CutAttr>().operands;
  for (int i = 0; i < b.inputs(); ++i)
    if (const OutputMeta& x = operands[i]; b.needs(i))
      b.set_grad(i, zeros(x.shape, x.dtype, x.device));
}
}  // namespace

Ref<Node> Call::cut() const {
  const int n = static_cast<int>(inputs_.size());
  Ref<Node> node = Ref<Node>::take(
      make_node({op_, cut_vjp}, n, 1, 0, CutAttr{{op_, cut_vjp}, std::vector<OutputMeta>(n)}));
  auto& attr = *static_cast<CutAttr*>(node->attr());
  node->rule = &attr.rule;
  SmallVector<const Tensor*, 4> ended;
  for (int i = 0; i < n; ++i) {
    const Tensor* const x = inputs_[i];
    const bool has_one = x && x->defined() && x->meta() && is_inexact(x->dtype());
    if (has_one) attr.operands[i] = meta_for(*x);
    ended.push_back(has_one ? x : nullptr);
  }
  connect_inputs(*node, {ended.data(), ended.size()});
  return node;
}

void Call::ready(const Tensor& y) {
  if (into_) {
    const Tensor& dst = into_.tensor();
    check_result(y.shape(), y.dtype(), y.device());
    if (const Meta* const meta = y.meta(); meta && meta->node)
      rebase_ = Rebase(dst, Ref<Node>::share(meta->node), meta->slot);
    else if (recording_ && in_place_ && is_inexact(dst.dtype()))
      rebase_ = Rebase(dst, cut(), 0);
  }
  if (forward_) [[unlikely]]
    ready_tangents(y);
}

void Call::ready_tangents(const Tensor& y) {
  const LevelsFrom as_before(state_.dual_level, mode_);
  save_tangents(y, forward_->inputs);
  if (into_) forward_->retangent = Retangent(into_.tensor(), y);
}

Tensor Call::finish(Tensor y) {
  if (!into_) {
    born(y);
    return y;
  }
  const Tensor& dst = into_.tensor();
  if (overlap(dst, y) != Overlap::kFull || dst.dtype() != y.dtype()) copy_bytes(dst, y);
  written(dst, op_);
  rebase_.commit();
  if (forward_) [[unlikely]]
    forward_->retangent.commit();
  return dst;
}

Tensor Call::write_into(const Tensor& y) {
  ready(y);
  return finish(y);
}

}  // namespace libdl
