// SPDX-License-Identifier: Apache-2.0

// One operator call: what is checked, whether it is recorded, and where its result goes.
//
// An operator with a rule of its own reads:
//
//   Tensor softmax(const Tensor& x, int32_t dim, Dtype dtype, Into into) {
//     Call call("softmax", into, {&x});              // recording is off until `call` ends
//     const int axis = call.axis("dim", dim, x.ndim());
//     Tensor y = empty(...); launch…;
//     return call.done(y, kSoftmaxRule, Attr{axis}, {saves_output(y, 0)});
//   }
//
// An operator composed of others needs no Call; they record themselves.
#pragma once

#include <initializer_list>
#include <optional>

#include "ops/core/record.h"
#include "ops/core/tangent.h"
#include "ops/primitive/into.h"
#include "ops/primitive/observe.h"
#include "tape/meta.h"
#include "tape/saved.h"
#include "tensor/forms.h"

namespace libdl {

// dim in [-ndim, ndim) as [0, ndim); a 0-d tensor counts as one dimension.
int checked_axis(const char* op, const char* name, int64_t dim, int ndim);

struct Save {
  const Tensor* value;
  int32_t source;
};
inline Save saves_input(const Tensor& x, int i) { return {&x, i}; }
inline Save saves_output(const Tensor& y, int k) { return {&y, saved_output(k)}; }
inline Save saves_value(const Tensor& t) { return {&t, kSavedConstant}; }

struct NoAttr {};

// The history that x gets when it is written in place: its new value is output `slot` of `node`,
// and a view's base becomes base' = scatter(base, geometry, new). The constructor does everything
// that may fail, before the write; commit() cannot fail.
class Rebase {
 public:
  Rebase() = default;
  Rebase(const Tensor& x, Ref<Node> node, int32_t slot);
  void commit() noexcept;  // does nothing if empty

 private:
  struct Parts {
    Tensor x, base;
    Ref<Node> node, write, view;
    int32_t slot = 0;
    Parts(const Tensor& x, Ref<Node> node, int32_t slot);
    Parts(Parts&&) = default;
    Parts& operator=(Parts&&) = default;
    ~Parts();
  };
  std::optional<Parts> parts_;
};

// Records the result of an operator composed of others under the composite's name, so that graphs
// and errors show the call that was made. Create it before calling the parts.
class Named {
 public:
  explicit Named(const char* op) : op_(op), before_(last_sequence()) {}
  Tensor operator()(Tensor y) const;

