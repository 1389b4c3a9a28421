// SPDX-License-Identifier: Apache-2.0

// Values that nodes save: written in the forward pass, read by the rules of a backward pass.
#pragma once

#include "tape/node.h"

namespace libdl {

// The state's innermost hooks pack every value that is saved.
void push_saved_hooks(Ref<SavedHooks> hooks);
bool pop_saved_hooks();  // false if none are pushed
bool saves_through_hooks();
class SavedHooksPause {  // switches them off while a hook itself runs
 public:
  SavedHooksPause();
  ~SavedHooksPause();
  SavedHooksPause(const SavedHooksPause&) = delete;
  SavedHooksPause& operator=(const SavedHooksPause&) = delete;

 private:
  Ref<State> state_;  // the hook may switch to another state and release this one
};
void release_saved_hooks(State& ending);

// Fills saved value i: the value's bytes, geometry and version. An undefined value saves nothing.
void save(Node& node, int i, const Tensor& value, int32_t source);

// The tensor that carries saved value i's tangents, of the value's shape and dtype; undefined if
// nothing was saved.
Tensor saved_carrier(Node& node, int i);

// Held while a pass reads a node's saved values. Several passes may do so on several threads: the
// last one to finish frees the values if any of the passes asked for it. A later pass finds them
// gone, and gets a clear error if its rule asks for one.
class SavedReader {
 public:
  SavedReader(Node& node, bool releases);
  ~SavedReader();
  SavedReader(const SavedReader&) = delete;
  SavedReader& operator=(const SavedReader&) = delete;
  bool available() const { return available_; }
  void done() { done_ = true; }  // without it (the rule threw) they stay, for another attempt

 private:
  Node& node_;
  bool releases_, available_ = true, done_ = false;
};

// What a rule sees during backward.
class Backward {
 public:
  Backward(Node& node, std::span<Tensor> dy, std::span<Tensor> dx, std::span<const bool> needed,
           const SavedReader& saved, bool create_graph, int64_t batch = 0)
      : node_(node),
        dy_(dy),
        dx_(dx),
        needs_(needed),
        saved_(saved),
        create_graph_(create_graph),
        batch_(batch) {}

  // The gradient of output k; undefined if none arrived.
  const Tensor& dy(int k = 0) const { return dy_[k]; }
  // dy(k), for its last use: may be overwritten if the result is a sole_owner().
  Tensor take_dy(int k = 0) const {
    return node_.extra ? dy_[k] : std::exchange(dy_[k], Tensor());  // hooks still need dy
  }
  // Whether input i wants a gradient.
  bool needs(int i) const { return needs_[i]; }
  // Saved value i, with its history under create_graph. Throws VERSION if it has been overwritten
  // since.
  Tensor saved(int i) const {
    Tensor buffer;
    const Tensor& value = saved(i, buffer);
    if (buffer.defined()) return buffer;
    return value;
  }
  // The same without taking a reference: valid while the rule runs and `buffer` exists.
  const Tensor& saved(int i, Tensor& buffer) const { return saved(i, buffer, create_graph_); }
  // The same with its history, or without, whatever the pass does.
  const Tensor& saved(int i, Tensor& buffer, bool history) const;
  void set_grad(int i, Tensor gradient) { dx_[i] = std::move(gradient); }
  template <class Attr>
  Attr& attr() const {
    return *static_cast<Attr*>(node_.attr());
  }
  bool create_graph() const { return create_graph_; }
  // How many gradients of the same outputs a pass carries through the graph at once; 0: one,
  // without a dimension for it. Otherwise each dy has, and each dx must have, this dimension in
  // front. Saved values do not have it.
  int64_t batch() const { return batch_; }
  int lead() const { return batch_ ? 1 : 0; }  // where the sample's dimension 0 is in dy and dx
  Shape batched(Dims shape) const {
    Shape whole(shape);
    if (batch_) whole.insert(0, batch_);
    return whole;
  }
  // Whether what the rule computes is itself differentiated, backward or forward: the rule must
  // then use operators only.
  bool differentiated() const { return create_graph_ || (state().mode & kModeForward); }
  Node& node() const { return node_; }
  int inputs() const { return static_cast<int>(dx_.size()); }

 private:
  Node& node_;
  std::span<Tensor> dy_, dx_;
  std::span<const bool> needs_;
  const SavedReader& saved_;
  bool create_graph_;
  int64_t batch_;
};

}  // namespace libdl
