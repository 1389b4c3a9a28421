// SPDX-License-Identifier: Apache-2.0

// What the C functions attach to a state: scopes and related objects.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

// Adds all results of a generic call to the scope, or none: if this throws they are released. (For
// a single tensor: adopt() in capi/door.h.)
void adopt_results(std::span<libdl_value> results);
// Hands out what is not an operator's result: it belongs to an owning scope like one, and a plain
// scope leaves it alone. An undefined tensor is NULL.
libdl_tensor* hand_out(Tensor tensor);
libdl_tensor_list* hand_out(std::vector<Tensor> tensors);
void adopt_if_owner(State& state, libdl_tensor* handle);

// What the host does with references while a scope is open. A release takes the handle out of the
// owning scope that has it, unless it is the release of a reference that was added inside.
void reference_added(const State& state, const libdl_tensor* handle);
void reference_released(const State& state, const libdl_tensor* handle);
void list_released(const State& state, const libdl_tensor_list* list);

// A further reference for the caller, beside those that exist.
inline libdl_tensor* hand_further(Tensor tensor) {
  if (tensor.defined() && within_scope()) [[unlikely]]
    reference_added(*current_state, tensor.get());
  return tensor.release();
}

// Held while a host callback runs. The callback knows nothing of its caller's scope: what it makes
// and returns is its own. Scopes that it leaves open end here, and its caller's state is current
// again. Interceptors see its calls as the host's own, or as a hook's if it is one.
class ScopePause {
 public:
  explicit ScopePause(bool hook = false);
  ScopePause(const ScopePause&) = delete;
  ScopePause& operator=(const ScopePause&) = delete;

  // Before anything is done with what the callback returned: a scope that it left open, and that
  // is about to end, may hold these too.
  void returned(std::span<libdl_tensor* const> handles) const;
  void returned(std::span<const libdl_value> values) const;

 private:
  Ref<State> state_;  // the callback may switch to another one
  OutsideScope outside_;
  std::optional<FrameScope> frame_;  // if there are interceptors
};

// Makes the state free its attachments when it ends.
void attach_to(State& state);

// The argument `state`, NULL being the thread's, to which something will be attached. Throws
// Error(KIND) and std::bad_alloc.
State& state_or_current(const char* function, State* handle);
void release_scopes(State& state);
void release_generator(State& state);

}  // namespace libdl::capi