 private:
  const char* op_;
  uint64_t before_;
};

class Call {
 public:
  // inputs: the tensors that a gradient may flow to, in the rule's order; NULL where absent.
  Call(const char* op, Into into, std::initializer_list<const Tensor*> inputs);
  Call(const char* op, Into into, std::span<const Tensor* const> inputs);
  Call(const char* op, Into into, TensorSpan inputs);
  ~Call() { state_.mode = mode_; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Grad mode is on and an input requires grad.
  bool recording() const { return recording_; }
  // An input carries a tangent in an open level.
  bool forward() const { return forward_ && !forward_->inputs.empty(); }
  // Only the bytes change.
  bool is_unrecorded() const { return !recording_ && !forward_; }

  // -- checks: the value, or an error that names the argument --
  int axis(const char* name, int64_t dim, int ndim) const {
    return checked_axis(op_, name, dim, ndim);
  }
  // Distinct axes, marked in a mask of ndim flags; absent or empty means all, if requested.
  SmallVector<bool, 8> axes(const char* name, std::optional<Dims> dims, int ndim,
                            bool empty_means_all = true) const;
  LIBDL_NORETURN [[gnu::cold]] void bad(libdl_error_code code, const char* name,
                                        const std::string& found,
                                        const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, op_, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }

  // -- ending: records, writes into dst where one was given, and returns the result --
  template <class Attr>
  Tensor done(Tensor y, const Rule& rule, Attr attr, std::initializer_list<Save> saves = {}) {
    Tensor outputs[1] = {std::move(y)};
    done(std::span<Tensor>(outputs), rule, std::move(attr), saves);
    return std::move(outputs[0]);
  }
  // The same with the forward-mode rule. The rule reads operands, one of which may be dst, so it
  // runs before the write: jvp(y) is called as `jvp` calls its function.
  template <class Attr, class F>
  Tensor done(Tensor y, const Rule& rule, Attr attr, std::initializer_list<Save> saves, F&& jvp) {
    if (!forward_) return done(std::move(y), rule, std::move(attr), saves);
    if (recording_)
      connect(make_node(rule, static_cast<int>(inputs_.size()), 1, static_cast<int>(saves.size()),
                        std::move(attr)),
              std::span(&y, 1), std::span(saves.begin(), saves.size()));
    ready_jvp(y, [&] { return jvp(y); });
    ready(y);
    return finish(std::move(y));
  }
  // Several outputs; those that are not floating or complex have no history. No into form.
  template <class Attr>
  void done(std::span<Tensor> outputs, const Rule& rule, Attr attr,
            std::initializer_list<Save> saves = {}) {
    done(outputs, rule, std::move(attr), std::span(saves.begin(), saves.size()));
  }
  template <class Attr>
  void done(std::span<Tensor> outputs, const Rule& rule, Attr attr, std::span<const Save> saves) {
    if (recording_) {
      Node* const node =
          make_node(rule, static_cast<int>(inputs_.size()), static_cast<int>(outputs.size()),
                    static_cast<int>(saves.size()), std::move(attr));
      connect(node, outputs, saves);
    }
    if (into_) outputs[0] = write_into(outputs[0]);
    for (const Tensor& y : outputs) born(y);
  }
  // For writes straight into dst: `ready` (whose y is an alias of dst or a new tensor) does all
  // that may fail, before the write; `finish` follows the write and cannot fail.
  template <class Attr>
  void ready(Tensor& y, const Rule& rule, Attr attr, std::span<const Save> saves) {
    if (recording_)
      connect(make_node(rule, static_cast<int>(inputs_.size()), 1, static_cast<int>(saves.size()),
                        std::move(attr)),
              std::span(&y, 1), saves);
    ready(y);
  }
  template <class Attr>
  void ready(Tensor& y, const Rule& rule, Attr attr, std::initializer_list<Save> saves = {}) {
    ready(y, rule, std::move(attr), std::span(saves.begin(), saves.size()));
  }
  void ready(const Tensor& y);
  // As jvp, for the result y before it is written into dst.
  template <class F>
  void ready_jvp(const Tensor& y, F&& f) {
    each_level([&](DualLevel& level) { give_tangent(y, level, f()); });
  }
  Tensor finish(Tensor y);
  // A result that is never differentiable (comparisons, argmax, …).
  Tensor done(Tensor y) {
    born(y);
    return into_ ? write_into(y) : std::move(y);
  }

  // The tangent of input i as it was when the call began, or undefined; inside a rule for jvp.
  const Tensor& tangent(int i) const { return forward_->now->tangents[i]; }
  // Runs `f` with the caller's recording mode, once for each level in which an input has a tangent,
  // with that level closed, and makes the result y's tangent there.
  template <class F>
  void jvp(const Tensor& y, F&& f) {
    ready_jvp(y, f);
    save_tangents(y, forward_->inputs);
  }

  const char* op() const { return op_; }
  // The device of the call: its first input's.
  Device device() const;
  bool in_place() const { return in_place_; }

  // Checks dst of an into form against the operands: writable, no partial overlap, autograd's
  // rules. Sets in_place().
  void check_destination(std::span<const Tensor* const> operands);
  // Whether dst can take a result of this shape and dtype.
  void check_result(Dims shape, Dtype dtype, Device device) const;
  // As check_result, for a result of indices, which are int64.
  void check_index_result(Dims shape, Device device) const;
  // dst takes y's bytes (unless y is an alias of dst that holds them already) and y's history.
  Tensor write_into(const Tensor& y);

 private:
  void begin();
  Ref<Node> cut() const;
  bool is_overwritten(const Save& s) const;
  void connect(Node* node, std::span<Tensor> outputs, std::span<const Save> saves);
  void find_tangents();
  void ready_tangents(const Tensor& y);
  template <class F>
  void each_level(F&& f) {
    for (const DualInputs& inputs : forward_->inputs) {
      forward_->now = &inputs;
      const LevelsFrom outside(inputs.level->outer, mode_);
      f(*inputs.level);
    }
  }

  struct Forward {
    std::vector<DualInputs> inputs;
    const DualInputs* now = nullptr;  // those that a rule for jvp is running for
    Retangent retangent;              // between ready and finish
    Forward() = default;
    ~Forward();  // out of line: every call has a pointer to one, but few have one
  };

  const char* op_;
  Into into_;
  State& state_;
  uint32_t mode_;  // as the caller had it
  bool recording_ = false, in_place_ = false;
  Rebase rebase_;                     // between ready and finish
  std::unique_ptr<Forward> forward_;  // while a level is open
  SmallVector<const Tensor*, 4> inputs_;
};

// Renews the history of a view that was given other elements of its base's memory: from then on it
// is a view of these elements.
void renew_view(const Tensor& x);

// Throws OVERLAP if dst partly overlaps an operand.
void refuse_overlap(const char* op, Into into, std::span<const Tensor* const> operands);

// Throws AUTOGRAD if an in-place write to x, the argument `name`, must not be recorded.
void check_recordable_write(const Tensor& x, const char* op, const char* name = "dst");

}  // namespace libdl
